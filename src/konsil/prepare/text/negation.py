"""Whether a sentence rules out what it names, in English and German.

The words before and after the name decide.

After NegEx (Chapman et al., J Biomed Inform 34:301, 2001): cues before the name, cues after it,
phrases that look like a negation and are none, and words at which a cue's reach ends. What is
unlikely, or still to be excluded, is not ruled out. It reads one sentence at a time and knows no
grammar: its accuracy is measured, not assumed.
"""

from __future__ import annotations

import re

_END = re.compile(
    r"(?<!\bDr)(?<!\bProf)(?<!\bM)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bca)(?<!\bz\.B)(?<!\bz\."
    r" B)[.!?](?=\s|$)|[;\n]"
)
"""Where a sentence ends."""

_STOP = re.compile(
    r"\b(?:but|however|although|though|yet|except|therefore|thus|hence|because|since|while|whereas|leaving|so"
    r"|aber|jedoch|sondern|obwohl|daher|deshalb|somit|sodass|weil|denn|während|hingegen|dagegen|außer|dennoch)\b"
    r"|, and\b|, und\b",
    re.IGNORECASE,
)
"""At these words the reach of a cue ends."""

_OPEN = re.compile(
    r"\b(?:can(?:not| not|'t)|could(?: not|n't)|not (?:yet )?(?:been )?|not"
    r" be|never|nicht|kaum|noch nicht"
    r"|(?:should|must|needs? to|has to|have to|remains? to|yet"
    r" to|to|until|unless|if|once|whether|before)\b[^,]{0,20}"
    r"|muss|müssen|sollte[n]?|soll|falls|wenn|ob|bevor|solange|um|zum)\s*(?:\w+\s+){0,3}?$",
    re.IGNORECASE,
)
"""Before 'ruled out' and its like: it has not happened, or was not possible."""

_FIRM_BEFORE = re.compile(
    r"\b(?:no (?:\w+ )?(?:evidence|signs?|indications?|suspicion|proof|support|features?)"
    r" (?:of|for|that)"
    r"|(?:rules?|ruled|ruling) out|(?:can|could|may|we|i) (?:safely"
    r" )?(?:exclude|reject|dismiss|discard)"
    r"|exclud(?:es|ing)|(?:exclusion|absence|lack) of|negative for|free of|instead of|rather than"
    r"|(?:argues?|speaks?|evidence|points?) against|neither|inconsistent with|not"
    r" (?:consistent|compatible) with"
    r"|kein(?:e|en|er|em|es)?(?: \w+)?"
    r" (?:anhalt|anhaltspunkte?|hinweise?|zeichen|nachweis|beleg|verdacht|evidenz)"
    r"(?: für| auf| von)?|(?:nach )?ausschluss (?:von|der|des|einer|eines)|schlie(?:ß|ss)(?:t|en)"
    r"|spr(?:icht|echen) gegen|gegen|statt|anstatt|anstelle|weder"
    r"|ausgeschlossen (?:wurden?|werden|sind|ist|:))\b",
    re.IGNORECASE,
)
"""Cues that rule out what follows, a list of diseases included."""

_NEAR_BEFORE = re.compile(
    r"\b(?:no|not|without|denies|nor|kein(?:e|en|er|em|es)?|nicht|ohne)\s+(?:[\w'’-]+\s+){0,2}$",
    re.IGNORECASE,
)
"""Cues that rule out what follows at once."""

_NOT_EVEN = re.compile(
    r"\b(?:not only|not just|no doubt|no other|without (?:a )?doubt|nicht nur|ohne"
    r" zweifel|zweifellos)\b",
    re.IGNORECASE,
)
"""Phrases that look like a negation and are none."""

_AFTER = re.compile(
    r"\b(?:ruled out|excluded|discarded|dismissed|rejected|abandoned|not (?:present|supported|the"
    r" (?:diagnosis|cause))"
    r"|(?:does|do|did) not (?:fit|match|explain)|(?:is|was|are|were) absent|(?:is|was) negative"
    r"|ausgeschlossen|ausschließen|verworfen|scheide[nt] aus|nicht (?:vor\b|nachweisbar|infrage|in"
    r" frage|in betracht)"
    r"|(?:kommt|kommen) (?:daher |somit )?nicht in (?:frage|betracht)|passt nicht"
    r"|(?:ergibt|ergab|findet|fand) sich (?:\w+ )?nicht)",
    re.IGNORECASE,
)
"""Cues that rule out what stands before them."""

_DONE = ("ruled", "excl", "disc", "dism", "rej", "aban", "ausg", "aussch", "verw")
"""What can be outstanding or impossible, of the cues that follow."""

_VERB = re.compile(
    r"\b(?:is|are|was|were|remains?|seems?|fits|explains?|has|ist|sind|war|waren|bleibt|passt|erklärt|liegt)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:was|were|is|are|been|be|being)\s+(?:\w+\s+)?$", re.IGNORECASE)


def sentence_at(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands in the sentence before and after a place.

    >>> sentence_at("No fever. Dr. A suspects gout today. Rest.", 25, 29)
    (' Dr. A suspects ', ' today')
    """
    first = max((m.end() for m in _END.finditer(text) if m.end() <= start), default=0)
    last = next((m.start() for m in _END.finditer(text, end)), len(text))
    return text[first:start], text[end:last]


def is_ruled_out(text: str, start: int, end: int) -> bool:
    """Whether the sentence rules out what it names from `start` to `end`.

    >>> absent, possible = "No evidence of gout.", "Gout cannot be ruled out."
    >>> is_ruled_out(absent, 15, 19), is_ruled_out(possible, 0, 4)
    (True, False)
    """
    before, after = sentence_at(text, start, end)
    return _before(before) or _behind(before, after)


def _before(before: str) -> bool:
    stops = [m.end() for m in _STOP.finditer(before)]
    reach = before[stops[-1] :] if stops else before
    reach = _NOT_EVEN.sub(lambda m: " " * len(m.group()), reach)
    if _NEAR_BEFORE.search(reach):
        return True
    for cue in _FIRM_BEFORE.finditer(reach):
        word, rest = cue.group().lower(), reach[cue.end() :]
        if _VERB.search(rest) or (
            _OPEN.search(reach[: cue.start()]) and not word.startswith(("gegen", "kein", "no "))
        ):
            continue
        if word.endswith("out") and (
            _PASSIVE.search(reach[: cue.start()]) or not reach[: cue.start()].strip()
        ):
            # "was ruled out, X": what was ruled out stands before; "Rule out X": it is to be
            # examined
            continue
        if word.startswith("schlie") and not re.search(r"\S", rest):
            continue
        return True
    return False


def _behind(before: str, after: str) -> bool:
    stop = _STOP.search(after)
    reach = after[: stop.start()] if stop else after
    if re.match(r"[^,]*\b(?:nicht|kein\w*)\s*$", reach) and re.search(
        r"\b(?:hinweis|anhalt|nachweis)", before, re.IGNORECASE
    ):
        return True
    if re.search(r"\bschlie(?:ß|ss)(?:t|en)\b", before, re.IGNORECASE) and re.match(
        r"[^,]*\baus\b", reach
    ):
        return not _OPEN.search(before)
    for cue in _AFTER.finditer(reach):
        between = reach[: cue.start()]
        if "," in between and _VERB.search(between[: between.rindex(",") + 1]):
            continue
        if not (cue.group().lower().startswith(_DONE) and _OPEN.search(between)):
            return True
    return False
