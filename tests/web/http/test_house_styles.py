"""What the rating page shows of an answer does not tell whose house style it is written in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.instrument.screens.rendering import show
from konsil.instrument.screens.words import words
from konsil.records import Answer, Citation
from konsil.web.rating.text.richtext import html_of, source_of

FORMS = {
    "bracket": r"\[\d+\]",
    "footnote": r"\[\^",
    "lenticular": "[【】†]",
    "superscript": "[⁰¹²³⁴⁵⁶⁷⁸⁹]",
    "caret": r"\^",
    "tag": r"&lt;/?sup",
    "author": r"\([^)]*\d{4}[a-z]?\)",
    "picture": "[\U0001f000-\U0001faff\ufe0f\u20e3☀-⛿]",
    "bullet": "[•‣◦▪●■–*+]",
    "bold line": r"<p><strong>[^<]*</strong>:?</p>",
    "range": r"\[\d+\s?[,-]\s?\d+\]",
    "apart": r"\]\s\[",
    "unspaced": r"[a-z]\[",
    **{f"h{n}": f"<h{n}" for n in range(1, 7)},
}
"""Every form that a mark, a bullet or a heading can have on the page, by a look at the HTML
alone."""


@dataclass(frozen=True)
class House:
    """How one system writes."""

    mark: Callable[[Sequence[int]], str]
    bullet: str
    heading: Callable[[str], str]


MARKS: tuple[Callable[[Sequence[int]], str], ...] = (
    lambda ns: " " + "".join(f"[{n}]" for n in ns),
    lambda ns: "".join(f"[{n}]" for n in ns),
    lambda ns: " " + " ".join(f"[{n}]" for n in ns),
    lambda ns: f" [{', '.join(map(str, ns))}]",
    lambda ns: "".join(f"[^{n}]" for n in ns),
    lambda ns: "".join(f"【{n}†source】" for n in ns),
    lambda ns: "".join(f"【{n}:0†a.pdf】" for n in ns),
    lambda ns: ",".join(str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) for n in ns),
    lambda ns: f"^{','.join(map(str, ns))}^",
    lambda ns: f"^[{','.join(map(str, ns))}]",
    lambda ns: f"<sup>{','.join(map(str, ns))}</sup>",
)
BULLETS = ("- ", "* ", "+ ", "• ", "– ", "🔹 ", "- 💊 ", "‣ ")
HEADINGS: tuple[Callable[[str], str], ...] = (
    lambda t: f"# {t}",
    lambda t: f"### {t}",
    lambda t: f"#### 🩺 {t}",
    lambda t: f"**{t}**",
    lambda t: f"__{t}__",
    lambda t: f"{t}\n---",
)
HOUSES = st.builds(
    House, st.sampled_from(MARKS), st.sampled_from(BULLETS), st.sampled_from(HEADINGS)
)
CITED = st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True).map(sorted)
CONTENT = st.lists(
    st.tuples(st.sampled_from(("Insulin lowers glucose", "Check potassium daily")), CITED),
    min_size=1,
    max_size=5,
)


def written(content: Sequence[tuple[str, Sequence[int]]], house: House) -> str:
    lines = "\n".join(f"{house.bullet}{text}{house.mark(cited)}." for text, cited in content)
    first, cited = content[0]
    return f"{house.heading('Therapy')}\n\n{first}{house.mark(cited)}.\n\n{lines}\n"


def page(text: str) -> str:
    citations = tuple(Citation(f"Source {n}", f"https://x.org/{n}") for n in range(1, 5))
    found = show(Answer("a", "i", "s", text, citations=citations), "", words("en"))
    return html_of(source_of(found.pieces)) + "\n".join(found.sources)


def forms(html: str) -> set[str]:
    return {name for name, pattern in FORMS.items() if re.search(pattern, html)}


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(CONTENT, HOUSES, HOUSES)
def test_forms_do_not_depend_on_the_system(
    content: Sequence[tuple[str, Sequence[int]]], one: House, other: House
) -> None:
    first, second = page(written(content, one)), page(written(content, other))
    assert forms(first) == forms(second) == {"bracket", "h3"}
    assert first == second


def test_authors_and_years_have_the_form_of_numbers() -> None:
    html = page(
        "Insulin lowers glucose (Smith et al., 2020). Check potassium (Lee and Kim 2019; Roe 2018)."
    )
    assert forms(html) == {"bracket"}
    assert "glucose [5]. Check potassium [6][7]." in html
    assert "[7] Roe 2018" in html


def test_bold_within_a_paragraph_is_no_heading() -> None:
    html = html_of("**Caution** with insulin.\n\n- **One**\n\n**" + ("long " * 30).strip() + "**")
    assert "<h3" not in html
    assert html.count("<strong>") == 3
    assert "<h3>Caution:</h3>" in html_of("**Caution:**")
