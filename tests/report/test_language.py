"""Every word of the interface has a German form, and no German form is left over."""

from __future__ import annotations

import ast
import copy
import re
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
from konsil.report.language import DEUTSCH, ENGLISH, catalogue, language
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


def calls_of_say() -> list[tuple[str, str, str]]:
    """(place, template, message id) of every sentence that analyses, simulations and callers of the report make."""
    calls = []
    for path in ROOT.parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "from konsil.analysis.said import" in text else ():
            if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") == "say":
                first, place = node.args[0], f"{path.name}:{node.lineno}"
                ids = [
                    k.value.value for k in node.keywords if k.arg == "message_id" and isinstance(k.value, ast.Constant)
                ]
                if isinstance(first, ast.Constant):
                    calls.append((place, str(first.value), str(ids[0]) if ids else ""))
                else:
                    # Titles, sources, clusters, weights and outcomes are said by their own words.
                    assert isinstance(first, ast.Attribute | ast.Name), place
    return calls


def sentences_of_code() -> set[str]:
    """The templates of the older sentences, which are listed under their English text."""
    return {template for _, template, message_id in calls_of_say() if not message_id}


def identified() -> dict[str, str]:
    """Message id -> English template."""
    return {message_id: template for _, template, message_id in calls_of_say() if message_id}


def test_no_new_sentence_is_without_a_message_id() -> None:
    """The sentences that have none are those of a closed list; a sentence that goes is taken off it."""
    listed = (Path(__file__).parent / "sentences_without_id.txt").read_text("utf-8").splitlines()
    assert sorted(sentences_of_code()) == listed


def test_a_message_id_names_one_sentence() -> None:
    of: dict[str, set[str]] = {}
    for _, template, message_id in calls_of_say():
        if message_id:
            assert re.fullmatch(r"[a-z_]+\.[a-z_0-9]+", message_id), message_id
            of.setdefault(message_id, set()).add(template)
    assert {message_id: sorted(texts) for message_id, texts in of.items() if len(texts) > 1} == {}


def test_every_message_id_has_a_german_text_with_the_same_gaps_and_none_is_left_over() -> None:
    """Errors and commands speak English alone."""
    german = catalogue("de")
    wanted = {i: t for i, t in identified().items() if not i.startswith("error.")}
    assert sorted(wanted.keys() - german.keys()) == []
    assert sorted(german.keys() - wanted.keys()) == []
    for message_id, english in wanted.items():
        gaps = [sorted((name, form) for _, name, form, _ in string.Formatter().parse(text)
                       if name is not None and "|" not in name)
                for text in (english, german[message_id])]  # fmt: skip
        assert gaps[0] == gaps[1], message_id


def test_a_sentence_with_an_id_is_translated_by_it_and_falls_back_to_english() -> None:
    sentence = say("{n} intervals", message_id="interval.count", n=2)
    assert sentence.told(lambda text: {"interval.count": "{n} Intervalle"}.get(text, text), format) == "2 Intervalle"
    assert sentence.told(lambda text: text, format) == "2 intervals"
    assert copy.deepcopy(sentence).message_id == "interval.count"


def test_everything_analyses_say_has_a_german_form_and_none_is_left_over() -> None:
    own = {AND, *WEIGHTS, *OUTCOMES}
    assert len(sentences_of_code()) > 90
    assert sorted(sentences_of_code() - SAID.keys()) == []
    assert sorted(SAID.keys() - sentences_of_code() - own) == []
    assert own <= SAID.keys()


def test_german_sentences_keep_their_gaps() -> None:
    for english, german in SAID.items():
        gaps = [sorted((name, form) for _, name, form, _ in string.Formatter().parse(text)
                       if name is not None and "|" not in name)
                for text in (english, german)]  # fmt: skip
        assert gaps[0] == gaps[1], english


def test_every_source_has_a_german_form() -> None:
    used = {named.source for named in NAMED.values()} | {e.source for e in PLAIN.values()}
    assert used - {""} == SOURCES.keys()


def test_a_german_sentence_has_german_numbers() -> None:
    text = say("The resampling interval is {times:.2f} times as wide as the linearised one.", times=1.234)
    assert text == "The resampling interval is 1.23 times as wide as the linearised one."
    assert Numbers(DEUTSCH).told(text).startswith("Das Intervall aus den Ziehungen ist 1,23-mal")
    assert Numbers(DEUTSCH).told(
        say("{n:,} {n|rating|ratings} ({reason})", n=12345, reason=say("no time recorded"))
    ) == ("12\u202f345 Bewertungen (keine Zeit verzeichnet)")
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


def plural_gaps(text: str) -> list[list[str]]:
    """The gaps of words that follow a number: its name and the words' forms."""
    return [name.split("|") for _, name, _, _ in string.Formatter().parse(text) if name is not None and "|" in name]


def test_words_that_follow_a_number_have_two_forms_in_both_languages() -> None:
    texts = [*(t for t in identified().values()), *catalogue("de").values(), *SAID.keys(), *SAID.values()]
    for text in texts:
        numbers = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None and "|" not in name}
        for number, *forms in plural_gaps(text):
            assert number in numbers and len(forms) == 2, text


@pytest.mark.parametrize(
    ("n", "english", "german"),
    [
        (1, "1 item is excluded", "1 Item ist ausgeschlossen"),
        (2, "2 items are excluded", "2 Items sind ausgeschlossen"),
    ],
)
def test_one_is_told_in_the_singular(n: int, english: str, german: str) -> None:
    sentence = say("{n} {n|item is|items are} excluded", message_id="x.y", n=n)
    assert sentence == english
    in_german = {"x.y": "{n} {n|Item ist|Items sind} ausgeschlossen"}
    assert sentence.told(lambda text: in_german.get(text, text), format) == german


NEVER_ONE = (
    "answers.",  # always 100
    "raters are fewer than {few",  # of fewer than two or three there is no interval to speak of
    "times with some other system",
    "raters count like {effective",  # one rater is no large part of several
    "shuffles of the sentences",
    "scores of few cases",
    "times on each task",
    "systems have only",
)
"""What follows a number that is never one."""


def test_no_sentence_has_a_plural_after_a_number_that_can_be_one() -> None:
    counts = "n|m|items|raters|answers|systems|panels|rated|abstained|unreadable|excluded|ratings"
    after = re.compile(
        rf"(?<! of )\{{(?:{counts})(?::,|:\.0f|:\.2g)?\}} (?=[a-z]+s\b(?<! has)(?<! is)(?<! was))(.*)", re.DOTALL
    )
    found = [
        template
        for _, template, _ in calls_of_say()
        for words in after.findall(template)
        if not words.startswith(NEVER_ONE)
    ]
    assert sorted(found) == []
