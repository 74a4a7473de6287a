"""Recommendations for the next study: designs for criteria, and systems in order under each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import AGREEMENT
from konsil.analysis.model.terms import WHOLE_ANSWER
from konsil.analysis.model.verdicts import (
    DesignEvidence,
    Recommendation,
    recommendations,
)
from konsil.errors.message import message
from konsil.report.designs.budgets import sentences_in_words
from konsil.report.material.comparisons import Support, comparisons
from konsil.report.material.overview import Material
from konsil.report.material.tables import MINUS, Cell, Table, table

COMMON = 0.9
"""Where one label makes up more than this under a design, agreement is no reason to take it."""
ABOVE, ABOVE_HERE, LEVEL = ">", "(>)", "≥"
"""Between two systems: shown to differ, by these raters only, or only estimated to."""


@dataclass(frozen=True)
class Compared:
    """One analysis' agreement under two designs."""

    analysis: Analysis
    first: Row
    """The first design's agreement."""
    second: Row
    """The second's."""
    minus: Row
    """First minus second, on the same resamples."""
    designs: tuple[str, str]
    """What they are called."""

    @property
    def has_dominant_category(self) -> bool:
        """Whether nearly all labels are the same under a design.

        Raters who read nothing then agree, too.
        """
        return (
            max(
                (r.commonest for r in (self.first, self.second) if not math.isnan(r.commonest)),
                default=0,
            )
            > COMMON
        )

    @property
    def is_derived(self) -> bool:
        """Whether the compared label combines several ratings, as 'wrong if any sentence is'."""
        return self.analysis.spans != "each"


def design_comparisons(
    analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> list[Compared]:
    """The analyses of agreement among a panel that compare two designs and no further groups."""
    comparisons = []
    for a in analyses:
        if (
            a.compare not in {"instrument", "design"}
            or a.by != (a.compare,)
            or a.statistic not in AGREEMENT
            or a.against
        ):
            continue
        estimates = {
            r.group[a.compare]: r
            for r in of[a.name]
            if r.kind == "estimate" and a.compare in r.group
        }
        minus = [r for r in of[a.name] if r.kind == "difference"]
        if len(minus) == 1 and len(estimates) == 2:
            names = (minus[0].group[a.compare], minus[0].versus[a.compare])
            comparisons.append(
                Compared(a, estimates[names[0]], estimates[names[1]], minus[0], names)
            )
    return comparisons


def evidence(
    material: Material, comparisons: Sequence[Compared], hours: Row | None
) -> DesignEvidence:
    """What one criterion's recommendation is decided by."""
    rated = [comparison for comparison in comparisons if not comparison.is_derived]
    sentences: Literal["first", "second", ""] = ""
    for place, design in zip(("first", "second"), comparisons[0].designs, strict=True):
        if _rates_sentences(material, design, comparisons[0].analysis.criterion):
            sentences = "first" if place == "first" else "second"
    return DesignEvidence(
        tuple(comparison.minus for comparison in rated),
        hours,
        sentences,
        any(comparison.has_dominant_category for comparison in rated or comparisons),
    )


def _rates_sentences(material: Material, instrument: str, criterion: str) -> bool:
    """Whether an instrument asks the criterion of sentences."""
    criteria = [c for i in material.study.instruments if i.id == instrument for c in i.criteria]
    return any(c.id == criterion and c.scope == "sentence" for c in criteria)


def hours_gaps(
    analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> dict[str, tuple[Analysis, Row]]:
    """Hours to a reliability with all sentences minus those with whole answers, by criterion."""
    gaps: dict[str, tuple[Analysis, Row]] = {}
    for a in (a for a in analyses if a.statistic == "rater_hours" and not a.by):
        minus = {int(r.group["sentences"]): r for r in of[a.name] if r.kind == "difference"}
        if minus:
            gaps.setdefault(a.criterion, (a, minus[max(minus)]))
    return gaps


def advice_table(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Table | None:
    """Which design for which criterion; None where no agreement is compared between two designs."""
    every = design_comparisons(analyses, of)
    if not every:
        return None
    _, numbers = material.language.gettext, material.numbers
    criteria = {
        c: [comparison for comparison in every if comparison.analysis.criterion == c]
        for c in dict.fromkeys(comparison.analysis.criterion for comparison in every)
    }
    gaps, resampling = hours_gaps(analyses, of), material.study.resampling
    parts = [
        evidence(material, comparisons, gaps[c][1] if c in gaps else None)
        for c, comparisons in criteria.items()
    ]
    decided = recommendations(parts, draws=resampling.draws, level=resampling.level)
    body = []
    for (criterion, compared), decision in zip(criteria.items(), decided, strict=True):
        first = [
            Cell(_recommendation(material, compared, decision)),
            Cell(numbers.p(decision.p) or "–", number=True),
        ]
        for comparison in compared:
            mark = (
                " †" if comparison.is_derived else " *" if comparison.has_dominant_category else ""
            )
            body.append(
                (
                    Cell(criterion),
                    *(first or [Cell(""), Cell("")]),
                    Cell(comparison.analysis.name + mark),
                    Cell(f"{comparison.designs[0]} {MINUS} {comparison.designs[1]}"),
                    numbers.estimate(comparison.minus.estimate),
                    Cell(numbers.p(comparison.minus.p_adjusted) or "–", number=True),
                )
            )
            first = []
        if criterion in gaps:
            a, row = gaps[criterion]
            name = sentences_in_words(material, row.group["sentences"])
            name = f"{name} {MINUS} {material.word(WHOLE_ANSWER)}"
            body.append(
                (
                    Cell(criterion),
                    Cell(""),
                    Cell(""),
                    Cell(a.name),
                    Cell(name),
                    numbers.estimate(row.estimate),
                    Cell(numbers.p(row.p_adjusted) or "–", number=True),
                )
            )
    head = [
        _("Criterion"),
        _("Recommendation"),
        numbers.translated(message("p (decision)", message_id="choice.p_decision")),
        _("Analysis"),
        _("Compared"),
        _("Difference"),
        numbers.translated(message("p (Holm)", message_id="choice.p_holm")),
    ]
    general = [
        numbers.translated(
            message(
                "A design is recommended for a criterion where raters take fewer hours with it to"
                " the same reliability, and single ratings, as they were given, agree more under"
                " it. Averages of several ratings are more reliable whatever is rated, so fewer"
                " hours alone recommend nothing. p (Holm): adjusted over all declared tests of the"
                " study. p (decision): the larger p value of the two parts, Holm-adjusted over the"
                " criteria, and not below the p (Holm) of either part; a design is recommended at"
                " {alpha:.0%}.",
                message_id="choice.rule",
                alpha=1 - resampling.level,
            )
        )
    ]
    if any(is_of_these(material, decision) for decision in decided):
        general.append(
            numbers.translated(
                message(
                    "These raters only: a part of the decision, such as hours to a reliability, has"
                    " no interval for raters like these, for whom the recommendation is not"
                    " estimable.",
                    message_id="choice.of_these_raters",
                )
            )
        )
    if any(comparison.is_derived for comparison in every):
        general.append(
            numbers.translated(
                message(
                    (
                        "†: derived from several ratings, such as incorrect if any sentence"
                        " is; its agreement differs by construction and was not used."
                    ),
                    message_id="choice.derived",
                )
            )
        )
    if any(comparison.has_dominant_category and not comparison.is_derived for comparison in every):
        general.append(
            numbers.translated(
                message(
                    (
                        "*: more than {share:.0%} of the ratings are in one category under a"
                        " design; agreement is uninformative and was not used."
                    ),
                    message_id="choice.lopsided",
                    share=COMMON,
                )
            )
        )
    caption = material.caption(
        numbers.translated(
            message("Which design for which criterion.", message_id="choice.caption")
        )
    )
    return table(caption, head, body, row_heads=2, general=general)


def _recommendation(
    material: Material, comparisons: Sequence[Compared], decision: Recommendation
) -> str:
    """The recommendation in words, or why there is none."""
    numbers = material.numbers
    if decision.design:
        design = comparisons[0].designs[0 if decision.design == "first" else 1]
        if not is_of_these(material, decision):
            return design
        return numbers.translated(
            message("{design} (these raters only)", message_id="choice.these_raters", design=design)
        )
    match decision.reason:
        case "not estimable":
            reason = message(
                "no recommendation: not estimable for raters like these",
                message_id="choice.none_not_estimable",
            )
        case "lopsided":
            reason = message(
                "no recommendation: nearly all ratings are alike", message_id="choice.none_lopsided"
            )
        case "no hours":
            reason = message(
                "no recommendation: hours are not compared", message_id="choice.none_no_hours"
            )
        case _:
            reason = message(
                "no recommendation: no difference is shown", message_id="choice.none_not_shown"
            )
    return numbers.translated(reason)


def is_of_these(material: Material, decision: Recommendation) -> bool:
    """Whether a recommendation is about these raters in a report about raters like these."""
    is_about_others = material.results.target == "like these"
    return decision.design != "" and is_about_others and decision.raters == "these"


def ranking_table(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Table | None:
    """The systems from best to worst under each design.

    None where no analysis compares systems by design.
    """
    _ = material.language.gettext
    body = []
    for a in analyses:
        column = next((c for c in ("instrument", "design") if c in a.by), "")
        if a.compare != "system" or not column or set(a.by) != {column, "system"}:
            continue
        for design in dict.fromkeys(r.group[column] for r in of[a.name] if column in r.group):
            design_rows = [r for r in of[a.name] if r.group.get(column) == design]
            value = {
                r.group["system"]: r.estimate.value for r in design_rows if r.kind == "estimate"
            }
            support = {
                frozenset((c.row.group["system"], c.row.versus["system"])): c.support
                for c in comparisons(design_rows, a, material.study.resampling.draws)
                if c.row.kind == "difference"
            }
            order = sorted(
                (s for s, v in value.items() if math.isfinite(v)), key=lambda s: -value[s]
            )
            marks = [
                f" {_MARKS.get(support.get(frozenset(two), 'not shown'), LEVEL)} "
                for two in pairwise(order)
            ]
            ranking = "".join(
                part for two in zip(order, [*marks, ""], strict=False) for part in two
            )
            body.append((Cell(a.criterion), Cell(a.name), Cell(design), Cell(ranking)))
    if not body:
        return None
    signs = message(
        "{above}: the two differ, Holm-adjusted p ≤ {alpha:g}; {level}: a difference is not shown.",
        message_id="choice.order",
        above=ABOVE,
        alpha=round(1 - material.study.resampling.level, 10),
        level=LEVEL,
    )
    only_these = message(
        "{sign}: the two differ in the judgement of these raters only; for raters like these it is"
        " not shown, or not estimable.",
        message_id="choice.order_of_these",
        sign=ABOVE_HERE,
    )
    has_only_these = any(ABOVE_HERE in line[-1].text for line in body)
    return table(
        material.caption(_("Ranking of systems by design (best first).")),
        (_("Criterion"), _("Analysis"), _("Design"), _("Systems")),
        body,
        row_heads=3,
        general=[
            material.numbers.translated(sign)
            for sign in (signs, *([only_these] if has_only_these else []))
        ],
    )


_MARKS: Mapping[Support, str] = {"shown": ABOVE, "these only": ABOVE_HERE}
"""What a comparison of two systems supports -> the sign between them; of all others `LEVEL`."""
