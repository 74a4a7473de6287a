"""What follows for the next study: which design for which criterion, how sure, and how many sentences are enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from konsil.analysis import Analysis, Row
from konsil.analysis.catalogue import AGREEMENT
from konsil.report.overview import Material
from konsil.report.tables import MINUS, Cell, Table, table

NEAR = 0.02
"""A reliability so little below the best one is as good for the choice of the number of sentences."""
COMMON = 0.9
"""Where one label makes up more than this under a design, agreement is no reason to take it."""
ABOVE, LEVEL = ">", "≥"
"""Between two systems: shown to differ, or only estimated to."""
Verdict = Literal["first", "second", "alike", "open"]


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
    def lopsided(self) -> bool:
        """Whether nearly all labels are one and the same under a design: raters who look at nothing then agree, too."""
        return max((r.commonest for r in (self.first, self.second) if not math.isnan(r.commonest)), default=0) > COMMON

    @property
    def verdict(self) -> Verdict:
        """Which design's agreement is higher, by the difference's interval; alike within the margin; or open."""
        e, margin = self.minus.estimate, self.analysis.margin
        if self.lopsided:
            return "open"
        if e.low > 0 or e.high < 0:
            return "first" if e.low > 0 else "second"
        return "alike" if margin is not None and -margin < e.low and e.high < margin else "open"

    @property
    def sure(self) -> float:
        """The chance that the design with the higher agreement has it: 1 - p / 2; nan where nothing was tested."""
        return 1 - self.minus.estimate.p / 2


def overall(verdicts: Sequence[Verdict]) -> tuple[Verdict, bool]:
    """What the forms of one criterion say together, and whether all of them say it.

    A design is favoured where one form at least favours it and none the other; if forms favour both it is open.

    >>> overall(["second", "open"]), overall(["first", "second"]), overall(["first", "first"])
    (('second', False), ('open', True), ('first', True))
    """
    said = set(verdicts)
    if {"first", "second"} <= said:
        return "open", True
    for one in ("first", "second"):
        if one in said:
            return ("first" if one == "first" else "second"), said == {one}
    return ("alike", True) if said == {"alike"} else ("open", True)


def compared(known: Sequence[Analysis], of: Mapping[str, Sequence[Row]]) -> list[Compared]:
    """The analyses of agreement among a panel that compare two designs and no further groups."""
    found = []
    for a in known:
        if (
            a.compare not in {"instrument", "design"}
            or a.by != (a.compare,)
            or a.statistic not in AGREEMENT
            or a.against
        ):
            continue
        estimates = {r.group[a.compare]: r for r in of[a.name] if r.kind == "estimate" and a.compare in r.group}
        minus = [r for r in of[a.name] if r.kind == "difference"]
        if len(minus) == 1 and len(estimates) == 2:
            names = (minus[0].group[a.compare], minus[0].versus[a.compare])
            found.append(Compared(a, estimates[names[0]], estimates[names[1]], minus[0], names))
    return found


def advice_table(material: Material, known: Sequence[Analysis], of: Mapping[str, Sequence[Row]]) -> Table | None:
    """Which design for which criterion; None where no agreement is compared between two designs."""
    every = compared(known, of)
    if not every:
        return None
    _, numbers = material.language.gettext, material.numbers
    criteria = list(dict.fromkeys(one.analysis.criterion for one in every))
    alike = len({one.designs for one in every}) == 1
    body = []
    for criterion in criteria:
        mine = [one for one in every if one.analysis.criterion == criterion]
        for n, one in enumerate(mine):
            e = one.minus.estimate
            body.append(
                (
                    Cell(criterion),
                    Cell(_said(material, mine) if n == 0 else ""),
                    Cell(f"{one.analysis.name} *" if one.lopsided else one.analysis.name),
                    *([] if alike else [Cell(f"{one.designs[0]} {MINUS} {one.designs[1]}")]),
                    numbers.estimate(e),
                    _chance(material, one.sure),
                )
            )
    minus = [f"{every[0].designs[0]} {MINUS} {every[0].designs[1]}"] if alike else [_("Compared"), _("Difference")]
    head = [_("Criterion"), _("Recommendation"), _("Analysis"), *minus, _("How sure")]
    rule = _(
        "Rule: a design is recommended for a criterion where the interval of the difference in agreement excludes zero"
        " in all forms of its ratings; the table leans to it where it does in some and nowhere the other way; either"
        " will do where all intervals lie within the analysis' margin; else it is undecided. How sure: the chance, by"
        " the joint resamples, that agreement is higher where the estimate is (1 - p/2)."
    )
    caption = material.caption(_("Which design for which criterion, and how sure."))
    alone = _(
        "*: one label makes up more than 90 % of all under a design, so that agreement comes without looking; this form"
        " recommends nothing."
    )
    general = [rule, alone] if any(one.lopsided for one in every) else [rule]
    return table(caption, head, body, row_heads=2, general=general)


def _chance(material: Material, chance: float) -> Cell:
    """A chance as a number that is never quite one."""
    numbers = material.numbers
    if math.isnan(chance):
        return Cell("–", number=True)
    return Cell("> " + numbers.plain(0.99, 2) if chance > 0.99 else numbers.plain(chance, 2), number=True)


def _said(material: Material, mine: Sequence[Compared]) -> str:
    """The recommendation in words."""
    _ = material.language.gettext
    verdict, by_all = overall([one.verdict for one in mine])
    if verdict == "alike":
        return _("either: alike within the margin")
    if verdict == "open":
        both = {one.verdict for one in mine} >= {"first", "second"}
        return _("undecided: the forms contradict one another") if both else _("undecided")
    design = mine[0].designs[0 if verdict == "first" else 1]
    return design if by_all else _("leaning to %(design)s") % {"design": design}


def hours_table(material: Material, known: Sequence[Analysis], of: Mapping[str, Sequence[Row]]) -> Table | None:
    """What takes the fewest hours to the reliability wanted; None where no analysis asks for hours."""
    _, numbers = material.language.gettext, material.numbers
    whole = _("whole answer")
    body = []
    for a in (a for a in known if a.statistic == "rater_hours" and not a.by):
        rows = {r.group.get("sentences", ""): r for r in of[a.name] if r.kind == "estimate"}
        defined = {s: r for s, r in rows.items() if math.isfinite(r.estimate.value)}
        minus = {r.group.get("sentences"): r for r in of[a.name] if r.kind == "difference"}
        best = min(defined, key=lambda s: defined[s].estimate.value, default="")
        body.append(
            (
                Cell(a.criterion),
                Cell(numbers.tick(a.target), number=True),
                Cell(_words(material, best) or _("no number of raters")),
                numbers.estimate(defined[best].estimate) if best else Cell("–", number=True),
                numbers.estimate(rows[whole].estimate) if whole in rows else Cell("–", number=True),
                _chance(material, 1 - minus[best].estimate.p / 2 if best in minus else math.nan),
            )
        )
    if not body:
        return None
    head = (
        _("Criterion"), _("Reliability"), _("Fewest hours"), _("Hours"), _("Hours, whole answers"), _("How sure"),
    )  # fmt: skip
    general = [
        _("Hours of all raters together for 100 answers, until the mean ratings are so reliable."),
        _("How sure: the chance that it takes fewer hours than whole answers (1 - p/2)."),
    ]
    caption = material.caption(_("What takes the fewest hours of raters to a reliability."))
    return table(caption, head, body, general=general)


def _words(material: Material, sentences: str) -> str:
    _ = material.language.gettext
    if not sentences.isdigit():
        return sentences
    return _("1 sentence") if sentences == "1" else _("%(n)s sentences") % {"n": sentences}


def budget_table(material: Material, known: Sequence[Analysis], of: Mapping[str, Sequence[Row]]) -> Table | None:
    """How many sentences are enough for a budget; None where no analysis has budgets."""
    _, numbers = material.language.gettext, material.numbers
    whole, best_of = _("whole answer"), _("chance of being the best")
    body = []
    for a in (a for a in known if a.statistic == "budget_reliability" and not a.by):
        rows = [r for r in of[a.name] if "minutes" in r.group]
        for minutes in dict.fromkeys(r.group["minutes"] for r in rows):
            mine = [r for r in rows if r.group["minutes"] == minutes]
            estimates = {
                r.group["sentences"]: r for r in mine if r.kind == "estimate" and math.isfinite(r.estimate.value)
            }
            chance = {r.group["sentences"]: r.estimate.value for r in mine if r.group.get("version") == best_of}
            parts = sorted((s for s in estimates if s.isdigit()), key=int)
            if not estimates:
                body.append((Cell(a.criterion), Cell(minutes, number=True), Cell(_("not one rater")), *[Cell("")] * 4))
                continue
            best = max(estimates, key=lambda s: estimates[s].estimate.value)
            top = estimates[best].estimate
            enough = next((s for s in parts if estimates[s].estimate.value >= top.value - NEAR), "–")
            body.append(
                (
                    Cell(a.criterion),
                    Cell(minutes, number=True),
                    Cell(_words(material, best)),
                    numbers.estimate(top),
                    _chance(material, chance.get(best, math.nan)),
                    Cell(enough, number=True),
                    numbers.estimate(estimates[whole].estimate) if whole in estimates else Cell("–", number=True),
                )
            )
    if not body:
        return None
    head = (
        _("Criterion"), _("Minutes an answer"), _("Best"), _("Reliability"), _("Chance of being the best"),
        _("Sentences that are enough"), _("Reliability of whole answers"),
    )  # fmt: skip
    near = _("Sentences that are enough: the fewest whose reliability is at most %(near)s below the best.")
    general = [
        _("Minutes of all raters of an answer together; its raters need be no whole number on average."),
        near % {"near": numbers.tick(NEAR)},
    ]
    caption = material.caption(_("How many sentences are enough for a budget."))
    return table(caption, head, body, row_heads=2, general=general)


def ranking_table(material: Material, known: Sequence[Analysis], of: Mapping[str, Sequence[Row]]) -> Table | None:
    """The systems from best to worst under each design; None where no analysis compares systems by design."""
    _ = material.language.gettext
    body = []
    for a in known:
        column = next((c for c in ("instrument", "design") if c in a.by), "")
        if a.compare != "system" or not column or set(a.by) != {column, "system"}:
            continue
        for design in dict.fromkeys(r.group[column] for r in of[a.name] if column in r.group):
            mine = [r for r in of[a.name] if r.group.get(column) == design]
            value = {r.group["system"]: r.estimate.value for r in mine if r.kind == "estimate"}
            apart = {
                frozenset((r.group["system"], r.versus["system"]))
                for r in mine
                if r.kind == "difference" and (r.estimate.low > 0 or r.estimate.high < 0)
            }
            order = sorted((s for s, v in value.items() if math.isfinite(v)), key=lambda s: -value[s])
            signs = [f" {ABOVE if frozenset(two) in apart else LEVEL} " for two in pairwise(order)]
            told = "".join(part for two in zip(order, [*signs, ""], strict=False) for part in two)
            body.append((Cell(a.criterion), Cell(a.name), Cell(design), Cell(told)))
    if not body:
        return None
    signs_said = _("%(above)s: the interval of the difference of the two excludes zero; %(level)s: it does not.")
    return table(
        material.caption(_("Systems from best to worst under each design.")),
        (_("Criterion"), _("Analysis"), _("Design"), _("Systems")),
        body,
        row_heads=3,
        general=[signs_said % {"above": ABOVE, "level": LEVEL}],
    )
