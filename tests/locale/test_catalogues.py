"""The catalogues: every text of pages and reports has its entry with the same gaps, and no entry is
left over."""

from __future__ import annotations

import ast
import io
import re
import string
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path

import jinja2
import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

import konsil
from konsil.analysis import known_statistics
from konsil.analysis.model.catalogue.known import CATALOGUE, WEIGHTS
from konsil.analysis.table.calls.outcomes import OUTCOMES
from konsil.design import wording
from konsil.errors.message import AND
from konsil.instrument.screens.injections import TEXTS
from konsil.instrument.screens.words import EN, Words, words
from konsil.locale import (
    SOURCE,
    catalogue_language,
    complete_languages,
    is_draft,
    languages,
    setting,
    translations,
)
from konsil.prepare.questions.prompts import PROMPTS, REASONS
from konsil.simulate.pretended import PLACEHOLDERS

ROOT = Path(konsil.__file__).parent
COMPLETE = ("de",)
"""Languages that have every text; any other is a draft, and what it lacks stays English."""
OTHERS = tuple(code for code in languages() if code != SOURCE)


@cache
def messages() -> list[tuple[str, str, str]]:
    """(place, template, message id) of every sentence that analyses, simulations and callers of the
    report make."""
    calls = []
    for path in ROOT.rglob("*.py"):
        text = path.read_text("utf-8")
        # Most modules make no sentence: they are not parsed.
        nodes = list(ast.walk(ast.parse(text))) if "message" in text else []
        imported = {
            a.name for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names
        }
        for node in nodes if "message" in imported or path.name == "message.py" else ():
            if (
                isinstance(node, ast.Call)
                and node.args
                and getattr(node.func, "id", "") == "message"
            ):
                first, place = node.args[0], f"{path.name}:{node.lineno}"
                ids = [
                    k.value.value
                    for k in node.keywords
                    if k.arg == "message_id" and isinstance(k.value, ast.Constant)
                ]
                if isinstance(first, ast.Constant):
                    calls.append((place, str(first.value), str(ids[0]) if ids else ""))
                else:
                    # Titles, sources, clusters, weights and outcomes are said by their own words.
                    assert isinstance(first, ast.Attribute | ast.Name), place
    return calls


@cache
def without_id() -> set[str]:
    """The older sentences, which are listed under their English text."""
    return {template for _, template, message_id in messages() if not message_id}


@cache
def with_id() -> dict[str, str]:
    """The sentences of the others."""
    return {message_id: template for _, template, message_id in messages() if message_id}


_GETTEXT = ("_", "gettext")
OWN_WORDS = {AND, *WEIGHTS, *OUTCOMES}


@cache
def of_the_report() -> set[str]:
    """Texts of the report's templates and modules."""
    environment = jinja2.Environment(
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True
    )
    found: set[str] = set()
    for path in (ROOT / "report" / "templates").glob("*.j2"):
        for _line, _function, message in environment.extract_translations(path.read_text("utf-8")):
            found.update([message] if isinstance(message, str) else [m for m in message or () if m])
    for path in (ROOT / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", getattr(node.func, "attr", "")) in _GETTEXT
            ):
                found.update(
                    str(one.value) for one in node.args[:1] if isinstance(one, ast.Constant)
                )
    return found


@cache
def of_the_pages() -> set[str]:
    """Texts of the pages' templates and modules; of a text with a plural its singular."""
    methods = [("templates/**.html", "jinja2.ext:babel_extract"), ("**.py", "python")]
    found = extract_from_dir(str(ROOT / "web"), methods)
    return {m if isinstance(m, str) else m[0] for _, _, m, _, _ in found}


def of_statistics() -> set[str]:
    """Titles and sentences of the statistics, where they come from, and when they are undefined."""
    ids = {f"statistic.{name}{part}" for name in known_statistics() for part in ("", ".text")}
    facts = {f for s in CATALOGUE.values() for f in (s.source, s.undefined, s.as_published) if f}
    return ids | facts


def of_forms() -> set[str]:
    """The words around an instrument's own."""
    return {f"form.{field.name}" for field in fields(Words)}


def of_new_studies() -> set[str]:
    """The words that a new study, or a rehearsal of one, begins with."""
    simulated = {f"rehearsal.{name}" for name in (*PLACEHOLDERS, "title", "sentence")}
    return simulated | {f"design.{name}" for name in wording.EN}


PROMPTED = {
    **{f"prompt.{step}": text for step, text in PROMPTS.items()},
    **{f"screening.{reason}": text for reason, text in REASONS.items()},
    **{f"injection.{kind}": text for kind, text in TEXTS.items()},
}
"""What models are told before the study, and instructions in control tasks."""


def used() -> set[str]:
    """Every text that a catalogue may have; errors and commands speak English alone."""
    sentences = without_id() | OWN_WORDS | {i for i in with_id() if not i.startswith("error.")}
    return (
        sentences
        | of_the_report()
        | of_the_pages()
        | of_statistics()
        | of_forms()
        | of_new_studies()
        | set(PROMPTED)
    )


def catalogue(code: str) -> Catalog:
    return read_po(
        io.BytesIO(files("konsil.locale").joinpath(f"{code}.po").read_bytes()), locale=code
    )


def texts(code: str) -> list[tuple[str, str]]:
    """(English text or identifier, text) of every entry; of one with a plural both forms."""
    found: list[tuple[str, str]] = []
    for message in catalogue(code):
        if isinstance(message.id, tuple):
            singular, plural = message.id
            found += [
                (singular, message.string[0]),
                *((plural, form) for form in message.string[1:]),
            ]
        elif message.id:
            found.append((message.id, message.string))
    return found


@pytest.mark.parametrize("code", COMPLETE)
def test_every_text_has_an_entry(code: str) -> None:
    have = {m.id[0] if isinstance(m.id, tuple) else m.id for m in catalogue(code) if m.id}
    assert len(have) > 1000
    assert sorted(used() - have) == []


@pytest.mark.parametrize("code", OTHERS)
def test_no_entry_is_left_over(code: str) -> None:
    have = {m.id[0] if isinstance(m.id, tuple) else m.id for m in catalogue(code) if m.id}
    assert sorted(have - used()) == []


@pytest.mark.parametrize("code", OTHERS)
def test_entries_keep_their_gaps_and_are_not_empty(code: str) -> None:
    for message, text in texts(code):
        assert text.strip(), message
        english = with_id().get(message, message)
        if message in of_forms():
            assert text.count("{}") == getattr(EN, message.removeprefix("form.")).count("{}")
        assert sorted(re.findall(r"%\(\w+\)s", text)) == sorted(
            re.findall(r"%\(\w+\)s", english)
        ), message
        if message in with_id() or message in without_id():
            assert gaps(text) == gaps(english), message
        if message in PROMPTED:
            assert gaps(text) == gaps(PROMPTED[message]), message


def gaps(text: str) -> list[tuple[str, str | None]]:
    """The gaps of a sentence; words that follow a number have forms of their own in each
    language."""
    return sorted(
        (name, form)
        for _, name, form, _ in string.Formatter().parse(text)
        if name and "|" not in name
    )


@pytest.mark.parametrize("code", OTHERS)
def test_words_that_follow_a_number_have_two_forms(code: str) -> None:
    sentences = [t for m, t in texts(code) if m in with_id() or m in without_id()]
    for text in (*without_id(), *with_id().values(), *sentences):
        names = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
        for number, *forms in (name.split("|") for name in names if "|" in name):
            assert number in names and len(forms) == 2, text


def test_german_has_the_signs_of_german_print() -> None:
    signs = set(string.printable) | set("äöüÄÖÜß„“‚‘–…’·±κβτε≤≥≠×−→↓†•⇞⇟√²ŷπ§%&α\u00a0\u202f\u2009")
    assert {m: set(t) - signs for m, t in texts("de") if not set(t) <= signs} == {}


def test_french_has_the_signs_of_french_print() -> None:
    """Narrow no-break spaces before ; ! ? % and in « », a no-break one before the colon, and no
    straight apostrophe."""
    wrong = re.compile(r"['\"]|[^\u202f][;!?»]|«[^\u202f]|[^\u00a0]:|[^\u202f]%(?!\()|\.\.\.")
    assert {m: t for m, t in texts("fr") if wrong.search(t.replace("%%", "%"))} == {}


def test_of_none_french_has_the_singular() -> None:
    count = ["%(num)s item", "%(num)s items"]
    assert [translations("fr").ngettext(*count, n) for n in (0, 1, 2)] == [
        count[0],
        count[0],
        count[1],
    ]


def test_a_language_has_its_conventions_in_its_head() -> None:
    """Kills: a head that is not read, or read for another language."""
    assert [setting("de", name, "?") for name in ("decimal", "between", "percent", "day")] == [
        ",",
        "; ",
        "\u202f%",
        "d. MMM y",
    ]
    assert (setting("de", "word"), setting("de", "latex")) == ("de-DE", "ngerman")
    assert setting("fr", "between") == "\u202f; "
    assert setting("fr", "latex", "british") == "british"
    assert setting(SOURCE, "decimal", ".") == "."


def test_words_of_forms_are_of_their_language_and_english_where_there_are_none() -> None:
    assert words("de-AT").answer == "Antwort {}"
    assert words("fr") == words("xx") == words("en-GB") == EN


@pytest.mark.parametrize("code", OTHERS)
def test_a_draft_calls_itself_one(code: str) -> None:
    assert is_draft(code) is (code not in COMPLETE)
    assert complete_languages() == (SOURCE, *COMPLETE)


def test_a_text_without_an_entry_stays() -> None:
    assert translations("de").gettext("no such text") == "no such text"
    assert translations(SOURCE).ngettext("one", "many", 2) == "many"


@pytest.mark.parametrize(
    ("code", "language"), [("de", "de"), ("DE_at", "de"), ("en-GB", "en"), ("xx", ""), ("", "")]
)
def test_the_language_of_a_code(code: str, language: str) -> None:
    assert catalogue_language(code) == language


def test_no_new_sentence_is_without_a_message_id() -> None:
    """The sentences that have none are those of a closed list; a sentence that goes is taken off
    it."""
    listed = (Path(__file__).parent / "sentences_without_id.txt").read_text("utf-8").splitlines()
    assert sorted(without_id()) == listed


def test_a_message_id_names_one_sentence() -> None:
    of: dict[str, set[str]] = {}
    for _, template, message_id in messages():
        if message_id:
            assert re.fullmatch(r"[a-z_]+\.[a-z_0-9]+", message_id), message_id
            of.setdefault(message_id, set()).add(template)
    assert {message_id: sorted(texts) for message_id, texts in of.items() if len(texts) > 1} == {}


NEVER_ONE = (
    "answers, in hours",  # always 100
    "times with some other system",
    "raters (fewer than",  # of fewer than two or three there is no interval to speak of
    "raters of {panel}",  # they are several
    "shuffles of the sentences",
    "scores of few cases",
    "times on each task",
    "systems, tau can",
)
"""What follows a number that is never one."""


def test_no_sentence_has_a_plural_after_a_number_that_can_be_one() -> None:
    counts = "n|m|items|raters|answers|systems|panels|rated|abstained|unreadable|excluded|ratings"
    after = re.compile(
        rf"(?<! of )\{{(?:{counts})(?::,|:\.0f|:\.2g)?\}} (?=[a-z]+s\b(?<! has)(?<! is)(?<!"
        r" was))(.*)",
        re.DOTALL,
    )
    found = [
        template
        for _, template, _ in messages()
        for words in after.findall(template)
        if not words.startswith(NEVER_ONE)
    ]
    assert sorted(found) == []


def test_words_of_a_new_study_are_of_its_language_with_as_many_choices() -> None:
    """Kills: lists of the catalogue that are one text, or have a choice too few."""
    german = wording.wording("de")
    assert german["yesno"] == ("Nein", "Ja")
    assert german["wins"] == "Gewinndifferenz, {panel}: {title}"
    assert wording.wording("fr") == wording.wording("en") == wording.EN
    for key, english in wording.EN.items():
        assert isinstance(german[key], type(english)), key
        if isinstance(english, tuple):
            assert len(german[key]) == len(english), key
        else:
            gaps = [sorted(re.findall(r"{\w+}", text)) for text in (german[key], english)]
            assert gaps[0] == gaps[1], key
