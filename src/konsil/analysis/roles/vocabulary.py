"""Words in the names of columns and in cells of tables of ratings, in English and German, as data.

Umlauts are written as in addresses (ae, oe, ue, ss), other letters without accents: names are
compared in this form. Raters have names in more languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

NameRole = Literal[
    "unit",
    "rater",
    "label",
    "criterion",
    "system",
    "group",
    "comment",
    "time",
    "confidence",
    "repeat",
    "sum",
    "weight",
    "gold",
    "row",
]
"""What a column can be named for."""


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def plain(text: str) -> str:
    """A name as it is compared: in small letters, without accents.

    >>> plain("Prüfer"), plain("Évaluateur"), plain("эксперт Й"), plain("평가자")
    ('pruefer', 'evaluateur', 'эксперт и', '평가자')
    """
    written = unicodedata.normalize("NFC", text).casefold().translate(_UMLAUTS)
    letters = unicodedata.normalize("NFD", written)
    return unicodedata.normalize(
        "NFC", "".join(sign for sign in letters if not unicodedata.combining(sign))
    )


ORDINALS: Mapping[str, str] = {
    **dict.fromkeys(("first", "erste", "erster", "erstes"), "1"),
    **dict.fromkeys(("second", "zweite", "zweiter", "zweites"), "2"),
    **dict.fromkeys(("third", "dritte", "dritter", "drittes"), "3"),
}
"""Words that number names."""

RANGE = re.compile(r"(?<!\d)\d+ ?(?:to|bis|-|–) ?\d+(?!\d)")
"""The values of a scale in a name."""

GENDER = re.compile(r"(?<=[a-zäöüß])(?:[*:/](?:in|innen)\b|\((?:in|innen)\))", re.IGNORECASE)
"""The second ending of a German word for people of both sexes: Kodierer*in, Prüfer(in)."""

NEW_WORD = re.compile("(?<=[a-zäöü])(?=[A-ZÄÖÜ])")
"""Between the words of a name such as raterName."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEXTS: Mapping[NameRole, str] = {
    "unit": "unit item id subject case fall fallnr patient question frage answer antwort scan"
    " study studie document dokument doc sample prompt nr no number nummer qid image bild vignette"
    " report segment seg sentence satz task aufgabe record abstract q kasus einheit probe befund"
    " instruction",
    "rater": "rater annotator coder judge reviewer physician arzt aerztin bewerter gutachter"
    " pruefer expert experte reader observer user worker evaluator assessor participant who"
    " beurteiler kodierer token respondent teilnehmer clinician doctor annotatorin prueferin"
    " rev untersucher beobachter auswerter begutachter befunder initialen kuerzel initials examiner"
    " investigator scorer grader labeler labeller panelist panellist referee specialist nurse"
    " surgeon radiologist pathologist radiologe radiologin pathologe pathologin",
    "label": "label rating score code value grade decision verdict urteil bewertung wert punkte"
    " einstufung class klasse entscheidung assessment choice note",
    "criterion": "criterion criteria kriterium kriterien dimension axis aspect aspekt metric"
    " attribute merkmal",
    "system": "system model modell llm bot chatbot assistant ki engine produkt"
    " product anbieter provider generator sys",
    "group": "topic domain category type source arm site language difficulty thema fach gruppe"
    " group quelle typ sprache klinik station age sex geschlecht alter kategorie specialty"
    " status country land role rolle cluster schwierigkeit fachgebiet abteilung ward department"
    " speciality setting treatment condition bedingung",
    "comment": "comment comments kommentar bemerkung bemerkungen notes remark remarks anmerkung"
    " anmerkungen reason begruendung reasoning feedback",
    "time": "date time timestamp created start end duration seconds datum zeit dauer updated"
    " sekunden at tstamp",
    "confidence": "confidence certainty konfidenz gewissheit sicher angabe",
    "repeat": "repeat round visit session pass runde durchgang wiederholung occasion messung turn",
    "sum": "sum total composite mean average avg summe gesamt mittel mittelwert gesamtpunkte sd"
    " gesamtergebnis",
    "weight": "weight weights count n freq frequency gewicht gewichtung anzahl haeufigkeit",
    "gold": "gold reference truth consensus final majority goldstandard referenz konsens"
    " adjudicated adjudiziert mehrheit wahrheit endurteil",
    "row": "row index zeile lfd responseid recordid uuid annotationid ip email zeilennr",
}
_RATERS_ELSEWHERE = _words(
    "dermatologist sonographer codierer leser dermatologe dermatologin"
    " annotateur annotatrice evaluateur evaluatrice codeur codeuse examinateur medecin lecteur"
    " anotador anotadora anotator avaliador avaliadora evaluador evaluadora codificador juez juiz"
    " medico medica experto perito valutatore valutatrice annotatore annotatrice esperto giudice"
    " beoordelaar эксперт разметчик оценщик врач 标注者 标注员 评估者 专家 医生"
    " 評価者 評定者 평가자 전문가"
)
"""What raters are called in other languages."""

WORDS: Mapping[NameRole, frozenset[str]] = {role: _words(text) for role, text in _TEXTS.items()}
WORDS = {**WORDS, "rater": WORDS["rater"] | _RATERS_ELSEWHERE}
"""Role -> words of names that speak for it."""

RATED = WORDS["label"] | {"text", "answer", "antwort", "response"}
"""What a rater's number can stand before: the score of rater 2."""

TextRole = Literal["question", "reference", "answer"]
"""What a column of texts can be named for, in tables of questions and answers."""

TEXT_WORDS: Mapping[TextRole, frozenset[str]] = {
    "question": _words(
        "question questions q frage fragen prompt query text vignette anfrage stem cloze aufgabe"
        " case fall fallbeschreibung anamnese"
    ),
    "reference": _words(
        "reference referenz gold goldstandard musterantwort musterloesung loesung solution expected"
        " truth key diagnosis diagnose modelanswer correctanswer rightanswer sampleanswer"
        " richtigeantwort sollantwort"
    ),
    "answer": _words("answer antwort response output ausgabe reply completion generation ergebnis"),
}
"""Role -> words of names that speak for it where a table contains texts to be rated."""

KEYS = frozenset({"id", "nr", "no", "name", "code", "number", "nummer"})
"""Words that say nothing behind another: a rater's name is a rater."""

BELONGING = frozenset({"of", "der", "des"})
"""Words before what something belongs to: the difficulty of the question is no question."""

CODES = _words("code codes id ids zip zipcode plz postleitzahl postcode icd schluessel nummer")
"""Last words of names of codes, of which a mean says nothing."""

CRITERIA = _words(
    "accuracy correctness clarity safety completeness helpfulness relevance tone fluency empathy"
    " harm strength usefulness readability coherence grammar style conciseness factuality"
    " richtigkeit vollstaendigkeit verstaendlichkeit sicherheit nutzen klarheit relevanz"
    " lesbarkeit empathie korrektheit stil ton quality"
)
"""What answers are rated for."""

LABELS = _words(
    "yes no true false correct incorrect right wrong agree disagree neutral unsure none mild"
    " moderate severe low medium high poor fair good excellent positive negative never rarely"
    " sometimes often always ja nein richtig falsch teilweise leicht mittel schwer gut schlecht"
    " positiv negativ unklar partly maybe vielleicht pos neg strongly"
)
"""Words that are labels and no raters."""

DEGREES = frozenset({"very", "sehr", "strongly"})
"""Words beside labels."""

MAKERS = _words("gpt claude gemini llama mistral qwen deepseek grok palm")
"""Parts of the names of language models."""

PEOPLE = _words(
    "anna ann anne ben cem cara clara dan david eva emma fay finn greta hans ida ian jan jana jonas"
    " joerg aenne karl kai lea leon lisa lukas maria marie max mia nina noah olga otto paul peter"
    " petra rosa sara sarah simon sofia tim tom ute uwe vera yusuf zoe alice bob carol erin frank"
    " grace heidi john jane mary james susan michael thomas andreas julia laura katrin martin"
    " sabine stefan wolfgang ali ayse mehmet fatima priya wei chen amy kim lee"
)
"""Given names."""

SURNAMES = frozenset({"gold"})
"""Words for a reference that are also the names of persons."""

CONFIDENT = frozenset({"conf", "sure", "certain"})
"""Words that mean confidence behind the name of a rater."""

TITLES = ("dr", "prof", "hr", "fr", "herr", "frau", "mr", "ms", "mrs")
"""What a person's name begins with."""

SIDES = (("a", "first", "left", "1", "x", "i"), ("b", "second", "right", "2", "y", "j"))
"""Names of the two sides of a comparison, in the same order."""

COUNTED = ("won", "lost", "tied")
"""What is counted where a row has several comparisons."""

WINS: Mapping[str, frozenset[str]] = {
    "won": _words(
        "win_i wins_i win_1 win1 wins1 wins_1 win_a wins_a winner_model_a won wins first_wins"
        " wins_first win_x wins_x a_wins i_wins x_wins 1_wins left_wins wins_left model_a_wins"
        " wins_model_a siege siege_a siege_1 siege_links gewonnen"
    ),
    "lost": _words(
        "win_j wins_j win_2 win2 wins2 wins_2 win_b wins_b winner_model_b lost losses second_wins"
        " wins_second win_y wins_y b_wins j_wins y_wins 2_wins right_wins wins_right model_b_wins"
        " wins_model_b niederlagen siege_b siege_2 siege_rechts verloren"
    ),
    "tied": _words("tie ties tied draw draws winner_tie unentschieden gleichstand gleichstaende"),
}
"""Names of columns of counts of wins, losses and ties, with _ between their words."""

OPPONENTS = (
    _words("model modell system player spieler"),
    _words("opponent gegner rival versus vs against comparator"),
)
"""Names of the columns of two systems, of which the second is called after the first."""

VOTES = _words("votes voters nvotes nvoters stimmen stimmenzahl")
"""Names of columns that count those who chose an outcome."""

OUTCOMES = frozenset(
    {"outcome", "winner", "choice", "label", "rating", "vote", "preference"}
    | {"gewinner", "sieger", "präferenz", "praeferenz"}
)
"""Names of the column of the outcomes of comparisons."""

VERDICTS = _words(
    "winner winning preferred preference preferences pref choice chosen verdict vote better"
    " best outcome result judgment judgement decision selected selection favored favoured favorite"
    " favourite superior gewinner sieger besser bessere besserer besseres beste bester bestes"
    " bevorzugt bevorzugte bevorzugter bevorzugtes praeferenz urteil wahl ergebnis entscheidung"
    " gewaehlt gewaehlte auswahl"
)
"""Words in the name of a column of the outcomes of comparisons."""

LOSERS = _words(
    "loser losing worse worst rejected dispreferred unpreferred nonpreferred disfavored inferior"
    " weaker weakest verlierer unterlegen unterlegene schlechter schlechtere schlechterer"
    " schlechteres schlechteste schlechtester schlechtestes abgelehnt abgelehnte verworfen"
)
"""Words in the name of a column of the systems that lost."""

SKIPPED = frozenset(
    {"skip", "skipped", "not rated", "no answer", "unsure", "don't know", "cannot judge", "invalid"}
    | {"keine angabe", "k.a.", "ka", "weiß nicht", "übersprungen", "unsicher", "ungültig", "error"}
)
"""Outcomes that may mean that nothing was chosen."""

LEAST = _words("least less non not weniger wenigsten nicht")
"""Words before a verdict that make it one of the system that lost."""

BESIDE_VERDICTS = _words(
    "which is the who of an answer response reply model system overall final total human expert"
    " judge rater panel majority consensus user annotator annotation llm ai pairwise comparison"
    " head blind name id label modell antwort gesamt insgesamt welche welches welcher ist das die"
    " der am besseren mensch experte ab ba order original forward g game run turn round"
)
"""Words in names of columns of outcomes that do not change what they are."""

PREFERENCES = frozenset({"preference", "preferences", "annotator_preference"})
"""Names of the column of preferences between the systems 1 and 2, as numbers from 1 to 2."""

ORDERS = _words(
    "order reihenfolge swapped swap flipped flip reversed reverse presentation position getauscht"
    " vertauscht shown"
)
"""Words in the names of columns of the order in which two systems were shown."""

ORDER_PAIRS = (
    *(("ab", "ba"), ("original", "swapped"), ("normal", "swapped"), ("original", "reversed")),
    *(("forward", "reverse"), ("forward", "reversed"), ("forward", "backward")),
    *(("hin", "rueck"), ("normal", "getauscht"), ("original", "getauscht")),
)
"""Words in the names of the outcomes of the two orders, in the same order."""

SPANS = frozenset({"start", "end", "begin", "offset"})
"""Names of the places at which a marked text begins and ends."""

SEVERITIES: Mapping[str, int] = {
    **dict.fromkeys(("no-error", "no error", "none", "neutral"), 0),
    "minor": 1,
    "major": 5,
}
"""Severities of errors and their usual weights, by which scores of translations are counted."""

NO_CELL = frozenset({"", "na", "n/a", "nan", "null", "-"})
"""Cells without a value, in small letters."""

NO_ANSWER = frozenset(
    {"n/a", "null", "-", ".", "n.a.", "n. a.", "k.a.", "k. a.", "keine angabe", "fehlt", "missing"}
    | {"not rated", "nicht bewertet", "not assessed", "nicht beurteilt", "skipped"}
    | {"not answered", "unanswered", "keine antwort", "no answer", "übersprungen"}
)
"""Cells that say that there is no rating, in small letters; some can be labels nevertheless."""

NO_NUMBER = frozenset({"nan", "#n/a", "inf", "-inf"})
"""What programs write for 'no number', in small letters; never a label."""

CANNOT_JUDGE = frozenset(
    {"nicht beurteilbar", "nicht bewertbar", "nicht auswertbar", "cannot judge", "can't judge"}
    | {"cannot assess", "cannot tell", "can't tell", "not assessable", "not evaluable", "unsure"}
    | {"unable to judge", "unable to assess", "unklar", "unclear", "weiß nicht", "don't know"}
)
"""Cells that say that a rater cannot judge, in small letters; among words they can be labels."""

SUMS_IN_ROWS = WORDS["sum"] | _words(
    "median subtotal zwischensumme gesamtsumme insgesamt durchschnitt standardabweichung varianz"
    " variance stdev std totals sums means"
)
"""Words for sums and means of the rows above."""

NAMES_OF_STATISTICS: Mapping[str, frozenset[str]] = {
    "sum": _words("sum summe total gesamt insgesamt subtotal zwischensumme"),
    "mean": _words("mean average avg mittel mittelwert durchschnitt"),
    "median": _words("median"),
    "deviation": _words("sd std stdev standardabweichung"),
    "count": _words("n count counts anzahl"),
    "maximum": _words("max maximum"),
    "minimum": _words("min minimum"),
}
"""What rows below a table usually have of the rows above -> the words that name it."""

AROUND_SUMS = WORDS["label"] | LABELS | _words("of der grand row rows error s")
"""Words beside those for sums and means."""

COUNTED_IN_ROWS = _words(
    "n max min maximum minimum count counts anzahl kappa alpha icc prozent percent agreement"
    " uebereinstimmung modus"
)
"""Words for counts and the like of the rows above; rows with usual ratings can be named so."""

UNITS_OF_MEASUREMENT = _words(
    "points point pts punkte punkt score scores percent prozent % mm cm ms s sec seconds sekunden"
    " min minutes minuten h hours stunden years jahre mg kg ml likert nominal ordinal interval"
    " intervall"
)
"""Units of measurement and levels of scales in a row that explains columns."""

NAMES_OF_RANGES = _words(
    "unit units einheit einheiten masseinheit scale skala scales skalen range bereich wertebereich"
    " spannweite"
)
"""What names a row of units of measurement or ranges."""

OR, UP_TO = frozenset({"or", "oder"}), frozenset({"to", "bis"})
"""Words between labels, and between the ends of a range."""

TRUTH_VALUES = frozenset({"true", "false"})
"""Two words that are labels in this order and, where numbers are needed, 0 and 1."""

SUCCESS_PAIRS: tuple[tuple[str, str], ...] = (
    ("no", "yes"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("false", "true"),
    ("0", "1"),
    ("fail", "pass"),
    ("failure", "success"),
    ("n", "y"),
    ("n", "j"),
    ("nein", "ja"),
    ("falsch", "richtig"),
)
"""Pairs of labels of which the second is a success."""


def known_pair(labels: Sequence[str]) -> tuple[str, str] | None:
    """The known pair of a failure and a success that the labels are, or None.

    A single number belongs to no pair.

    >>> known_pair(["Yes", "No"]), known_pair(["correct"]), known_pair(["1"]), known_pair(["a"])
    (('no', 'yes'), ('incorrect', 'correct'), None, None)
    """
    folded = {label.casefold() for label in labels}
    for pair in SUCCESS_PAIRS:
        if folded == {*pair} or (len(folded) == 1 and folded < {*pair} and "1" not in pair):
            return pair
    return None


NAMED = 0.7
"""How well a name fits a role that it names."""

ORDINAL_SCALES: tuple[tuple[str, ...], ...] = (
    ("neg", "ind", "pos"),
    ("negative", "indeterminate", "positive"),
    ("none", "mild", "moderate", "severe"),
    ("low", "medium", "high"),
    ("low", "moderate", "high"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("no", "maybe", "yes"),
    ("no", "partly", "yes"),
    ("incorrect", "partly correct", "correct"),
    ("negativ", "unklar", "positiv"),
    ("keine", "leicht", "mittel", "schwer"),
    ("gering", "mittel", "hoch"),
    ("schlecht", "mittel", "gut", "sehr gut"),
    ("nie", "selten", "manchmal", "oft", "immer"),
    ("nein", "vielleicht", "ja"),
    ("nein", "teilweise", "ja"),
    ("falsch", "teilweise", "richtig"),
)
"""Words of usual ordinal scales, in their order."""


def known_order(labels: Sequence[str]) -> tuple[str, ...]:
    """Words in the order of the usual scale that has them all; empty where none has.

    >>> known_order(["Severe", "Mild"]), known_order(["mild", "good"])
    (('Mild', 'Severe'), ())
    """
    folded = {label.casefold(): label for label in labels}
    scale = next((scale for scale in ORDINAL_SCALES if folded.keys() <= {*scale}), ())
    return tuple(folded[word] for word in scale if word in folded)


def weights_of(cells: Iterable[str]) -> dict[str, int]:
    """The usual weights of severities of errors; empty where a cell is something else.

    >>> weights_of(["Minor", "Major"]), weights_of(["Minor", "good"])
    ({'Minor': 1, 'Major': 5}, {})
    """
    words = [*cells]
    weights = {word: SEVERITIES.get(word.casefold()) for word in words}
    usual = {word: weight for word, weight in weights.items() if weight is not None}
    return usual if len(usual) == len(words) and max(usual.values(), default=0) else {}
