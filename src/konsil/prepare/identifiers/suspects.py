"""Signs in a question that it should not be rated: each a pattern with what it stands for.

English and German.

A pattern finds what may be meant; a person decides. So they rather find too much, but never a dose,
a lab value, a week of pregnancy or a guideline's year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

from konsil.prepare.identifiers.identifiers import RECALL, Recall, identifiers

Rule = Literal["identifier", "follow-up", "no question for a decision"]

_SHORT = r"(?=.{1,70}\Z)"
"""A whole text of a few words: what begins like a second turn and is long may be a question of its
own."""
_ASK = (
    r"^\s*(?:(?:please|bitte|can you|could you|would you|kannst du|könntest du|können sie|könnten"
    r" sie)\b,?\s*)*"
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
    r"(?i:^\s*(?:thanks|thank you|danke|vielen dank)\b(?!\W*(?:in advance|vorab|im voraus)))",
    r"(?i:\b(?:as|mentioned|wie) (?:above|oben) (?:mentioned|erwähnt)\b)",
    # Short turns that begin in the middle of a conversation.
    rf"(?is:\A\s*{_SHORT}(?:and|but|or|then|und|aber|oder|dann)\b)",
    (
        rf"(?is:\A\s*{_SHORT}(?:was|wie) (?:ist|wäre|sieht es|ist es|wäre es)(?: aus)?"
        r" (?:mit|bei|für|in)\b)"
    ),
    (
        rf"(?is:\A\s*{_SHORT}(?:why|how so|warum|wieso|weshalb)(?: (?:not|is"
        r" that|so|nicht|das|denn|ist das so))?\W*\Z)"
    ),
    rf"(?is:\A\s*{_SHORT}(?:is|are|does|do|would|can|could|should|will)"
    r" (?:it|that|they|those|these)\b"
    r"(?!.*\b(?:to|that|if|when|whether|who)\b))",
    rf"(?is:\A\s*{_SHORT}(?:ist|gilt|geht|hilft|reicht|kann|darf|soll|sollte|muss|wirkt) "
    r"(?:das(?!\s(?-i:[A-ZÄÖÜ]))|es|dies)\b"
    r"(?!.*\b(?:zu|dass|wenn|ob)\b))",
    # Replies: to a question back, or to what was answered.
    r"(?i:^\s*(?:no|nope|yes|yeah|nein|ja|doch|nee)\s*[,.!])",
    r"(?i:^\s*(?:ok(?:ay)?|alright|great|perfect|good|got it|i see|understood|gut|super|prima|alles"
    r" klar|verstanden|"
    r"verstehe|aha)\b\s*(?:[,.!]|(?:thanks|thank you|danke|so|then|dann|but|aber|and|und)\b))",
    r"(?i:\b(?:i|what i) meant\b|\bich meinte\b|\bmeinte ich\b|\bthat(?: i|')s not what i\b|"
    r"\bdas war nicht meine frage\b)",
    (
        r"(?i:\b(?:are you|bist du|sind sie)(?: dir| sich)?(?: really| wirklich| da)?"
        r" (?:sure|certain|sicher)\b)"
    ),
    r"(?i:\b(?:same|next|another|follow-?up)"
    r" question\b|\b(?:gleiche|selbe|dieselbe|nächste|weitere|andere|noch eine) "
    r"frage\b)",
    # What was said before.
    r"(?i:\b(?:your|deine[rnm]?|ihre[rnm]?)"
    r" (?:first|second|third|last|previous|earlier|erste[rn]?|zweite[rn]?|"
    r"dritte[rn]?|letzte[rn]?|vorige[rn]?|vorherige[rn]?) "
    r"(?:point|answer|reply|option|suggestion|list|table|punkt|antwort|vorschlag|liste|tabelle)\b)",
    r"(?i:\b(?:du|sie)"
    r" (?:hast|hattest|haben|hatten|sagtest|sagten|schriebst|schrieben|meintest|meinten)\b.{0,20}"
    r"\b(?:oben|vorhin|eben|vorher|gerade|zuvor)\b)",
    r"(?i:\b(?:as|like) (?:you|we) (?:said|discussed)\b|"
    r"\b(?:discussed|said|asked|mentioned) (?:earlier|above|before)\b|"
    r"\b(?:oben|vorhin|eben|zuvor) (?:gesagt|genannt|erwähnt|besprochen|beschrieben|gefragt)\w*)",
    rf"(?i:{_ASK}(?:explain|elaborate on|clarify|expand on|go into|justify) (?:that|this|it|your|"
    r"the (?:first|second|third|last|previous))\b)",
    rf"(?i:{_ASK}(?:tell me more|say more|go on|continue|elaborate|mehr dazu|weiter)\W*$)",
    r"(?i:\b(?:kannst du|könntest du|können sie|könnten sie) (?:mir )?(?:das|es|dies)\b.{0,40}"
    r"\b(?:erklären|erläutern|begründen|präzisieren|ausführen|zusammenfassen)\b)",
    r"(?i:\b(?:erkläre?|erläutere?|begründe?) (?:mir )?(?:das|dies|es|deine|ihre)\b)",
    r"(?i:\b(?:does|would|do) (?:that|this|the same|it)(?: also)? (?:apply|hold|go|count)\b|"
    r"\bgilt (?:das(?!\s(?-i:[A-ZÄÖÜ]))|dies|dasselbe|das gleiche|das selbe)\b)",
)
_WRITE = (
    r"(?:write|draft|compose|prepare|generate|create|make|produce|design|schreibe?|verfasse?|erstelle?|formuliere?|"
    r"entwirf|generiere?|bastle|mache?|gib|give)"
)
_PIECE = (
    r"(?:letters?|e-?mails?|essay|poem|song|joke|story|speech|notes?|abstract|appeal|report|summary|handout|leaflet|flyer|"
    r"slides?|presentation|powerpoint|spreadsheet|roster|rota|schedule|quiz|flash ?cards|multiple[-"
    r" ]choice|"
    r"cover letter|press"
    r" release|\w*brief|gedicht|lied|witz|geschichte|rede|aufsatz|\w*bescheinigung|attest|"
    r"gutachten|"
    r"antrag|widerspruch|\w*bericht|\w*zusammenfassung|merkblatt|flyer|folien|präsentation|dienstplan|schichtplan|"
    r"karteikarten|pressemitteilung|anschreiben)"
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
    # Pieces of writing and teaching.
    rf"(?i:{_ASK}{_WRITE}\b.{{0,40}}\b{_PIECE}\b)",
    rf"(?i:{_ASK}(?:.{{0,60}}\b(?:translate|übersetzen|zusammenfassen|umformulieren|korrekturlesen|proofread|"
    r"summari[sz]e)\b\W*$))",
    rf"(?i:{_ASK}(?:translat|übersetz|summari[sz]e|paraphrase|spell-?check|shorten|kürze|proof-?read)\w*\b)",
    r"(?i:\btranslat\w+ .{0,60}\b(?:in)?to"
    r" (?:english|german|spanish|french|turkish|arabic|russian|polish|chinese|"
    r"italian)\b|"
    r"\bins?"
    r" (?:englische|deutsche|spanische|französische|türkische|arabische|russische|polnische"
    r"|italienische)\b)",
    r"(?i:\bmultiple[- ]choice\b|\bflash ?cards\b|\bquiz me\b|\bfrag mich ab\b|"
    r"\b(?:my|meine) (?:homework|hausaufgaben?|thesis|doktorarbeit|dissertation|seminararbeit)\b)",
    # Money, codes and the office.
    r"(?i:\b(?:icd|cpt|drg|ops|goä|ebm|hcpcs|snomed)[ -]?(?:\d+[ -]?)?(?:\w+["
    r" -])?(?:codes?|coding|ziffern?|nummer|"
    r"kodierung|schlüssel)\b|\bkodier\w*|\babrechn\w*|\babgerechnet\b|\brechne"
    r" (?:ich|man|wir)\b.{0,60}\bab\b|"
    r"\bbilling\b|\bhow (?:do|can|should) (?:i|we) bill\b|\breimburse\w*)",
    r"(?i:\b(?:book|make|get|schedule|cancel|reschedule|change|vereinbare\w*|bekomme\w*|absage\w*|verschiebe\w*|buche\w*|"
    r"brauche|mache\w*)\b.{0,30}\b(?:appointments?|termine?)\b|\b(?:appointment|termin)\b.{0,30}\b(?:book|cancel|"
    r"vereinbaren|bekommen|absagen|verschieben|buchen)\b)",
    r"(?i:\b(?:opening|visiting|office)"
    r" hours\b|\b(?:öffnungs|besuchs|sprech)zeiten\b|\bparkplatz\b|\bparking\b|"
    r"\b(?:forgot|reset|vergessen).{0,30}\b(?:password|passwort)\b|\b(?:password|passwort)\b.{0,30}\b(?:reset|vergessen)\b|"
    r"\bhow much (?:does|do) .{0,40}\b(?:earn|cost)\b|\bwie viel verdien\w+\b)",
    # The machine itself, the world, and nothing at all.
    r"(?i:\b(?:are you|bist du|sind sie) (?:an?|the|eine?|der|die) (?:real |echte[r]?"
    r" )?(?:human|person|robot|bot|ai|"
    r"machine|computer|doctor|chatbot|mensch|roboter|ki|maschine|arzt|ärztin)\b|\bchat-?gpt\b|"
    r"\bwho (?:made|built|trained|created|developed) you\b|\bwer hat dich\b|\bwas kannst du\b|"
    r"\bwhat can you do\b|\bsystem prompt\b|\bignore"
    r" (?:all|any|your|previous)\b.{0,30}\binstructions\b)",
    r"(?i:\b(?:what|how|wie|was)(?:'s| is| will| ist| wird)?\b.{0,15}\b(?:the weather|das"
    r" wetter)\b|\bwho won\b|"
    r"\bwer (?:hat|gewann)\b.{0,40}\bgew[oa]nn\w*\b|\b(?:world cup|weltmeister\w*|bundesliga|super"
    r" bowl)\b|"
    r"\b(?:capital|president|prime minister) of\b|\bhauptstadt"
    r" (?:von|der|des)\b|\bbundeskanzler\w*\b|"
    r"\b(?:bitcoin|stock price|aktienkurs|horoskop|horoscope|lottery|lotto)\b|\btell me a"
    r" joke\b|\bwitz\b)",
    r"(?is:\A\W*(?:(?:hi|hello|hey|hallo|moin|servus|there|guten (?:tag|morgen|abend)|"
    r"good (?:morning|evening|afternoon)|how are you|wie geht(?:'s| es dir| es"
    r" ihnen)|test(?:ing)?)\b\W*)+\d*\W*\Z)",
    r"(?s:\A[^\w?]*\w+[^\w?]*\Z|\A[\W\d_]*\Z)",
)

RECALLS: Mapping[Rule, Recall] = MappingProxyType(
    {
        "identifier": RECALL,
        "follow-up": Recall(8, 10, 0.490, 0.943),
        "no question for a decision": Recall(15, 16, 0.717, 0.989),
    }
)
"""Rule -> how many it finds of what another hand wrote; docs/identifiers.md has the tables."""
PATTERNS: Mapping[Rule, tuple[str, ...]] = MappingProxyType(
    {
        "identifier": (),
        "follow-up": _FOLLOW_UP,
        "no question for a decision": _NO_DECISION,
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
    return [match.span() for pattern in _compiled(rule) for match in pattern.finditer(text)]


# Only where questions are screened: compiling takes a while.
@cache
def _compiled(rule: Rule) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, PATTERNS[rule]))
