"""What names of columns say: how well they fit a role or kind, and products of two lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from konsil.analysis.roles.vocabulary import (
    BELONGING,
    CODES,
    CRITERIA,
    DEGREES,
    GENDER,
    KEYS,
    LABELS,
    MAKERS,
    NEW_WORD,
    ORDINALS,
    PEOPLE,
    RANGE,
    RATED,
    SURNAMES,
    TEXT_WORDS,
    TITLES,
    WORDS,
    NameRole,
    TextRole,
    plain,
)

Kind = Literal["rater", "criterion", "item", "system", "label", "other"]
"""What several columns of a kind can be named for."""

_TITLE = re.compile(rf"({'|'.join(TITLES)})(\b|_)", re.IGNORECASE)
_OTHERS: tuple[NameRole, ...] = (
    *("group", "comment", "time", "confidence", "sum", "weight", "gold", "row", "repeat"),
    *("unit", "label"),
)


@cache
def words(name: str) -> tuple[str, ...]:
    """The words and numbers of a name, in small letters, without umlauts and ranges of values.

    >>> words("Fall-Nr."), words("raterName2"), words("Prüferin"), words("first score_1to4")
    (('fall', 'nr'), ('rater', 'name', '2'), ('prueferin',), ('1', 'score'))
    >>> words("Kodierer*in 2"), words("Prüfer(in)")
    (('kodierer', '2'), ('pruefer',))
    """
    spaced = NEW_WORD.sub(" ", RANGE.sub(" ", GENDER.sub("", name)))
    parts: list[str] = re.findall(r"[^\W\d_]+|\d+", plain(spaced))
    return tuple(ORDINALS.get(part, part) for part in parts)


@cache
def fit(name: str, role: NameRole | TextRole) -> float:
    """How well a name fits a role: 1 its last word or all, 0.7 another word, 0.5 the end of a word.

    >>> fit("rater_id", "rater"), fit("rater_id", "unit"), fit("question type", "unit")
    (1.0, 0.0, 0.7)
    """
    parts = [word for word in words(name) if not word.isdigit()]
    parts = parts[:-1] if len(parts) > 1 and len(parts[-1]) == 1 else parts
    fitting = TEXT_WORDS[role] if role in TEXT_WORDS else WORDS[role]  # type: ignore[index]
    if role in {"rater", "system"}:
        # Joined words: username, Modellname; and female raters.
        called = [word.removesuffix("name") or word for word in parts]
        parts = [
            word.removesuffix("in")
            if role == "rater" and word.removesuffix("in") in fitting
            else word
            for word in called
        ]
    if not parts:
        return 0.0
    # What is of a unit is none: the difficulty of the question is a group.
    parts = parts[
        : min(
            (
                parts.index(word, 1)
                for word in BELONGING
                if word in parts[1:] and parts[0] not in KEYS and role in {"unit", "group"}
            ),
            default=None,
        )
    ]
    if len(parts) > 1 and parts[-1] in KEYS:
        if set(parts[:-1]) & fitting:
            return 1.0
        if any(set(parts[:-1]) & others for others in WORDS.values()):
            return 0.0
    if "".join(parts) in fitting or parts[-1] in fitting:
        return 1.0
    # Before other words it denies them ("no finding"), or counts ("no of words").
    is_among = not fitting.isdisjoint(parts[parts[0] == "no" :])
    return 0.7 if is_among else 0.5 * any(word.endswith(_ends(role)) for word in parts)


@cache
def _ends(role: NameRole | TextRole) -> tuple[str, ...]:
    """The words for a role that are long enough to be the end of another word."""
    fitting = TEXT_WORDS[role] if role in TEXT_WORDS else WORDS[role]  # type: ignore[index]
    return tuple(word for word in fitting if len(word) > 3)


def is_numbered_name(name: str) -> bool:
    """Whether a column has no name in its file, but one by its number."""
    return re.fullmatch(r"column \d+", name) is not None


@cache
def stem(name: str) -> tuple[str, ...]:
    """The words of a name without numbers, and without a single letter at its end.

    >>> stem("ExpertA"), stem("Score 2"), stem("Coder1Text"), stem("A")
    (('expert',), ('score',), ('coder', 'text'), ())
    """
    parts = words(name)
    parts = parts[:-1] if len(parts[-1:]) and len(parts[-1]) == 1 else parts
    return tuple(word for word in parts if not word.isdigit())


def names_codes(name: str) -> bool:
    """Whether a column is named for codes, whose numbers are no measurements.

    >>> names_codes("diagnosis_code"), names_codes("PLZ"), names_codes("score"), names_codes("Code")
    (True, True, False, True)
    """
    return bool({*words(name)[-1:]} & CODES) or bool({*words(name)} & {"zip", "plz"})


def is_series(names: Sequence[str]) -> bool:
    """Whether names differ in a number, or in a letter at their end, alone.

    >>> is_series(["Score 1", "Score 2"]), is_series(["ExpertA", "CDC"]), is_series(["A", "B"])
    (True, False, False)
    """
    stems = {stem(name) for name in names}
    return len(names) > 1 and len(stems) == 1 and stems != {()}


@cache
def best_fit(name: str, roles: tuple[NameRole, ...]) -> float:
    """How well a name fits the role that it fits best."""
    return max(fit(name, role) for role in roles)


@cache
def kinds(name: str) -> Mapping[Kind, float]:
    """What a column could be named for, if it is in a family of columns: 0 to 1 for each kind.

    >>> kinds("Dr. Smith")["rater"], kinds("accuracy")["criterion"], kinds("gpt-4")["system"]
    (1.0, 1.0, 1.0)
    """
    letters = [word for word in words(name) if not word.isdigit()]
    is_numbered = len(words(name)) > len(letters)
    fits: dict[Kind, float] = dict.fromkeys(
        ("rater", "criterion", "item", "system", "label", "other"), 0.0
    )
    if not words(name):
        return fits
    fits["rater"] = _as_rater(name, letters)
    fits["criterion"] = _as_criterion(name, letters)
    if is_numbered and (fit(name, "unit") or re.fullmatch(r"[qiup][ _-]?\d+", name.strip(), re.I)):
        fits["item"] = 1.0
    if names_model(name) or fit(name, "system"):
        fits["system"] = 1.0
    if (letters and set(letters) <= LABELS | DEGREES) or (name.strip().isdigit() and len(name) < 3):
        fits["label"] = 1.0
    if fit(name, "label") == 1 and is_numbered:
        fits["rater"], fits["criterion"] = max(fits["rater"], 0.5), max(fits["criterion"], 0.5)
    if max(fits.values()) == 0 or fits["rater"] == 0:
        fits["other"] = best_fit(name, _OTHERS) * (fits["item"] == 0)
    if fits["criterion"] == _DOUBTFUL:
        fits["other"] = 0.7
    return fits


def names_model(name: str) -> bool:
    """Whether a name has a word that ends in the name of a known family of models.

    >>> [names_model(name) for name in ("gpt-4o", "DeepSeek-R1", "CodeLlama 7B", "Med-PaLM 2")]
    [True, True, True, True]
    >>> [names_model(name) for name in ("palmar erythema", "grokking")]
    [False, False]
    """
    return any(word.endswith(tuple(MAKERS)) for word in re.findall(r"[^\W\d_]+", plain(name)))


_DOUBTFUL = 0.4
"""A criterion's word that is not the last of its name: the safety of a statement is a certainty."""


def _as_rater(name: str, letters: Sequence[str]) -> float:
    text = name.strip()
    is_person = bool(set(letters) & PEOPLE) and len(letters) <= 3
    if _TITLE.match(text) and letters[-1] in WORDS["gold"]:
        return 0.5 * (letters[-1] in SURNAMES)
    if fit(name, "rater") == 1 or _TITLE.match(text) or "@" in text or is_person:
        return 1.0
    if len(letters) > 1 and letters[-1] in RATED and fit(" ".join(letters[:-1]), "rater") == 1:
        return 0.9 * (len(words(name)) > len(letters))
    if re.fullmatch(r"([rhje]|human)[ _-]?\d+", text, re.IGNORECASE) or _is_rater_with_name(text):
        return 0.9
    return 0.8 * bool(re.fullmatch(r"[A-Fa-f]|[A-Z]{2}", text))


def _is_rater_with_name(name: str) -> bool:
    """Whether a rater's number or letter, or a bracket, stands between the word and a name.

    >>> [_is_rater_with_name(n) for n in ("Rater A (Dr. Meier)", "Reader 2: KM", "Rater (Meier)")]
    [True, True, True]
    >>> _is_rater_with_name("Rater 1 accuracy"), _is_rater_with_name("Rater 1 date")
    (False, False)
    """
    first, *others = words(name) or ("",)
    number, *rest = others or [""]
    if "(" not in name and len(number) > 1 and not number.isdigit():
        return False
    rest = rest if len(number) == 1 or number.isdigit() else others
    is_open = bool(rest) and not CRITERIA & {*rest} and best_fit(" ".join(rest), _OTHERS) < 0.7
    return is_open and fit(first, "rater") == 1


def is_criterion(name: str) -> bool:
    """Whether a name is plainly that of a criterion.

    >>> is_criterion("factual accuracy"), is_criterion("safety statement"), is_criterion("rater 1")
    (True, False, False)
    """
    return _as_criterion(name, [word for word in words(name) if not word.isdigit()]) == 1


def _as_criterion(name: str, letters: Sequence[str]) -> float:
    if set(letters) & CRITERIA and len(letters) <= 3:
        return 1.0 if letters[-1] in CRITERIA or len(letters) == 1 else _DOUBTFUL
    # Without a number, a column of that name contains the names of criteria.
    is_numbered = len(words(name)) > len(letters)
    is_named = bool(fit(name, "criterion") or re.fullmatch(r"c[ _-]?\d+", name.strip(), re.I))
    return 0.7 * (is_numbered and is_named)


@dataclass(frozen=True)
class Product:
    """Names that are all the pairs of two lists, such as raters and criteria."""

    joint: str
    """What is between the two parts."""
    parts: Mapping[str, tuple[str, str]]
    """Name -> its two parts."""
    above: str = ""
    """What all names begin with."""
    end: str = ""
    """What all names end with."""

    def pattern(self, is_rater_first: bool) -> str:
        """The names as a pattern: '{rater}_{criterion}'."""
        sides = ("{rater}", "{criterion}")
        return self.above + self.joint.join(sides if is_rater_first else sides[::-1]) + self.end

    def words(self, name: str) -> tuple[str, str]:
        """What the two parts of a name are called: of R1Q2 'R1' and 'Q2'."""
        first, second = (part.strip() for part in self.parts[name])
        is_numbered = self.above.isalpha() and first.isdigit()
        has_word = any(map(str.isalpha, self.joint))
        return (
            self.above + first if is_numbered else first,
            self.joint.lstrip(_SIGNS) + second if has_word else second,
        )

    @property
    def is_clear(self) -> bool:
        """Whether its pattern splits the names as it does, where the joint occurs several times."""
        regex = pattern_regex(self.pattern(is_rater_first=True))
        matches = {name: regex.fullmatch(name) for name in self.parts}
        return all(m and m.groups() == self.parts[name] for name, m in matches.items())

    @property
    def is_crossed(self) -> bool:
        """Whether the names are all pairs of two lists, of which none has a single part."""
        firsts, seconds = ({pair[n] for pair in self.parts.values()} for n in (0, 1))
        n_pairs = len({*self.parts.values()})
        is_product = n_pairs == len(self.parts) == len(firsts) * len(seconds)
        return is_product and min(len(firsts), len(seconds)) > 1


_BRACKETS = ((" (", ")"), (" [", "]"), ("(", ")"), ("[", "]"))
_SIGNS = "_ -:/.|"
_JOINTS = ("_", " - ", ": ", "/", ".", "|", " ")


def product(names: Sequence[str]) -> Product | None:
    """Names as the product of two lists; None where they are no such product.

    >>> product(["A: tone", "A: harm", "B: tone", "B: harm"]).pattern(is_rater_first=True)
    '{rater}: {criterion}'
    >>> product(["Q1 (A)", "Q1 (B)", "Q2 (A)", "Q2 (B)"]).pattern(is_rater_first=False)
    '{criterion} ({rater})'
    >>> product(["R1Q1", "R1Q2", "R2Q1", "R2Q2"]).pattern(is_rater_first=True)
    'R{rater}Q{criterion}'
    >>> pain = ["pain rater 1", "pain rater 2"]
    >>> product([*pain, "grip force rater 1", "grip force rater 2"]).pattern(is_rater_first=False)
    '{criterion} rater {rater}'
    """
    for joint in _JOINTS:
        pairs_of_word = _around_word(names, joint)
        if pairs_of_word is not None:
            return pairs_of_word
    for joint, end in (*_BRACKETS, *((joint, "") for joint in _JOINTS)):
        if not all(joint in name and name.endswith(end) for name in names):
            continue
        inner = {name: name.removesuffix(end) for name in names}
        for above in ("", _above([*inner.values()], joint)):
            parts = {n: t.removeprefix(above).rpartition(joint)[::2] for n, t in inner.items()}
            pairs = Product(joint, parts, above, end)
            if pairs.is_crossed and pairs.is_clear:
                return pairs
        crossed = crossed_parts([*inner.values()], joint)
        if crossed is not None:
            return Product(joint, {name: crossed[text] for name, text in inner.items()}, end=end)
    return _numbered_product(names)


def _around_word(names: Sequence[str], joint: str) -> Product | None:
    """Names with one word before a number or letter at their end, as in 'pain rater 1'."""
    parts = {name: tuple(name.rsplit(joint, 2)) for name in names}
    pieces = [*parts.values()]
    if not all(len(piece) == 3 and re.fullmatch(r"\d+|[A-Za-z]", piece[2]) for piece in pieces):
        return None
    if len({piece[1] for piece in pieces}) > 1 or not pieces[0][1].isalpha():
        return None
    pairs = Product(
        f"{joint}{pieces[0][1]}{joint}", {name: (p[0], p[2]) for name, p in parts.items()}
    )
    return pairs if pairs.is_crossed and pairs.is_clear else None


_NUMBERED = re.compile(r"([^\W\d_]+)(\d+)([^\W\d_]+)(\d*)")


def _numbered_product(names: Sequence[str]) -> Product | None:
    """Names such as R1Q2, or rater1tone, with the numbers of one list or of both."""
    matches = {name: match for name in names if (match := _NUMBERED.fullmatch(name))}
    above = {match[1] for match in matches.values()}
    if len(matches) < len(names) or len(above) != 1:
        return None
    joints = {match[3] for match in matches.values()}
    joint = min(joints) if len(joints) == 1 and all(m[4] for m in matches.values()) else ""
    parts = {name: (m[2], m[4] if joint else m[3] + m[4]) for name, m in matches.items()}
    pairs = Product(joint, parts, min(above))
    return pairs if pairs.is_crossed and pairs.is_clear else None


def _above(names: Sequence[str], joint: str) -> str:
    """What all names begin with, up to a joint, and two parts are behind it."""
    heads = [name.split(joint)[:-2] for name in names]
    n = 0
    while all(head[: n + 1] == heads[0][: n + 1] and len(head) > n for head in heads):
        n += 1
    return joint.join([*heads[0][:n], ""])


def pattern_regex(pattern: str) -> re.Pattern[str]:
    """A pattern of names as a regular expression, with a group for each gap."""
    parts = re.split(r"\{(\w+)\}", pattern)
    return re.compile(
        "".join(f"(?P<{part}>.+?)" if n % 2 else re.escape(part) for n, part in enumerate(parts))
    )


def crossed_parts(names: Sequence[str], joint: str) -> dict[str, tuple[str, str]] | None:
    """Name -> its two parts, where the names are all the pairs of two lists; None where not.

    The parts may contain the sign between them, too: all names together decide where it joins.

    >>> crossed_parts(["Dr. A safe", "Dr. A all right", "Dr. B safe", "Dr. B all right"], " ")[
    ...     "Dr. B all right"
    ... ]
    ('Dr. B', 'all right')
    """
    first = names[0]
    places = [n for n in range(1, len(first)) if joint and first.startswith(joint, n)]
    for place in reversed(places):
        head, tail = first[: place + len(joint)], first[place:]
        seconds = [name.removeprefix(head) for name in names if name.startswith(head)]
        firsts = [name.removesuffix(tail) for name in names if name.endswith(tail)]
        parts = {a + joint + b: (a, b) for a in firsts for b in seconds}
        is_crossed = min(len(firsts), len(seconds)) > 1 and len(parts) == len(names)
        if is_crossed and parts.keys() == {*names}:
            return {name: parts[name] for name in names}
    return None


def named_parts(pattern: str, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Gap of a pattern -> name -> what is in the gap; names that it does not describe are left out.

    What joins two gaps may be in a part, too: then all names together decide where it joins.

    >>> named_parts("R{rater}_Q{criterion}", ["R1_Q2", "R2_Q2"])
    {'rater': {'R1_Q2': '1', 'R2_Q2': '2'}, 'criterion': {'R1_Q2': '2', 'R2_Q2': '2'}}
    """
    regex = pattern_regex(pattern)
    fitting = [name for name in names if regex.fullmatch(name)]
    pieces = re.split(r"\{(\w+)\}", pattern)
    crossed = None
    if fitting and len(pieces) == _TWO_GAPS:
        begin, first, joint, second, end = pieces
        inner = {name: name.removeprefix(begin).removesuffix(end) for name in fitting}
        crossed = crossed_parts(list(inner.values()), joint)
    if crossed is not None:
        parts = {name: crossed[text] for name, text in inner.items()}
        return {
            gap: {name: parts[name][n].strip() for name in fitting}
            for n, gap in enumerate((first, second))
        }
    matches = {name: regex.fullmatch(name) for name in fitting}
    return {
        gap: {name: match[gap].strip() for name, match in matches.items() if match}
        for gap in regex.groupindex
    }


_TWO_GAPS = 5
"""Pieces of a pattern with two gaps: what is before, between and behind them, and the gaps."""
