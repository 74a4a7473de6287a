"""Hints at a diagnosis other than its name: unmarked drugs, genes, codes and eponyms.

The lists are short and konsil's own; they help whoever marks and are no proof: what is not on them
only a person finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from konsil.prepare.text.drug_names import DRUGS, drugs_in

HintKind = Literal["drug", "gene", "code", "eponym"]


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
