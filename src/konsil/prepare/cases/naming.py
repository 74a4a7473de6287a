"""Where a text names a thing: by its name, another form or order, short or misspelt.

It is a program that reads, not a person: `negation` and `homonyms` tell what it knows of what is
ruled out and of what else a word may mean. What it finds is shown to people (`leftovers`) or
measured against people's own reading (the program that rates).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, get_args

from konsil.prepare.text.spelling import Likeness, Word, folded_word, likeness, words_in

Way = Literal["named", "form", "abbreviation", "misspelt", "part"]
"""The name itself; its words inflected, compounded or in another order; its abbreviation; nearly
its letters; some of its words. Surer ways stand first."""

_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*")
# Words that say nothing of which disease it is; English and German, as `folded_word` has them.
_GENERAL = frozenset(
    folded_word(word)
    for line in (
        (
            "a an and as at by due for from in of on or s the to with without associated related"
            " type typ syndrome"
        ),
        (
            "syndrom syndromes disease diseases disorder condition morbus krankheit erkrankung der"
            " die das des dem"
        ),
        (
            "den und oder mit ohne bei von vom zu im am durch infolge acute akut akute akuter"
            " akutes chronic"
        ),
        (
            "chronisch chronische chronischer chronisches primary primär primäre primärer secondary"
            " sekundär"
        ),
        "sekundäre sekundärer stage grade stadium grad form subtype variant variante",
    )
    for word in line.split()
)
_PARTIAL = 6
"""Letters that a word needs to be told as a part of a name, or to be looked for within other
words."""
_CLIPPED = frozenset(
    folded_word(word)
    for line in (
        (
            "ago auto bio cardio kardio endo gastro hämato hemato hepato hyper hypo immuno leuko"
            " leuco makro macro mikro"
        ),
        (
            "micro mono myelo neo nephro neuro onko onco osteo patho pneumo pro psycho pulmo radio"
            " rheuma thrombo thyreo"
        ),
        "thyro uro",
    )
    for word in line.split()
)
"""Words of the clinic's everyday language that are beginnings of many names; as such they say
nothing of one."""
_LIKE: dict[Likeness, Way] = {"same": "named", "form": "form", "misspelt": "misspelt"}


@dataclass(frozen=True)
class Name:
    """What is looked for."""

    text: str
    """The name."""
    short: bool = False
    """Whether it is an abbreviation: then its capitals count, and nothing is like it."""
    way: Way = field(default="named", compare=False)
    """How finding it in its own letters is told."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The folded words that say what it is; all of them where none does."""
        folded = tuple(dict.fromkeys(w.folded for w in words_in(self.text)))
        telling = tuple(w for w in folded if w not in _GENERAL and (len(w) > 1))
        return telling or folded


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a text names something."""

    start: int
    """Where it begins in the text."""
    end: int
    """Where it ends."""
    name: str
    """What is named."""
    way: Way
    """How."""


def names_of(texts: Iterable[str]) -> tuple[Name, ...]:
    """Names as they are given, with those in brackets and the initials of three words.

    Each of them is a name of its own.

    >>> [name.text for name in names_of(["systemic lupus erythematosus (SLE)"])]
    ['systemic lupus erythematosus', 'SLE']
    """
    name_by_text: dict[str, Name] = {}
    for text in texts:
        inside = [part for part in _BRACKETS.findall(text) if part.strip()]
        for candidate in (_BRACKETS.sub(" ", text), *inside):
            plain_text = spoken(candidate)
            if plain_text and words_in(plain_text):
                name_by_text.setdefault(plain_text, Name(plain_text, is_short(plain_text)))
        initials = "".join(
            w.text[0] for w in words_in(_BRACKETS.sub(" ", text)) if w.folded not in _GENERAL
        ).upper()
        if len(initials) > 2 and initials.isalpha():
            name_by_text.setdefault(initials, Name(initials, short=True, way="abbreviation"))
    return tuple(name_by_text.values())


def spoken(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def is_short(text: str) -> bool:
    """Whether a name is an abbreviation.

    An abbreviation is one word of up to six letters and digits, most of them capitals.

    >>> is_short("SLE"), is_short("HbA1c"), is_short("Gout"), is_short("MS")
    (True, True, False, True)
    """
    return (
        " " not in text
        and len(text) <= 6
        and sum(c.isupper() or c.isdigit() for c in text) > len(text) / 2
    )


def mentions(text: str, names: Sequence[Name]) -> tuple[Mention, ...]:
    """Where a text names any of these, in the text's order.

    Of mentions at the same words only the surest is given.

    >>> text = "Cutaneous sarcoid; Sarkoidose Stadium II."
    >>> [(m.way, m.start) for m in mentions(text, names_of(["sarcoidosis"]))]
    [('part', 10), ('form', 19)]
    """
    words = words_in(text)
    candidates = [
        mention
        for name in names
        for mention in (_short(words, name) if name.short else _long(words, name))
    ]
    candidates.sort(key=lambda m: (get_args(Way).index(m.way), m.start - m.end, m.start))
    retained: list[Mention] = []
    for mention in candidates:
        if not any(mention.start < k.end and k.start < mention.end for k in retained):
            retained.append(mention)
    return tuple(sorted(retained, key=lambda m: m.start))


def _short(words: Sequence[Word], name: Name) -> Iterator[Mention]:
    for word in words:
        if word.text in (name.text, name.text + "s"):
            yield Mention(word.start, word.end, name.text, name.way)
        elif (
            len(name.text) >= 3
            and word.text[:1].islower()
            and word.text[1:] in (name.text, name.text + "s")
        ):
            yield Mention(word.start, word.end, name.text, "part")  # a kind of it, as in iTTP


def _long(words: Sequence[Word], name: Name) -> Iterator[Mention]:
    joined = "".join(name.words)
    for first, second in pairwise(words):
        if any(_is_short_compound(first, second, name_word) for name_word in name.words):
            yield Mention(first.start, second.end, name.text, "abbreviation")
    at = [_places(words, n, name.words) for n in range(len(words))]
    for n, word in enumerate(words):
        compound = _way(word.folded, joined) if len(name.words) > 1 else None
        if compound is not None and compound != "part":
            yield Mention(
                word.start, word.end, name.text, "misspelt" if compound == "misspelt" else "form"
            )
        for other in words[n + 1 : n + 3]:
            if _of_two(word.folded, other.folded, joined):
                yield Mention(word.start, other.end, name.text, "form")
        mention = _from(words, at, n, name) if at[n] else None
        if mention is not None:
            yield mention


def _is_short_compound(first: Word, second: Word, name_word: str) -> bool:
    """Whether an abbreviation and a word are a compound word in short: NNR-Insuffizienz."""
    head = second.folded
    if not (first.text.isupper() and 2 <= len(first.text) <= 5 and second.start == first.end + 1):
        return False
    if len(head) < _PARTIAL or not name_word.endswith(head) or len(name_word) <= len(head):
        return False
    letters = iter(name_word[: len(name_word) - len(head)])
    return name_word.startswith(first.folded[:1]) and all(
        letter in letters for letter in first.folded
    )


def _places(words: Sequence[Word], n: int, name_words: Sequence[str]) -> dict[int, tuple[Way, int]]:
    """Which words of a name the n-th word of a text may be: how, and with which word it ends."""
    way_by_place: dict[int, tuple[Way, int]] = {}
    folded = words[n].folded
    both = folded + words[n + 1].folded if n + 1 < len(words) else ""
    for place, name_word in enumerate(name_words):
        way = _way(folded, name_word)
        if (
            (way is None or way == "part")
            and len(name_word) >= _PARTIAL
            and likeness(both, name_word) in ("same", "form")
        ):
            way_by_place[place] = ("form", n + 1)  # Tako-tsubo, neuro-fibromatosis
        elif way is not None:
            way_by_place[place] = (way, n)
    return way_by_place


def _from(
    words: Sequence[Word], at: Sequence[dict[int, tuple[Way, int]]], n: int, name: Name
) -> Mention | None:
    """The mention that begins at a word of the text: of the whole name, or of a part of it."""
    name_words = name.words
    way_by_place: dict[int, Way] = {}
    last, m, gap = n, n, 0
    while m < len(words) and len(way_by_place) < len(name_words):
        new = next((place for place in at[m] if place not in way_by_place), None)
        if new is None:
            gap += words[m].folded not in _GENERAL
            if gap > len(name_words) - 2:
                break
        else:
            way_by_place[new], m = at[m][new]
            last = m
        m += 1
    ways = set(way_by_place.values())
    start, end = words[n].start, words[last].end
    if len(way_by_place) < len(name_words) or "part" in ways:
        telling = 2 * len(way_by_place) >= len(name_words) and any(
            len(name_words[place]) >= _PARTIAL for place in way_by_place
        )
        return Mention(start, end, name.text, "part") if telling else None
    ordered = list(way_by_place) == sorted(way_by_place) and not gap
    if ways == {"named"} and ordered:
        return Mention(start, end, name.text, name.way)
    return Mention(start, end, name.text, "misspelt" if "misspelt" in ways else "form")


@lru_cache(maxsize=65_536)
def _way(word: str, name_word: str) -> Way | None:
    """How a word of a text is a word of a name.

    It is the word itself, the word within a compound, or only its beginning.
    """
    like = likeness(word, name_word)
    if like is not None:
        return _LIKE[like]
    if len(name_word) >= _PARTIAL and len(word) > len(name_word) and name_word in word:
        return "form"
    stem = name_word[: len(name_word) - 1] if name_word[-1:] in "aems" else name_word
    if (
        len(stem) >= _PARTIAL
        and len(word) > len(stem) + 1
        and (word.startswith(stem) or word.endswith(stem))
    ):
        return "form"
    clipped = word.removesuffix("s")
    if clipped in _CLIPPED:
        return None
    if clipped.endswith("o") and len(clipped) >= 3 and len(name_word) >= len(clipped) + 5:
        return "part" if name_word.startswith(clipped) else None  # Phäo
    return (
        "part"
        if len(word) >= _PARTIAL and len(name_word) > len(word) and name_word.startswith(word)
        else None
    )


def _of_two(word: str, other: str, joined: str) -> bool:
    """Whether two words of a text together are the name, in either order: Karzinom des Pankreas."""
    if (
        min(len(word), len(other)) < _PARTIAL - 2
        or abs(len(word) + len(other) - len(joined)) > _PARTIAL
    ):
        return False
    both = (
        first + link + last
        for first, last in ((word, other), (other, word))
        for link in ("", "s", "n")
    )
    return any(likeness(candidate, joined) in ("same", "form") for candidate in both)
