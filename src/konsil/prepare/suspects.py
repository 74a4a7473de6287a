"""Signs in a question that it should not be rated: each a pattern with what it stands for. English and German.

A pattern finds what may be meant; a person decides. So they rather find too much, but never a dose, a lab value, a
week of pregnancy or a guideline's year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

Rule = Literal["identifier", "follow-up", "no question for a decision"]

_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
_NAMED_MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
_NAME = r"[A-ZÄÖÜ][a-zäöüß]+(?:-[A-ZÄÖÜ][a-zäöüß]+)?"
_EPONYMS = r"(?!(?:Parkinson|Crohn|Alzheimer|Hodgkin|Wilson|Graves|Cushing|Addison|Marfan|Raynaud|Down|Turner)\b)"

# In the order in which they are told: the first one that is found is the reason's evidence.
_IDENTIFIERS = (
    r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w",
    rf"(?<![.,\d])(?:{_DAY}([./-]){_MONTH}\1|{_MONTH}([./-]){_DAY}\2)(?:{_YEAR}|\d\d)(?![.,]?\d)",
    rf"\b{_YEAR}-{_MONTH}-{_DAY}\b",
    rf"(?i:\b{_DAY}(?:st|nd|rd|th|\.)?\s+{_NAMED_MONTH}\s+{_YEAR}\b|\b{_NAMED_MONTH}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}\b)",
    r"\b\d{3}-\d{2}-\d{4}\b",
    r"(?i:\b(?:mrn|medical record|patient (?:id|number)|case number|fall-?nummer|patienten(?:nummer|-?id)|"
    r"versicherten-?(?:nummer|nr))\b\W{0,4}(?:(?:no|number|nr|is|lautet)\b\W{0,3})?[a-z]{0,3}\d{3,})",
    r"(?:\+\d{1,3}[ /-]?(?:\(0\))?\d{2,5}|\(\d{3,5}\)|\b0\d{2,4}[ /-]|\b\d{3}-)[ /-]?\d{3,4}[ /-]?\d{3,6}\b",
    rf"\b(?:(?:Mr|Mrs|Ms)\.?|Herrn?|Frau)\s+(?:Dr\.\s+)?{_EPONYMS}{_NAME}",
    rf"(?:\b[Mm]y name is|\b[Ii]ch heiße|\b[Pp]atient(?:in)? (?:named|called|namens))\s+{_NAME}",
    rf"\b{_NAME}(?:straße|str\.|weg|allee|gasse)\s+\d+|\b\d+\s+{_NAME}\s+(?:Street|Avenue|Road|Lane|Drive)\b",
    r"(?i:\b(?:9\d|1[01]\d)[ -]?(?:years?[ -]old|y/?o\b|jährige[rn]?\b|jahre alt\b))",
)
_FOLLOW_UP = (
    r"(?im:^\s*(?:user|assistant|human|ai|nutzer|assistent)\s*:)",
    r"(?i:^\s*(?:and|und|but|aber|so|also|ok(?:ay)?,?)\s+(?:what|how|if|which|was|wie|wenn|welche)\b)",
    r"(?i:^\s*(?:what|how) about\b(?! the\b.{40}))",
    r"(?i:\b(?:same|this|that) patient as (?:before|above)\b)",
    r"(?i:\b(?:der|die)selben? patient(?:in|en)? wie (?:eben|oben|vorhin)\b)",
    r"(?i:\b(?:you|your) (?:just |previously |already )?"
    r"(?:said|mentioned|answer(?:ed)?|suggested|recommended|response)\b)",
    r"(?i:\b(?:wie|was) (?:du|sie) (?:eben|vorhin|oben|gerade)\b)",
    r"(?i:^\s*(?:thanks|thank you|danke|vielen dank)\b)",
    r"(?i:\b(?:as|mentioned|wie) (?:above|oben) (?:mentioned|erwähnt)\b)",
)
_NO_DECISION = (
    r"(?i:^\s*(?:please |bitte |can you |could you |kannst du |können sie )*"
    r"(?:translate|rewrite|rephrase|proofread|summari[sz]e (?:this|the following)|format|"
    r"übersetze|formuliere .{0,40}um|korrigiere|fasse .{0,40}zusammen))",
    r"(?i:\b(?:write|draft|compose|schreibe?|verfasse)\b.{0,30}\b(?:letter|email|e-mail|essay|poem|note|abstract|"
    r"appeal|brief|arztbrief|gedicht|aufsatz|bescheinigung)\b)",
    r"(?i:\b(?:who|what) are you\b|\bwer bist du\b|\bwhich (?:language )?model are you\b)",
    r"(?i:\b(?:icd|cpt|drg|ops|goä|ebm)[ -]?(?:10[ -]?)?(?:billing|codes?|ziffern?|abrechnung)\b)",
    r"(?i:\b(?:board|exam|usmle|mcq|examens?)\b.{0,20}\b(?:questions?|frage[n]?)\b)",
)

PATTERNS: Mapping[Rule, tuple[re.Pattern[str], ...]] = MappingProxyType(
    {
        "identifier": tuple(map(re.compile, _IDENTIFIERS)),
        "follow-up": tuple(map(re.compile, _FOLLOW_UP)),
        "no question for a decision": tuple(map(re.compile, _NO_DECISION)),
    }
)
"""Rule -> what it looks for."""


def suspects(text: str, rule: Rule) -> Iterator[str]:
    """The parts of a text that a rule finds.

    >>> list(suspects("Mrs Smith, born 03/04/1961, has AF.", "identifier"))
    ['03/04/1961', 'Mrs Smith']
    >>> list(suspects("Apixaban 5 mg 1-0-1 in a 72-year-old with GFR 30?", "identifier"))
    []
    """
    for pattern in PATTERNS[rule]:
        yield from (match[0].strip() for match in pattern.finditer(text))
