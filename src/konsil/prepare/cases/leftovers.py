"""Remains of a diagnosis or of a cue in the versions of a case, and hints at it.

They are shown to the person who approves the versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.prepare.cases.masking import LEVELS, NARRATIVE, Mark, Part, parts, unchanged
from konsil.prepare.cases.naming import Name, Way, mentions, names_of, spoken
from konsil.prepare.text.drug_names import DRUGS, drugs_in
from konsil.records import Item

HintKind = Literal["drug", "gene", "code", "eponym"]


LeftoverKind = Literal["diagnosis", "cue", "version", "hint"]


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that a version still tells, or does not do."""

    kind: LeftoverKind
    """A diagnosis that is named, a cue that stands elsewhere, a version that is like the one
    before, or a hint: a drug, gene, code or eponym that no mark covers."""
    level: str
    """The first level at which it is found."""
    text: str = ""
    """As it stands in the version."""
    name: str = ""
    """The name or the marked words that it is taken for; of a hint what it is."""
    way: Way = "named"
    """How sure that is: the name itself, another form of it, or something like it."""
    start: int | None = None
    """Where it begins in the narrative; None: it is not all of the narrative's own text."""
    end: int | None = None
    """Where it ends in the narrative."""

    @property
    def stops(self) -> bool:
        """Whether nobody may approve the case without a reason.

        Parts of a name and cues are only told.

        A narrative that never names the diagnosis is its own level 0.
        """
        return (self.kind == "version" and self.level != "0") or (
            self.kind == "diagnosis" and self.way != "part"
        )

    def description(self) -> str:
        """It in a sentence's words."""
        if self.kind == "version":
            return f"level {self.level} is no different from the level before"
        where = f" at {self.start:,}-{self.end:,}" if self.start is not None else ""
        if self.kind == "hint":
            return (
                f"level {self.level} still has {self.text!r}{where}, {_ARTICLE[self.name]}"
                f" {self.name}"
            )
        noun = "the diagnosis" if self.kind == "diagnosis" else "a cue"
        return (
            f"level {self.level} still has {self.text!r}{where}, {noun} {self.name!r} ({self.way})"
        )


def leftovers(item: Item, marks: Sequence[Mark], removed: str) -> tuple[Leftover, ...]:
    """Search the versions of a case for its diagnosis and its masked cues.

    The reference and the aliases are searched in every version, cues where they are masked.

    What is found at a level is not repeated at the levels after it.
    """
    collected: list[Leftover] = []
    reported: set[tuple[object, ...]] = set()
    names = names_of((item.reference or "", *item.aliases)) + _abbreviated(item, marks)
    for level in LEVELS[1:]:
        version_parts = parts(item.text, marks, level, removed)
        cues = [
            Name(spoken(item.text[m.start : m.end]))
            for m in marks
            if m.kind == "cue" and m.counts(level)
        ]
        for kind, searched in (("diagnosis", names), ("cue", cues)):
            for leftover in _leftovers(
                version_parts, searched, "diagnosis" if kind == "diagnosis" else "cue", level
            ):
                key = (
                    leftover.kind,
                    leftover.name,
                    leftover.start,
                    leftover.text if leftover.start is None else "",
                )
                if key not in reported:
                    reported.add(key)
                    collected.append(leftover)
    collected += _hints(
        item, marks, removed, {(leftover.start, leftover.end) for leftover in collected}
    )
    collected += [
        Leftover("version", level)
        for level in unchanged(item.text, marks, removed)
        if level != NARRATIVE
    ]
    return tuple(collected)


_ARTICLE = {"drug": "a", "gene": "a", "code": "a", "eponym": "an"}


def _hints(
    item: Item,
    marks: Sequence[Mark],
    removed: str,
    reported_spans: set[tuple[int | None, int | None]],
) -> list[Leftover]:
    """Drugs, genes, codes and eponyms that no mark covers, each once by its words."""
    version_parts = parts(item.text, marks, LEVELS[-1], removed)
    text = "".join(part.text for part in version_parts)
    by_words: dict[str, Leftover] = {}
    for hint in hints(text):
        place = _span_in_narrative(version_parts, hint.start, hint.end)
        words = text[hint.start : hint.end]
        if place is not None and not any(
            a is not None and b is not None and a < place[1] and place[0] < b
            for a, b in reported_spans
        ):
            by_words.setdefault(
                words.lower(), Leftover("hint", LEVELS[-1], words, hint.kind, "named", *place)
            )
    return list(by_words.values())


def _leftovers(
    version_parts: Sequence[Part], names: Sequence[Name], kind: LeftoverKind, level: str
) -> list[Leftover]:
    """The names in a version's text, with their place in the narrative.

    The place is given where all of the mention is the narrative's own.
    """
    text = "".join(part.text for part in version_parts)
    collected = []
    for mention in mentions(text, names):
        place = _span_in_narrative(version_parts, mention.start, mention.end)
        start, end = place if place is not None else (None, None)
        wording = text[mention.start : mention.end]
        collected.append(Leftover(kind, level, wording, mention.name, mention.way, start, end))
    return collected


def _span_in_narrative(
    version_parts: Sequence[Part], start: int, end: int
) -> tuple[int, int] | None:
    at = 0
    for part in version_parts:
        if at <= start and end <= at + len(part.text):
            return (part.start + start - at, part.start + end - at) if part.mark is None else None
        at += len(part.text)
    return None


_DEFINED = re.compile(r"\s*\(\s*([A-Z][A-Za-z0-9]{1,5})\s*\)")


def _abbreviated(item: Item, marks: Sequence[Mark]) -> tuple[Name, ...]:
    """Abbreviations that the narrative gives right after a marked diagnosis.

    An example is 'granulomatosis ... (GPA)'.
    """
    abbreviations = []
    for mark in marks:
        if (
            mark.kind == "diagnosis"
            and (defined := _DEFINED.match(item.text, mark.end)) is not None
        ):
            abbreviations.append(Name(defined[1], short=True, way="abbreviation"))
        inside = (
            _DEFINED.findall(item.text[mark.start : mark.end]) if mark.kind == "diagnosis" else ()
        )
        abbreviations += [
            Name(abbreviation, short=True, way="abbreviation") for abbreviation in inside
        ]
    return tuple(abbreviations)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GENES = _words("""
    ABCA4 ABCC8 ABL1 ACTA2 ACVR1 ACVRL1 AIRE ALK AMACR APC APOE ARSA ASL ATM ATP7A ATP7B ATXN1 ATXN3
    BCR BMPR2 BRAF BRCA1 BRCA2 BTK C9orf72 CACNA1A CALR CASR CD40LG CDH1 CDKN2A CEBPA CFTR CHD7
    CHEK2 COL1A1 COL1A2 COL2A1 COL3A1 COL4A3 COL4A5 COL5A1 CYP11B1 CYP17A1 CYP21A2 CYP27A1 DMD DMPK
    EGFR EIF2AK4 F5 F8 F9 FAH FBN1 FGFR2 FGFR3 FLCN FLT3 FMR1 FOXP3 FXN G6PC G6PD GAA GALC GALT GBA
    GBA1 GCH1 GJB2 GLA GNAS GNAQ GRN HBA1 HBB HEXA HFE HMBS HNF1A HNF1B HPRT1 IDH1 IDS IDUA JAK2
    KCNH2 KCNQ1 KRAS LAMP2 LDLR LMNA LRRK2 MAPT MECP2 MEFV MEN1 MLH1 MPL MPZ MSH2 MSH6 MYBPC3 MYH7
    MYH9 NF1 NF2 NIPBL NOD2 NOTCH3 NPC1 NPC2 NPM1 NRAS OTC PAH PALB2 PARK2 PCSK9 PDGFRA PHEX PHOX2B
    PIK3CA PINK1 PKD1 PKD2 PKHD1 PLP1 PMM2 PMP22 PMS2 POLG PRKAR1A PRNP PROC PROS1 PSEN1 PSEN2 PTEN
    PTPN11 RB1 RYR1 SCN1A SCN5A SDHA SDHAF2 SDHB SDHC SDHD SERPINA1 SERPINC1 SERPING1 SMAD3 SMAD4
    SMN1 SNCA SOD1 STK11 TARDBP TERT TGFBR1 TGFBR2 TMEM127 TNFRSF1A TP53 TPMT TSC1 TSC2 TSHR TTR
    TYMP UBA1 UBE3A UMOD VHL VWF WT1
    """)
"""Symbols of genes that are tested for single diseases."""
EPONYMS = _words("""
    Addison Alport Alzheimer Andersen Asperger Barrett Bartter Basedow Bechterew Behçet Behcet
    Bernard-Soulier Binswanger Birt-Hogg-Dubé Brugada Budd-Chiari Buerger Burkitt Castleman Chagas
    Charcot-Marie-Tooth Churg-Strauss Conn Creutzfeldt-Jakob Crigler-Najjar Crohn Cushing Darier
    Dercum Dressler Duchenne Dupuytren Ehlers-Danlos Eisenmenger Erdheim-Chester Ewing Fabry Fanconi
    Felty Gaucher Gerstmann Gitelman Goodpasture Gorlin Graves Guillain-Barré Guillain-Barre
    Hashimoto Heerfordt Henoch Hirschsprung Hodgkin Horner Huntington Jeghers Kallmann Kaposi
    Kartagener Kawasaki Kayser-Fleischer Kearns-Sayre Kikuchi Klinefelter Korsakoff Lambert-Eaton
    Langerhans Leber Libman-Sacks Liddle Löffler Loeffler Löfgren Lofgren Lynch Marfan McArdle
    Ménière Meniere Moschcowitz Moyamoya Niemann-Pick Noonan Ormond Osler Paget Pancoast Parkinson
    Perthes Peutz Plummer-Vinson Pompe Pott Prader-Willi Raynaud Reiter Rendu Rett Reye Riedel
    Schönlein Schoenlein Sézary Sezary Sheehan Shy-Drager Simmonds Sjögren Sjogren Sneddon
    Sturge-Weber Takayasu Tay-Sachs Tolosa-Hunt Tourette Usher Waldenström Waldenstrom Wallenberg
    Waterhouse Wegener Wernicke Whipple Wilms Wilson Wiskott-Aldrich Wolff-Parkinson-White
    Zollinger-Ellison
    """)
"""Names of people that diseases, signs and syndromes have."""
_GENE = re.compile(rf"(?<![\w-])(?:{'|'.join(GENES)})(?![\w])")
_EPONYM = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(EPONYMS, key=len, reverse=True))})"
    r"(?:['’]?s|['’]|sche[nrsm]?|-\w+)?(?!\w)"
)
_CODE = re.compile(
    r"(?<![\w.])(?:(?:ICD|OMIM|MIM|ORPHA(?:code|net)?|OPS|SNOMED)[-"
    r" ]?(?:10|11)?(?:-GM|-CM)?[:#\s-]*[A-Z]?\d[\w.-]*\w"
    r"|[A-TV-Z]\d{2}\.\d{1,2}[A-Z]?|#\s?\d{6})(?![\w%])"
)
LISTS: dict[HintKind, int] = {"drug": len(DRUGS), "gene": len(GENES), "eponym": len(EPONYMS)}
"""Kind -> how many names its list has; drugs are also seen by the stems of their names, codes by
their form."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Something that may give the diagnosis away."""

    start: int
    """Its first character."""
    end: int
    """One past its last."""
    kind: HintKind
    """What it is."""


def hints(text: str) -> Iterator[Hint]:
    """Drugs, genes, codes and eponyms of a text, in its order.

    >>> text = "Rituximab for Wegener's; ATP7B, E83.0"
    >>> [(hint.kind, text[hint.start : hint.end]) for hint in hints(text)]
    [('drug', 'Rituximab'), ('eponym', "Wegener's"), ('gene', 'ATP7B'), ('code', 'E83.0')]
    """
    matches = [Hint(start, end, "drug") for start, end, _ in drugs_in(text)]
    patterns: tuple[tuple[HintKind, re.Pattern[str]], ...] = (
        ("gene", _GENE),
        ("eponym", _EPONYM),
        ("code", _CODE),
    )
    for kind, pattern in patterns:
        matches += [Hint(*match.span(), kind) for match in pattern.finditer(text)]
    yield from sorted(matches, key=lambda hint: (hint.start, hint.end))
