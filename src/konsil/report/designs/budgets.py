"""How many sentences to rate: the fewest hours to a reliability, and enough for a budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from konsil.analysis import Analysis, Row
from konsil.analysis.model.options import DesignOptions
from konsil.analysis.model.terms import BEST_CHANCE, WHOLE_ANSWER, is_term, key_of
from konsil.analysis.model.verdicts import best_after_choice
from konsil.errors.message import message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table
from konsil.stats.inference.multiplicity import holm

NEAR = 0.02
"""A reliability so little below the best one is as good for the choice of the number of
sentences."""


def hours_table(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Table | None:
    """What takes the fewest hours to the reliability wanted.

    None where no analysis asks for hours.
    """
    _, numbers = material.language.gettext, material.numbers
    lines: list[tuple[Analysis, str, dict[str, Row], float]] = []
    for a in (a for a in analyses if a.statistic == "rater_hours" and not a.by):
        rows = {key_of(r.group.get("sentences", "")): r for r in of[a.name] if r.kind == "estimate"}
        defined = {s: r for s, r in rows.items() if math.isfinite(r.estimate.value)}
        minus = {r.group.get("sentences"): r for r in of[a.name] if r.kind == "difference"}
        best = min(defined, key=lambda s: defined[s].estimate.value, default="")
        tests = {s: n for n, s in enumerate(minus)}
        chosen = best_after_choice([r.estimate.p for r in minus.values()])
        p = float(chosen[tests[best]]) if best in tests else math.nan
        lines.append((a, best, rows, p))
    if not lines:
        return None
    tested = [n for n, line in enumerate(lines) if math.isfinite(line[3])]
    adjusted = dict(zip(tested, holm([lines[n][3] for n in tested]), strict=True)) if tested else {}
    body = [
        (
            Cell(a.criterion),
            Cell(numbers.tick(a.options_as(DesignOptions).target), number=True),
            Cell(sentences_in_words(material, best) or _why_none(of[a.name])),
            numbers.estimate(rows[best].estimate) if best else Cell("–", number=True),
            numbers.estimate(rows[WHOLE_ANSWER].estimate)
            if WHOLE_ANSWER in rows
            else Cell("–", number=True),
            Cell(numbers.p(adjusted.get(n, math.nan)) or "–", number=True),
        )
        for n, (a, best, rows, _p) in enumerate(lines)
    ]
    head = (
        _("Criterion"),
        _("Reliability"),
        _("Fewest hours"),
        _("Hours"),
        _("Hours, whole answers"),
        numbers.translated(message("p (adjusted)", message_id="choice.p_adjusted")),
    )
    general = [
        _("Total rating time of all raters for the target reliability, in hours per 100 answers."),
        numbers.translated(
            message(
                "p: fewest hours against whole answers, adjusted for the choice among the numbers"
                " of sentences (Bonferroni) and for the criteria (Holm).",
                message_id="choice.hours_p",
            )
        ),
    ]
    caption = material.caption(
        _("Shortest total rating time for the target reliability, in hours.")
    )
    return table(caption, head, body, general=general)


def budget_table(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Table | None:
    """How many sentences are enough for a budget; None where no analysis has budgets."""
    _, numbers = material.language.gettext, material.numbers
    body = []
    for a in (a for a in analyses if a.statistic == "budget_reliability" and not a.by):
        rows = [r for r in of[a.name] if "minutes" in r.group]
        for minutes in dict.fromkeys(r.group["minutes"] for r in rows):
            budget_rows = [r for r in rows if r.group["minutes"] == minutes]
            estimates = {
                key_of(r.group["sentences"]): r
                for r in budget_rows
                if r.kind == "estimate" and math.isfinite(r.estimate.value)
            }
            chance = {
                key_of(r.group["sentences"]): r.estimate.value
                for r in budget_rows
                if is_term(r.group.get("version"), BEST_CHANCE)
            }
            parts = sorted((s for s in estimates if s.isdigit()), key=int)
            if not estimates:
                body.append(
                    (
                        Cell(a.criterion),
                        Cell(minutes, number=True),
                        Cell(_why_none(budget_rows)),
                        *[Cell("")] * 4,
                    )
                )
                continue
            best = max(estimates, key=lambda s: estimates[s].estimate.value)
            top = estimates[best].estimate
            enough = next(
                (s for s in parts if estimates[s].estimate.value >= top.value - NEAR), "–"
            )
            body.append(
                (
                    Cell(a.criterion),
                    Cell(minutes, number=True),
                    Cell(sentences_in_words(material, best)),
                    numbers.estimate(top),
                    _chance(material, chance.get(best, math.nan)),
                    Cell(enough, number=True),
                    (
                        numbers.estimate(estimates[WHOLE_ANSWER].estimate)
                        if WHOLE_ANSWER in estimates
                        else Cell("–", number=True)
                    ),
                )
            )
    if not body:
        return None
    head = (
        _("Criterion"),
        _("Minutes per answer"),
        _("Best"),
        _("Reliability"),
        _("Proportion of resamples ranked first"),
        _("Sufficient number of sentences"),
        _("Reliability of whole answers"),
    )
    near = _(
        "Sufficient number of sentences: the smallest whose reliability is at most"
        " %(near)s below the best."
    )
    general = [
        _(
            "Total minutes of all raters per answer; the mean number of raters per answer"
            " may be fractional."
        ),
        near % {"near": numbers.tick(NEAR)},
    ]
    caption = material.caption(_("Sufficient number of sentences for a given budget."))
    return table(caption, head, body, row_heads=2, general=general)


def _chance(material: Material, chance: float) -> Cell:
    """A chance as a number that is never quite one."""
    numbers = material.numbers
    if math.isnan(chance):
        return Cell("–", number=True)
    return Cell(
        "> " + numbers.plain(0.99, 2) if chance > 0.99 else numbers.plain(chance, 2), number=True
    )


def _why_none(rows: Sequence[Row]) -> str:
    """The reason why no row has a number, in the rows' own words.

    No ratings are another reason than no number of raters.
    """
    return "; ".join(
        dict.fromkeys(r.estimate.reason for r in rows if r.kind == "estimate" and r.estimate.reason)
    )


def sentences_in_words(material: Material, sentences: str) -> str:
    """A number of sentences, or whole answers, in words."""
    _ = material.language.gettext
    if not sentences.isdigit():
        return material.word(sentences)
    return _("1 sentence") if sentences == "1" else _("%(n)s sentences") % {"n": sentences}
