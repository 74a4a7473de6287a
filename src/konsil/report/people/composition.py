"""The compared material: lengths of answers, and rated items by specialty and theme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import quantiles

from konsil.analysis.table.columns import rating_columns
from konsil.report.figures.distributions import boxes, counts
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.svg_primitives import About
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.people.design_diagram import schemes
from konsil.report.people.patients import patients

SHOWN = ("specialty", "theme")
"""Strata of the items that have a figure."""
MOST = 40
"""Values of one stratum that are shown."""


def composition(material: Material) -> list[Drawing]:
    """Figures of the material of a study of comparisons.

    For all other studies only the patients of the cases, where the items state them.
    """
    if not any(c.scope == "pair" for c in material.criteria().values()):
        return [*patients(material)]
    return [*schemes(material), *_lengths(material), *_items(material), *patients(material)]


def _lengths(material: Material) -> Iterator[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    text_lengths = material.answer_lengths()
    by: dict[str, list[int]] = {}
    for answer in material.answers:
        if answer.id in text_lengths:
            by.setdefault(answer.system, []).append(text_lengths[answer.id])
    order = material.ordered_systems(by)
    if not by:
        return
    rows = [(s, (*_five(by[s]), sum(by[s]) / len(by[s]))) for s in order]
    about = About(
        key=anchor("lengths", "answers"),
        title=_("Lengths of the answers"),
        description="; ".join(f"{s} {numbers.count(round(ends[2]))}" for s, ends in rows),
        caption=material.caption(
            _(
                "Lengths of the answers in characters: median, middle half (box), 5th to 95th"
                " percentile (line), mean (diamond)."
            )
        ),
        stamp=material.stamp,
    )
    yield boxes(about, rows, numbers, axis=_("Characters"))


def _five(values: Sequence[int]) -> tuple[float, ...]:
    """The 5th, 25th, 50th, 75th and 95th percentile."""
    twentieths = (
        quantiles(values, n=20, method="inclusive") if len(values) > 1 else [float(values[0])] * 19
    )
    return tuple(twentieths[n] for n in (0, 4, 9, 14, 18))


def _items(material: Material) -> Iterator[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    rated = set(rating_columns(material.ratings).get_column("item").drop_nulls().unique())
    for name in SHOWN:
        values = Counter(
            i.strata[name] for i in material.items if i.id in rated and i.strata.get(name)
        )
        if not 2 <= len(values) <= MOST:
            continue
        bars = sorted(values.items(), key=lambda pair: (-pair[1], natural(pair[0])))
        word = name.replace("_", " ")
        about = About(
            key=anchor("items", name),
            title=_("Rated items by %(stratum)s") % {"stratum": word},
            description="; ".join(f"{value} {numbers.count(n)}" for value, n in bars),
            caption=material.caption(
                _("Items with at least one rating, by %(stratum)s.") % {"stratum": word}
            ),
            stamp=material.stamp,
        )
        yield counts(about, bars, numbers, axis=_("Items"))
