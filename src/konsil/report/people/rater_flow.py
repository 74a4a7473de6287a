"""Recruitment of raters: flow from sampling frame on, strata, ethics and compensation."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, Drawing, finish, style
from konsil.report.figures.svg_primitives import WIDTH, About, stamp
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table
from konsil.study.sections.recruitment import STEPS, Recruitment, Step, recruitment

BOX = 0.46
"""Height of a box of the flow, in inches."""
GAP = 0.34
"""From box to box."""


@dataclass(frozen=True)
class Recruited:
    """The section on recruitment."""

    texts: tuple[tuple[str, str], ...]
    """What is told -> what was recorded."""
    strata: Table | None
    """Numbers by stratum; None where there is one or none."""
    figures: tuple[Drawing, ...]
    """The flow, where there are numbers of two steps."""


def recruited(material: Material) -> Recruited | None:
    """What the recruitment record says; None where nothing was recorded."""
    record = recruitment(material.events)
    if not record:
        return None
    flow = record.flow()
    figures = (_flow(material, flow),) if len(flow) > 1 else ()
    strata = (
        _strata(material, record)
        if len(record.strata) > 1 or (record.strata and not figures)
        else None
    )
    words = _texts(material)
    decisions = _decisions(material)
    descriptions = tuple(
        (words[k], decisions.get(v, v) if k == "decision" else v)
        for k, v in record.texts.items()
        if k in words
    )
    return Recruited(descriptions, strata, figures)


def _flow(material: Material, flow: tuple[Step, ...]) -> Drawing:
    _, count, words = material.language.gettext, material.numbers.count, _steps(material)
    title = _("Recruitment of the raters")
    description = "; ".join(f"{words[step.name]}: {count(step.people)}" for step in flow)
    about = About(
        "recruitment",
        title,
        description,
        material.caption(_("Recruitment of raters: from sampling frame to completion.")),
        material.stamp,
    )
    with style():
        height = len(flow) * (BOX + GAP) - GAP + 0.1
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height, 0)
        axes.axis("off")
        left_edge, wide = 1.2, 2.9
        middle = left_edge + wide / 2
        for n, step in enumerate(flow):
            top = 0.05 + n * (BOX + GAP)
            axes.add_patch(
                Rectangle(
                    (left_edge, top), wide, BOX, facecolor=PAPER, edgecolor=ACCENT, linewidth=1.0
                )
            )
            axes.text(
                middle,
                top + BOX / 2,
                f"{words[step.name]}: {count(step.people)}",
                ha="center",
                va="center",
                color=INK,
            )
            if step.lost is None:
                continue
            arrow = {
                "arrowstyle": "-|>",
                "color": MUTED,
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            axes.annotate("", (middle, top), (middle, top - GAP), arrowprops=arrow)
            if step.lost:
                side = left_edge + wide + 0.35
                axes.annotate("", (side, top - GAP / 2), (middle, top - GAP / 2), arrowprops=arrow)
                text = f"{_lost(material)[step.name]}: {count(step.lost)}"
                axes.text(side + 0.08, top - GAP / 2, text, va="center", color=MUTED)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _strata(material: Material, record: Recruitment) -> Table:
    _, count, words = material.language.gettext, material.numbers.count, _steps(material)
    steps = [step for step in STEPS if any(step in s.counts for s in record.strata)]
    rows = [
        (
            Cell(stratum.name or _("all raters")),
            *(
                Cell(count(stratum.counts[s]) if s in stratum.counts else "–", number=True)
                for s in steps
            ),
        )
        for stratum in record.strata
    ]
    head = (_("Characteristic"), *(words[step] for step in steps))
    return table(material.caption(_("Recruitment by characteristic.")), head, rows)


def _steps(material: Material) -> dict[str, str]:
    _ = material.language.gettext
    return {
        "frame": _("Sampling frame"),
        "contacted": _("Contacted"),
        "responded": _("Responded"),
        "eligible": _("Eligible"),
        "consented": _("Consented"),
        "completed": _("Completed"),
    }


def _lost(material: Material) -> dict[str, str]:
    """What became of those who were at the step before and not at this one."""
    _ = material.language.gettext
    return {
        "contacted": _("not contacted"),
        "responded": _("no response"),
        "eligible": _("not eligible"),
        "consented": _("no consent"),
        "completed": _("not completed"),
    }


def _texts(material: Material) -> dict[str, str]:
    _ = material.language.gettext
    return {
        "frame": _("Sampling frame of the raters"),
        "channel": _("Mode of contact"),
        "begun": _("Recruitment from"),
        "ended": _("Recruitment until"),
        "compensation": _("Compensation"),
        "committee": _("Ethics committee"),
        "reference": _("Reference number"),
        "decision": _("Its decision"),
        "registration": _("Registration"),
        "data": _("Protection of personal data"),
    }


def _decisions(material: Material) -> dict[str, str]:
    _ = material.language.gettext
    return {
        "approved": _("approved"),
        "waived": _("waived"),
        "not required": _("not required"),
        "pending": _("pending"),
    }
