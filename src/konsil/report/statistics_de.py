"""The statistics in German: name -> title and one plain sentence."""

from __future__ import annotations

from konsil.report.cases_de import CASE_STATISTICS
from konsil.report.designs_de import DESIGN_STATISTICS
from konsil.report.pairs_de import PAIR_STATISTICS

_ENSEMBLES = (
    "Übereinstimmung des Mehrheitsvotums jeder ungeraden Zahl von Richtermodellen mit der Mehrheit des Panels; das"
    " beste von vielen ist auf den Daten gewählt, und der Out-of-bag-Wert sagt, was auf anderen Items davon bleibt."
)
_PREFERENCE = (
    "Um wie viel höher ein Richtermodell {} bewertet als Richtermodelle anderer Familien, neben demselben für"
    " Antworten anderer Familien und innerhalb gleicher Urteile der Fachleute, je Richtermodell zum Vergleich: ein bloß"
    " mildes Richtermodell hat 0."
)

STATISTICS: dict[str, tuple[str, str]] = {
    "percent_agreement": (
        "Prozentuale Übereinstimmung",
        "Wie oft zwei Bewertende derselben Einheit dasselbe Label gaben, gemittelt über die Paare von Bewertenden;"
        " schon durch Zufall hoch, wo ein Label viel häufiger ist als die anderen.",
    ),
    "within_one": (
        "Übereinstimmung bis auf eine Stufe",
        "Wie oft zwei Bewertende um höchstens eine Stufe der Skala auseinanderliegen; neben dem Zufallsniveau zu lesen,"
        " das auf kurzen Skalen hoch ist.",
    ),
    "cohen_kappa": (
        "Cohens Kappa",
        "Übereinstimmung zweier Bewertender über das hinaus, was ihre eigenen Labelhäufigkeiten durch Zufall ergäben,"
        " gemittelt über die Paare von Bewertenden; 1 ist volle Übereinstimmung, 0 ist Zufall.",
    ),
    "cohen_kappa_linear": (
        "Cohens Kappa, linear gewichtet",
        "Cohens Kappa, in dem Abweichungen nach ihrem Abstand auf der Skala zählen.",
    ),
    "cohen_kappa_quadratic": (
        "Cohens Kappa, quadratisch gewichtet",
        "Cohens Kappa, in dem Abweichungen nach dem Quadrat ihres Abstands zählen: große überwiegen.",
    ),
    "pabak": (
        "PABAK",
        "Prozentuale Übereinstimmung, so umgerechnet, dass Raten unter allen vorgesehenen Labels 0 ergibt; ein seltenes"
        " Label senkt sie nicht.",
    ),
    "light_kappa": ("Lights Kappa", "Das Mittel von Cohens Kappa über alle Paare von Bewertenden."),
    "scott_pi": (
        "Scotts Pi",
        "Wie Cohens Kappa, doch der Zufall folgt aus den gemeinsamen Labelhäufigkeiten beider; gemittelt über die Paare"
        " von Bewertenden.",
    ),
    "fleiss_kappa": (
        "Fleiss' Kappa",
        "Übereinstimmung aller Bewertenden zugleich über den Zufall hinaus, der aus den Labelhäufigkeiten aller"
        " zusammen folgt.",
    ),
    "conger_kappa": (
        "Congers Kappa",
        "Übereinstimmung aller Bewertenden zugleich über den Zufall hinaus, der aus den Labelhäufigkeiten jedes"
        " Einzelnen folgt.",
    ),
    "randolph_kappa": (
        "Randolphs Kappa mit freien Rändern",
        "Übereinstimmung aller Bewertenden zugleich über Raten unter den vorgesehenen Labels hinaus, ob sie vorkamen"
        " oder nicht.",
    ),
    "krippendorff_alpha": (
        "Krippendorffs Alpha",
        "Eins minus beobachtete durch erwartete Abweichung beliebig vieler Bewertender, für das Messniveau der Skala;"
        " Labels dürfen fehlen.",
    ),
    "gwet_ac1": (
        "Gwets AC1",
        "Übereinstimmung aller Bewertenden zugleich über einen Zufall hinaus, der klein ist, wo ein Label viel häufiger"
        " ist als die anderen; bei seltenen Labels stabiler als Kappa.",
    ),
    "gwet_ac2_linear": (
        "Gwets AC2, linear gewichtet",
        "Gwets AC1, in dem Abweichungen nach ihrem Abstand auf der Skala zählen.",
    ),
    "gwet_ac2": (
        "Gwets AC2",
        "Gwets AC1 mit Gewichten für teilweise Übereinstimmung; quadratisch, wenn nichts anderes genannt ist.",
    ),
    "icc1": (
        "ICC(1,1)",
        "Wie ähnlich einzelne Werte einer Einheit sind, die Bewertenden von Einheit zu Einheit andere.",
    ),
    "icc2": (
        "ICC(2,1)",
        "Wie ähnlich einzelne Werte zufällig gezogener Bewertender sind, ihre Strenge eingeschlossen.",
    ),
    "icc3": ("ICC(3,1)", "Wie gleichförmig einzelne Werte genau dieser Bewertenden sind, ihre Strenge beiseite."),
    "icc1k": ("ICC(1,k)", "Zuverlässigkeit des Mittels von k Werten, die Bewertenden von Einheit zu Einheit andere."),
    "icc2k": (
        "ICC(2,k)",
        "Zuverlässigkeit des Mittels von k zufällig gezogenen Bewertenden, ihre Strenge eingeschlossen.",
    ),
    "icc3k": ("ICC(3,k)", "Zuverlässigkeit des Mittels genau dieser Bewertenden, ihre Strenge beiseite."),
    "kendall_w": (
        "Kendalls W",
        "Wie ähnlich alle Bewertenden die Einheiten ordnen, um Bindungen korrigiert: 1 ist eine Ordnung, 0 keine"
        " gemeinsame.",
    ),
    "spearman": (
        "Spearmans Rho",
        "Wie ähnlich zwei Bewertende die Einheiten ordnen, als Korrelation der Ränge; gemittelt über die Paare von"
        " Bewertenden.",
    ),
    "kendall_tau_b": (
        "Kendalls Tau-b",
        "Um wie viel öfter zwei Bewertende zwei Einheiten gleich ordnen als umgekehrt, Bindungen beiseite; gemittelt"
        " über die Paare von Bewertenden.",
    ),
    "share": ("Anteil", "Ein wie großer Teil der Labels die gezählten sind, zwischen 0 und 1."),
    "mean": ("Mittelwert", "Das Mittel der Zahlenwerte der Labels."),
    "abstention": (
        "Anteil der Enthaltungen",
        "Der Anteil der Bewertungen, in denen es hieß, das lasse sich nicht sagen, zwischen 0 und 1.",
    ),
    "abstention_slope": (
        "Steigung der Enthaltungen",
        "Um wie viel die Rate der Enthaltungen mit einer Stufe der Schwierigkeit steigt; der Abstand vergleicht sie mit"
        " der eines Panels.",
    ),
    "ensembles_percent_agreement": ("Ensembles: prozentuale Übereinstimmung", _ENSEMBLES),
    "ensembles_cohen_kappa": ("Ensembles: Cohens Kappa", _ENSEMBLES),
    "ensembles_pabak": ("Ensembles: PABAK", _ENSEMBLES),
    "self_preference": ("Selbstbevorzugung", _PREFERENCE.format("die eigenen Antworten")),
    "family_preference": ("Familienbevorzugung", _PREFERENCE.format("die Antworten der Geschwister")),
    "risk_coverage": (
        "Risiko gegen Abdeckung",
        "Die Fläche unter der Kurve der Abweichung von der Mehrheit des Panels, vom sichersten Label des Richtermodells"
        " an; je weiter sie unter der Abweichung in beliebiger Reihenfolge liegt, desto besser sagt die Sicherheit, wo"
        " das Richtermodell irrt.",
    ),
    "blinding_james": (
        "Verblindungsindex nach James",
        "Ob erkennbar war, von wem die Antworten stammen: 1, wenn niemand es sagen kann, 0,5, wenn nur zufällig richtig"
        " geraten wird, 0, wenn es alle wissen.",
    ),
    "blinding_bang": (
        "Verblindungsindex nach Bang",
        "Richtige minus falsche Vermutungen unter allen, die es sahen, „nicht erkennbar“ eingeschlossen: 0 ist Zufall,"
        " bei 1 wissen es alle; unter 0 wird es für ein anderes gehalten.",
    ),
    "injection_shift": (
        "Verschiebung durch eingeschleuste Anweisungen",
        "Der Anteil der Antworten, denen ein Judge das verlangte Label gibt, wenn eine Anweisung in der Antwort es"
        " verlangt, minus den Anteil bei denselben Antworten ohne die Anweisung: 0, wenn Anweisungen den Judge nicht"
        " bewegen.",
    ),
    "self_agreement": (
        "Übereinstimmung mit sich selbst",
        "Der Anteil der wiederholten Bewertungen, in denen dasselbe Label gegeben wurde wie beim ersten Mal.",
    ),
    "multirater_percent_agreement": (
        "Prozentuale Übereinstimmung, Einheiten gleich",
        "Der Anteil übereinstimmender Labelpaare innerhalb einer Einheit, gemittelt über die Einheiten statt über die"
        " Paare von Bewertenden; beides unterscheidet sich nur, wo Labels fehlen.",
    ),
    "unanimity": (
        "Einstimmige Einheiten",
        "Der Anteil der Einheiten, denen alle Bewertenden dasselbe Label gaben; er sinkt mit jeder weiteren Person.",
    ),
    "brennan_prediger": (
        "Koeffizient von Brennan und Prediger",
        "Randolphs Kappa mit Gewichten für teilweise Übereinstimmung.",
    ),
    "icc1_incomplete": (
        "ICC(1,1), mit fehlenden Labels",
        "ICC(1,1) aus allen Labels, auch von Einheiten, die manche Bewertende ausgelassen haben.",
    ),
    **PAIR_STATISTICS,
    **CASE_STATISTICS,
    **DESIGN_STATISTICS,
}
