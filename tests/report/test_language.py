"""Every word of the interface has a German form, and no German form is left over."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import jinja2
import pytest

import konsil.report
from konsil.analysis import known_statistics
from konsil.analysis.catalogue import WEIGHTS
from konsil.analysis.outcomes import OUTCOMES
from konsil.analysis.said import AND, say
from konsil.report.analysis_de import SAID
from konsil.report.glossary import PLAIN
from konsil.report.language import DEUTSCH, ENGLISH, language
from konsil.report.messages_de import MESSAGES
from konsil.report.methods_de import SOURCES
from konsil.report.statistics_de import STATISTICS
from konsil.report.tables import Numbers
from konsil.stats.names import STATISTICS as NAMED

ROOT = Path(konsil.report.__file__).parent


def from_templates() -> set[str]:
    environment = jinja2.Environment(extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True)
    found: set[str] = set()
    for path in ROOT.glob("templates/*.j2"):
        for _line, _function, message in environment.extract_translations(path.read_text("utf-8")):
            found.update([message] if isinstance(message, str) else [m for m in message or () if m])
    return found


def from_modules() -> set[str]:
    found = set()
    for path in ROOT.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ("_", "gettext"):
                    found.add(str(node.args[0].value))
    return found


def test_every_message_has_a_german_form_and_none_is_left_over() -> None:
    used = from_templates() | from_modules()
    assert len(used) > 100
    assert sorted(used - MESSAGES.keys()) == []
    assert sorted(MESSAGES.keys() - used) == []


def said() -> set[str]:
    """The templates of everything that analyses, simulations and callers of the report say."""
    found = set()
    for path in ROOT.parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "from konsil.analysis.said import" in text else ():
            if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") == "say":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found.add(str(first.value))
                else:
                    # Titles, sources, clusters, weights and outcomes are said by their own words.
                    assert isinstance(first, ast.Attribute | ast.Name), f"{path.name}:{first.lineno}"
    return found


def test_everything_analyses_say_has_a_german_form_and_none_is_left_over() -> None:
    own = {AND, *WEIGHTS, *OUTCOMES}
    assert len(said()) > 90
    assert sorted(said() - SAID.keys()) == []
    assert sorted(SAID.keys() - said() - own) == []
    assert own <= SAID.keys()


def test_german_sentences_keep_their_gaps() -> None:
    for english, german in SAID.items():
        gaps = [sorted((name, form) for _, name, form, _ in string.Formatter().parse(text) if name is not None)
                for text in (english, german)]  # fmt: skip
        assert gaps[0] == gaps[1], english


def test_every_source_has_a_german_form() -> None:
    used = {named.source for named in NAMED.values()} | {e.source for e in PLAIN.values()}
    assert used - {""} == SOURCES.keys()


def test_a_german_sentence_has_german_numbers() -> None:
    text = say("The resampling interval is {times:.2f} times as wide as the linearised one.", times=1.234)
    assert text == "The resampling interval is 1.23 times as wide as the linearised one."
    assert Numbers(DEUTSCH).told(text).startswith("Das Intervall aus den Ziehungen ist 1,23-mal")
    assert Numbers(DEUTSCH).told(say("{n:,} ratings ({reason})", n=12345, reason=say("no time recorded"))) == (
        "12\u202f345 Bewertungen (keine Zeit verzeichnet)"
    )
    assert Numbers(DEUTSCH).told("a name") == "a name"


def test_every_statistic_has_a_german_form() -> None:
    assert sorted(set(known_statistics()) - STATISTICS.keys()) == []
    assert all(title and text.endswith(".") for title, text in STATISTICS.values())


def test_german_forms_keep_their_gaps() -> None:
    for english, german in MESSAGES.items():
        assert german.strip(), english
        for gap in [part.split(")s")[0] for part in english.split("%(")[1:]]:
            assert f"%({gap})s" in german, english
        assert german.count("%(") == english.count("%("), english
        assert set(german) <= set(string.printable) | set("äöüÄÖÜß„“–…’·±"), english


@pytest.mark.parametrize(
    ("code", "spoken"), [("de", DEUTSCH), ("de-AT", DEUTSCH), ("DE", DEUTSCH), ("en", ENGLISH), ("fr", ENGLISH)]
)
def test_language_of_a_code(code: str, spoken: object) -> None:
    assert language(code) is spoken
