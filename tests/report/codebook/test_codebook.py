"""The codebook to print: the words of page and prompt, nothing else's, the same bytes every
time."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from reportlab.lib.pagesizes import A4
from reportlab.platypus import Flowable

from konsil.cli.main import group
from konsil.errors import StudyError
from konsil.instrument import Criterion, Instrument, Scale, digest
from konsil.instrument.screens.parity import parity_of
from konsil.instrument.screens.prompt import prompt
from konsil.instrument.screens.screen import screen
from konsil.records import Answer, Item, Task
from konsil.report.codebook.codebook import codebook_page
from konsil.report.codebook.codebook_pdf import MARGIN, codebook_pdf, unprintable
from konsil.study import Study

BOOK = """# Anleitung

Urteilen Sie **streng** <script>alert(1)</script> & *ohne Ansehen*.

- Synonyme sind richtig
  1. auch Abkürzungen
  2. auch Fremdwörter

> Im Zweifel enthalten.

| Antwort | Urteil |
|---|---|
| Leber ≥ 3 µg | Richtig |

```
a < b
```

---

Siehe [Leitlinie](https://example.org/?a=1&b=2) und `code`.
"""
FORM = Instrument(
    "form",
    (
        Criterion(
            "right",
            "Ist die Antwort richtig?",
            Scale(("Falsch", "Richtig"), abstain="Keine Angabe"),
            guidance="Jede für sich,\nauch lange & <kurze>.",
        ),
        Criterion("grade", "Wie gut ist sie?", Scale(kind="number", low=0, high=10)),
    ),
    BOOK,
    role="Sie sind Gutachterin.",
    language="de",
)
OTHER = Instrument("other", (Criterion("c", "Is it safe?", Scale(("no", "yes"))),))
STUDY = Study("Eine Studie <&>", 1, language="de", instruments=(FORM, OTHER))


def text_of(html: str) -> str:
    return unescape(
        re.sub(r"<[^>]+>", "\n", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))
    )


def test_the_page_has_every_word_that_a_judge_gets_but_the_role() -> None:
    html = codebook_page(STUDY, STUDY.instruments)
    text = text_of(html)
    for one in STUDY.instruments:
        made = prompt(
            screen(
                one,
                Task("t", "", "", one.id, "i", ("a",)),
                Item("i", "?"),
                {"a": Answer("a", "i", "s", "x")},
            ),
            "t",
        )
        for criterion in one.criteria:
            for said in (criterion.question, criterion.guidance, *criterion.scale.options()):
                assert said in text
                assert said in made.system
        assert digest(one) in text
    assert "eine Zahl von 0 bis 10" in text
    assert "Gutachterin" not in html
    assert parity_of(FORM).missing == ()


def test_the_page_stands_by_itself_and_is_harmless() -> None:
    html = codebook_page(STUDY, STUDY.instruments)
    assert "<script" not in html
    assert not re.search(r"<link|<img|src=|@import|url\(", html)
    assert '<html lang="de">' in html
    assert 'lang="en"' in html
    assert html == codebook_page(STUDY, STUDY.instruments)


def test_the_pdf_has_text_bookmarks_and_a_language() -> None:
    made = codebook_pdf(STUDY, STUDY.instruments)
    assert made.startswith(b"%PDF")
    assert made == codebook_pdf(STUDY, STUDY.instruments)
    assert b"/Outlines" in made
    assert b"/Lang" in made
    assert b"/StructTreeRoot" not in made, (
        "once it is tagged, docs/howto-pages.md and the command's help say otherwise"
    )
    assert unprintable(STUDY, STUDY.instruments) == ()


def test_the_text_of_the_pdf_fills_its_pages_up_to_the_margins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever has the size of a page within its margins stands on one."""
    rooms: list[tuple[float, float]] = []

    class Box(Flowable):  # type: ignore[misc]
        def wrap(self, width: float, height: float) -> tuple[float, float]:
            rooms.append((width, height))
            return width, height

        def draw(self) -> None:
            rooms.append(self.canv.absolutePosition(0, 0))

    monkeypatch.setattr("konsil.report.codebook.codebook_pdf._story", lambda *_: [Box()])
    codebook_pdf(STUDY, STUDY.instruments)
    size, corner = rooms
    assert size == pytest.approx((A4[0] - 2 * MARGIN, A4[1] - 2 * MARGIN))
    assert corner == pytest.approx((MARGIN, MARGIN))


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext on this machine")
def test_the_pdf_says_what_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    path.write_bytes(codebook_pdf(STUDY, STUDY.instruments))
    told = subprocess.run(
        ["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True
    ).stdout
    found = set(re.findall(r"\w+|[^\w\s]", told))
    wanted = set(re.findall(r"\w+|[^\w\s]", text_of(codebook_page(STUDY, STUDY.instruments))))
    # The page's small heading is set in capitals.
    assert wanted - found <= {"Leitfaden"}


def test_signs_that_the_font_lacks_are_told() -> None:
    odd = Instrument("odd", (Criterion("c", "好?", Scale(("no", "yes"))),))
    assert unprintable(STUDY, (odd,)) == ("好",)


def test_the_command_writes_both(tmp_path: Path) -> None:
    run = CliRunner()
    folder = str(tmp_path / "study")
    run.invoke(
        group, ["new", folder, "--protocol", "medqade", "--language", "de"], catch_exceptions=False
    )
    pdf = tmp_path / "prints" / "book.pdf"
    told = run.invoke(
        group, ["codebook", folder, "--pdf", str(pdf)], catch_exceptions=False
    ).output.splitlines()
    assert told == [f"{folder}/codebook.html", str(pdf)]
    assert "Keine Angabe" in Path(told[0]).read_text("utf-8")
    assert pdf.read_bytes().startswith(b"%PDF")
    with pytest.raises(StudyError, match=r"no instrument 'medqad'; did you mean 'medqade'\?"):
        run.invoke(group, ["codebook", folder, "--instrument", "medqad"], catch_exceptions=False)
