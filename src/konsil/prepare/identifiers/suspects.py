"""Signs in a question that it should not be rated: each a pattern with what it stands for.

English and German.

A pattern finds what may be meant; a person decides. So they rather find too much, but never a dose,
a lab value, a week of pregnancy or a guideline's year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from konsil.prepare.identifiers.identifiers import identifiers

Rule = Literal["identifier", "follow-up", "no question for a decision"]

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
        "identifier": (),
        "follow-up": tuple(map(re.compile, _FOLLOW_UP)),
        "no question for a decision": tuple(map(re.compile, _NO_DECISION)),
    }
)
"""Rule -> what it looks for; identifiers have a module of their own."""


def suspects(text: str, rule: Rule) -> Iterator[str]:
    """The parts of a text that a rule finds.

    >>> list(suspects("Mrs Smith, born 03/04/1961, has AF.", "identifier"))
    ['03/04/1961', 'Mrs Smith']
    >>> list(suspects("Apixaban 5 mg 1-0-1 in a 72-year-old with GFR 30?", "identifier"))
    []
    """
    yield from (text[start:end].strip() for start, end in spans(text, rule))


def spans(text: str, rule: Rule) -> list[tuple[int, int]]:
    """Spans (first character, one past the last) that a rule finds, in pattern order."""
    if rule == "identifier":
        return list(identifiers(text))
    return [match.span() for pattern in PATTERNS[rule] for match in pattern.finditer(text)]
