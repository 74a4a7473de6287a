"""Where sentences end in German and English answers: konsil's rules against libraries, on texts cut
by hand.

    pip install syntok blingfire yasbd-lib sentencex pysbd numpy    # what is compared
    python benchmarks/sentences.py                                  # those that are installed

The texts are in tests/prepare/sentences: `de.txt` and `en.txt` were there while the rules were
written; the short `*.later.txt` and `*.fresh.txt` were written afterwards, and scored before
anything was changed. In a text a line break and the sign ‖ are boundaries, ↵ is a line break that
is none, and a line that begins with ∅ (a heading, a table's head) is no sentence. Boundaries are
compared by the number of letters before them, so that nobody is judged by what becomes of dashes,
stars and white space; F1 is over all boundaries inside the texts."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from konsil.prepare import sentences

TEXTS = Path(__file__).resolve().parents[1] / "tests" / "prepare" / "sentences"
LANGUAGES = ("de", "en")
SETS = ("", "later", "fresh")
"""The texts that the rules were written with, and two sets that were written when the rules
stood."""
Cut = Callable[[str, str], set[int]]
"""A text and its language -> the boundaries inside it."""
_MARK = re.compile(r"^[ \t]*(?:[-*]|\d+[.)]|[a-z]\))[ \t]+")


@dataclass(frozen=True)
class Text:
    """One answer, cut by hand."""

    text: str
    """The answer."""
    boundaries: frozenset[int]
    """Where sentences end or begin, as numbers of letters before it."""
    spoken: tuple[str, ...]
    """The sentences, without a list's marks."""


def letters(text: str) -> int:
    """How many letters a text has."""
    return sum(c.isalpha() for c in text)


def read(language: str, texts: str = "") -> Iterator[Text]:
    """The texts of a language."""
    file = TEXTS / f"{language}{f'.{texts}' if texts else ''}.txt"
    for block in file.read_text("utf-8").rstrip("\n").split("\n=====\n"):
        pieces, text, boundaries = [], "", set()
        for line in block.replace("↵\n", "\0").split("\n"):
            for piece in line.removeprefix("∅").split("‖"):
                text += piece.replace("\0", "\n")
                boundaries.add(letters(text))
                if piece.strip() and not line.startswith("∅"):
                    bare = re.sub(_MARK, "", piece, count=1).replace("\0", "\n").strip()
                    pieces.append(bare.strip("|").strip() if bare.startswith("|") else bare)
            text += "\n"
        yield Text(text.rstrip("\n"), frozenset(boundaries - {0, letters(text)}), tuple(pieces))


def score(cut: Cut, language: str, texts: str = "") -> tuple[int, int, int]:
    """Boundaries found, too many and missed."""
    hits = extra = missed = 0
    for one in read(language, texts):
        found = cut(one.text, language)
        hits += len(found & one.boundaries)
        extra += len(found - one.boundaries)
        missed += len(one.boundaries - found)
    return hits, extra, missed


def f1(hits: int, extra: int, missed: int) -> float:
    """F1 of boundaries."""
    return 2 * hits / (2 * hits + extra + missed)


def ours(text: str, _language: str) -> set[int]:
    """The boundaries that konsil sets."""
    found: set[int] = set()
    for span in sentences(text):
        # A list's a) is no sentence of its own, a heading before the span is.
        gap = text[: span.start].rpartition("\n")[2] if letters(text[: span.start]) else ""
        begins = letters(text[: span.start]) - (letters(gap) if _MARK.fullmatch(gap) else 0)
        found |= {begins, letters(text[: span.end])}
    return found - {0, letters(text)}


def _of(pieces: Callable[[str, str], list[str]], lines: bool) -> Cut:
    def cut(text: str, language: str) -> set[int]:
        found, n = set(), 0
        for part in text.split("\n") if lines else [text]:
            for piece in pieces(part, language):
                n += letters(piece)
                found.add(n)
        return found - {0, letters(text)}

    return cut


def peers() -> Mapping[str, Callable[[str, str], list[str]]]:
    """The libraries that are installed."""
    found: dict[str, Callable[[str, str], list[str]]] = {}

    def has(name: str) -> bool:
        try:
            importlib.import_module(name)
        except ImportError:
            return False
        return True

    if has("syntok"):
        import syntok.segmenter as syntok

        found["syntok"] = lambda t, _: [
            "".join(k.spacing + k.value for k in s)
            for paragraph in syntok.analyze(t)
            for s in paragraph
        ]
    if has("blingfire"):
        import blingfire

        found["blingfire"] = lambda t, _: blingfire.text_to_sentences(t).split("\n")
    if has("yasbd"):
        import yasbd

        detectors = {language: yasbd.BoundaryDetector(language) for language in LANGUAGES}
        found["yasbd-lib"] = lambda t, language: (
            list(detectors[language].segment(t)) if t.strip() else []
        )
    if has("sentencex"):
        import sentencex

        found["sentencex"] = lambda t, language: list(sentencex.segment(language, t))
    if has("pysbd"):
        import pysbd

        segmenters = {
            language: pysbd.Segmenter(language=language, clean=False) for language in LANGUAGES
        }
        found["pysbd"] = lambda t, language: segmenters[language].segment(t)
    return found


def main() -> None:
    """Print the table."""
    cuts: dict[str, Cut] = {"konsil": ours}
    for name, pieces in peers().items():
        cuts[name] = _of(pieces, lines=False)
        cuts[f"{name}, line by line"] = _of(pieces, lines=True)
    print("F1, precision and recall of boundaries")
    columns = [
        f"{name}{f', {texts}' if texts else ''}" for texts in SETS for name in ("German", "English")
    ]
    print(f"| | {' | '.join(columns)} |")
    print("|---|" + "---|" * len(columns))
    for name, cut in cuts.items():
        cells = []
        for texts in SETS:
            for language in LANGUAGES:
                hits, extra, missed = score(cut, language, texts)
                precision, recall = hits / (hits + extra), hits / (hits + missed)
                cells.append(f"{f1(hits, extra, missed):.2f} ({precision:.2f}, {recall:.2f})")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
