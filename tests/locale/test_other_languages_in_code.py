"""No other language stands in code: a language is its catalogue, and code asks the catalogues which
there are."""

from __future__ import annotations

import ast
import io
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

import konsil
from konsil.locale import SOURCE, languages

ROOT = Path(konsil.__file__).parent
DOCUMENTS = Path(__file__).resolve().parents[2]
WORD = re.compile(r"[^\W\d_]{3,}")
CODES = set(languages()) - {SOURCE}
READING = {
    "analysis/roles/candidates/compared/preference_scales.py": "labels of users' preferences",
    "analysis/roles/candidates/compared/shown_order.py": "the heads and cells of users' tables",
    "analysis/roles/outcomes.py": "outcomes of comparisons in users' tables",
    "analysis/roles/vocabulary.py": "the heads and cells of users' tables",
    "collect/fake/fake_tokens.py": "greetings that a question begins with",
    "report/figures/drawing.py": "names of fonts",
    "design/questions.py": "parts of labels that a user typed",
    "instrument/screens/house_style.py": "references in answers, for masks",
    "instrument/screens/reply.py": "refusals in replies of models",
    "prepare/cases/homonyms.py": "names of diagnoses in case reports",
    "prepare/cases/leftovers.py": "verbs and names in case reports",
    "prepare/cases/naming.py": "names of diagnoses in case reports",
    "prepare/identifiers/fidelity.py": "numbers and units that a rewriting must keep",
    "prepare/identifiers/identifiers.py": "names, addresses and numbers of persons in questions",
    "prepare/identifiers/suspects.py": "turns of conversations in questions",
    "prepare/questions/clusters.py": "words that no theme is named by",
    "prepare/text/abbreviations.py": "abbreviations, after which no sentence ends",
    "prepare/text/drug_names.py": "endings of drugs' names",
    "prepare/text/given_names.py": "names of persons, and words that are none",
    "prepare/text/negation.py": "negations in case reports",
    "prepare/text/sentences.py": "words that a sentence begins with",
    "prepare/text/spelling.py": "spellings of one word in two languages",
    "report/people/composition.py": "ages in case reports",
    "sources/files/encoding.py": "letters that an encoding is recognised by",
    "sources/language/languages.py": "the languages that texts are told apart by",
}
"""Modules that recognise words of a language in texts of others, and which. None of these words is
addressed to a reader: a study in a third language works without them."""
ENGLISH = {"alter", "aux", "everitt", "fisher", "par", "sans"}
"""Names, and words of SQL, LaTeX and fonts, that a catalogue has as well."""


def constants(tree: ast.AST) -> list[tuple[int, str]]:
    """Line and text of every string but docstrings and doctests."""
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documentation
    ]


def words_of(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}


@cache
def trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }


@cache
def other_words() -> frozenset[str]:
    """Words of the catalogues of other languages that no English text has: not the documents, nor
    the keys of the catalogues, nor the docstrings."""
    other: set[str] = set()
    english = set(ENGLISH)
    for code in CODES:
        catalogue = read_po(io.BytesIO(files("konsil.locale").joinpath(f"{code}.po").read_bytes()))
        for message in catalogue:
            keys = message.id if isinstance(message.id, tuple) else (message.id,)
            texts = message.string if isinstance(message.string, tuple) else (message.string,)
            if any(keys):
                english |= words_of(" ".join(keys))
                other |= words_of(" ".join(texts))
    for path in [*DOCUMENTS.glob("*.md"), *DOCUMENTS.glob("docs/*.md")]:
        if not path.name.startswith("de-"):
            text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
            english |= words_of(text)
    for name, tree in trees().items():
        if name not in READING:
            for node in ast.walk(tree):
                for value in (getattr(node, "id", ""), getattr(node, "attr", "")):
                    english |= words_of(value.replace("_", " "))
            sentences = [text for _, text in constants(tree) if is_sentence(text)]
            english |= words_of(" ".join(sentences))
    return frozenset(other - english)


ARTICLES = {"the", "of", "and", "for", "with", "is", "are", "that", "by"}


def is_sentence(text: str) -> bool:
    """Whether a text is English by its small words: its other words count as English then."""
    # Of two letters, too, which `words_of` leaves out.
    small_words = ARTICLES & set(text.casefold().split())
    return bool(small_words) and not re.search("[äöüßÄÖÜ„]", text)


def breaches(tree: ast.AST, other: frozenset[str]) -> list[str]:
    """Texts with words of another language, and its code, each with its line."""
    return [
        f"{line}: {text[:80]!r}"
        for line, text in constants(tree)
        if text in CODES or words_of(text) & other or re.search("[äöüßÄÖÜ]{1}[a-zäöüß]{2}", text)
    ]


@pytest.mark.slow
def test_no_other_language_stands_in_code() -> None:
    wrong = {name: breaches(tree, other_words()) for name, tree in trees().items()}
    assert {name: lines for name, lines in wrong.items() if lines and name not in READING} == {}
    assert sorted(name for name in READING if not wrong[name]) == []


@pytest.mark.slow
def test_no_other_language_stands_in_templates() -> None:
    """Templates of pages and of the report: no code of a language, and no word of it."""
    pieces = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for folder in ("web/templates", "report/templates")
        for path in sorted((ROOT / folder).iterdir())
        if path.suffix in {".html", ".j2"}
    }
    assert len(pieces) > 40
    codes = re.compile(rf"""["'](?:{"|".join(sorted(CODES))})["']""")
    assert [name for name, text in pieces.items() if codes.search(text)] == []
    found = {name: words_of(text) & other_words() for name, text in pieces.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_planted_breaches_are_noticed() -> None:
    plants = (
        'WORD = "Satz" if language == "en" else "Sentence"',
        'def f(study):\n    return study.language == "de"',
        'TEXTS = {"rewrite": "Nenne die Diagnose."}',
        'NAME = "Prüfärztin"',
    )
    other = frozenset({"satz", "diagnose", "nenne"})
    assert [bool(breaches(ast.parse(plant), other)) for plant in plants] == [True] * len(plants)
    plain = 'def f():\n    """Satz."""\n    return "The sentence of “{name}”"'
    assert breaches(ast.parse(plain), other) == []
