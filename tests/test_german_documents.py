"""The German documents: one voice, the words of the pages, and a way to each of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
GERMAN = sorted((ROOT / "docs").glob("de-*.md"))

AVOIDED = (
    "Richtermodell",
    "Auswertung",
    "Urteil",
    "Label",
    "Kodierbuch",
    "Stapel",
    "Prüfprotokoll",
    "einfrieren",
    "Ziehung",
    "gleichwertig",
    "Beurteilende",
    "Quote",
)
"""Words for which the German catalogue has another term."""
NOT_NEUTRAL = re.compile(r"\w[*:/_]innen\b|\bBewerter\b|\bExperten\b|\bTeilnehmer\b|\bsie/er\b")


def texts_of_the_catalogue() -> set[str]:
    with (ROOT / "src" / "konsil" / "locale" / "de.po").open("rb") as file:
        catalogue = read_po(file)
    return {
        form
        for message in catalogue
        for form in ([message.string] if isinstance(message.string, str) else message.string)
    }


def named(text: str) -> list[str]:
    """What stands in bold in a line of its own right, not as the question of an FAQ."""
    return [
        name.replace("\n", " ")
        for name in re.findall(r"\*\*([^*]+)\*\*", text)
        if not name.endswith(("?", "."))
    ]


@pytest.mark.parametrize("path", GERMAN, ids=lambda p: p.name)
def test_what_is_named_in_bold_is_on_the_pages_or_in_the_report(path: Path):
    known = texts_of_the_catalogue()
    unknown = [
        name
        for name in named(path.read_text("utf-8"))
        if name not in known and not any(text.startswith(f"{name}:") for text in known)
    ]
    assert not unknown


def test_the_guides_name_what_they_explain():
    assert len(named((ROOT / "docs" / "de-seiten.md").read_text("utf-8"))) > 25
    assert len(named((ROOT / "docs" / "de-bericht.md").read_text("utf-8"))) > 5


@pytest.mark.parametrize("path", GERMAN, ids=lambda p: p.name)
def test_german_documents_use_one_voice(path: Path):
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", path.read_text("utf-8"), flags=re.DOTALL)
    assert not [word for word in AVOIDED if re.search(rf"\b{word}", text)]
    assert not NOT_NEUTRAL.findall(text)
    assert not re.findall(r"\d %", text), "a no-break space belongs before the sign"
    assert '"' not in text, "quotation marks are „…“"
    assert not re.search(r"\b(du|dein|deine|dich|dir)\b", text)


@pytest.mark.parametrize("path", GERMAN, ids=lambda p: p.name)
def test_german_documents_are_linked_from_english_pages_and_the_site(path: Path):
    assert path.name in (ROOT / "README.md").read_text("utf-8")
    index = (ROOT / "docs" / "site" / "index.md").read_text("utf-8")
    assert re.search(rf"(?m)^{path.stem}$", index)
    english = [p for p in (ROOT / "docs").glob("*.md") if not p.name.startswith("de-")]
    assert any(f"]({path.name})" in p.read_text("utf-8") for p in english)
