"""The flow of items and people through the study as one figure, after the manner of CONSORT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from konsil.analysis.table.columns import rating_columns
from konsil.prepare import last_drawn
from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, Drawing, finish, style
from konsil.report.figures.svg_primitives import WIDTH, About, stamp, widest
from konsil.report.material.overview import Material
from konsil.report.people.item_flow import READ, exclusion_reasons
from konsil.study.sections.recruitment import recruitment

_SIZE = 8.0
"""Points of the letters."""
_LINE = 0.145
"""Inches from line to line."""
_PAD = 0.09
"""Inches between a box and its text."""
_GAP = 0.3
"""Inches from box to box."""
_BOX, _SIDE, _BETWEEN = 1.55, 1.4, 0.22
"""Inches: a box, the box of exclusions beside it, and the way between them."""
_MOST_REASONS = 6
"""Reasons of exclusion that have a line of their own."""


@dataclass(frozen=True)
class Stage:
    """One box, and what was lost on the way to it."""

    text: str
    """What the box says."""
    lost: tuple[str, ...] = ()
    """A heading with the number, then its reasons; empty: nothing was lost, or it is not known."""


def participant_flow(material: Material) -> Drawing:
    """Items at the left, raters at the right, their ratings at the bottom."""
    _ = material.language.gettext
    columns = (tuple(_items(material)), tuple(_people(material)))
    ratings = _ratings(material)
    stages_in_words = [
        stage.text + (f" ({'; '.join(stage.lost)})" if stage.lost else "")
        for stages in columns
        for stage in stages
    ]
    about = About(
        key="participant-flow",
        title=_("Flow of items and raters"),
        description="; ".join([*stages_in_words, ratings]),
        caption=material.caption(_("Flow of items and raters through the study.")),
        stamp=material.stamp,
    )
    with style():
        laid_out = [_laid_out(stages) for stages in columns]
        bottom = max(column[-1].bottom for column in laid_out)
        lines = _wrapped(ratings, WIDTH - 1.2)
        last = _Box(0.5, bottom + _GAP, WIDTH - 1.0, lines)
        height = last.bottom + (0.3 if about.stamp else 0.08)
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height, 0)
        axes.axis("off")
        for n, (column, stages) in enumerate(zip(laid_out, columns, strict=True)):
            x = 0.1 + n * (WIDTH / 2)
            _draw_column(axes, x, column, stages, last.top)
        _draw_box(axes, last, edge=ACCENT)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


@dataclass(frozen=True)
class _Box:
    x: float
    top: float
    width: float
    lines: tuple[str, ...]

    @property
    def bottom(self) -> float:
        return self.top + 2 * _PAD + _LINE * len(self.lines)


def _laid_out(stages: Sequence[Stage]) -> list[_Box]:
    """The boxes of a column; on the way to each there is room for what was lost."""
    boxes: list[_Box] = []
    top = 0.06
    for stage in stages:
        if stage.lost and boxes:
            top += 2 * _PAD + _LINE * len(_side_lines(stage.lost))
        box = _Box(0, top, _BOX, _wrapped(stage.text, _BOX - 2 * _PAD))
        boxes.append(box)
        top = box.bottom + _GAP
    return boxes


def _draw_column(
    axes: Axes, x: float, boxes: Sequence[_Box], stages: Sequence[Stage], end: float
) -> None:
    middle = x + _BOX / 2
    arrow = {"arrowstyle": "-|>", "color": MUTED, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    for n, (box, stage) in enumerate(zip(boxes, stages, strict=True)):
        _draw_box(axes, _Box(x, box.top, box.width, box.lines), edge=ACCENT)
        below = boxes[n + 1].top if n + 1 < len(boxes) else end
        axes.annotate("", (middle, below), (middle, box.bottom), arrowprops=arrow)
        if stage.lost and n:
            lines = _side_lines(stage.lost)
            room = box.top - boxes[n - 1].bottom
            side = _Box(x + _BOX + _BETWEEN, 0, _SIDE, lines)
            top = boxes[n - 1].bottom + (room - side.bottom) / 2
            margin = _Box(side.x, top, _SIDE, lines)
            level = (margin.top + margin.bottom) / 2
            axes.annotate("", (margin.x, level), (middle, level), arrowprops=arrow)
            _draw_box(axes, margin, edge=MUTED, is_centred=False)


def _draw_box(axes: Axes, box: _Box, *, edge: str, is_centred: bool = True) -> None:
    axes.add_patch(
        Rectangle(
            (box.x, box.top),
            box.width,
            box.bottom - box.top,
            facecolor=PAPER,
            edgecolor=edge,
            linewidth=0.9,
        )
    )
    for n, line in enumerate(box.lines):
        axes.text(
            box.x + (box.width / 2 if is_centred else _PAD),
            box.top + _PAD + _LINE * (n + 0.5),
            line,
            ha="center" if is_centred else "left",
            va="center",
            fontsize=_SIZE,
            color=INK,
        )


def _side_lines(lost: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for text in lost for line in _wrapped(text, _SIDE - 2 * _PAD))


def _wrapped(text: str, room: float) -> tuple[str, ...]:
    """Lines that fit the room; a word that is wider than the room is cut."""
    lines: list[str] = []
    for word in text.split():
        while widest([word], _SIZE) > room and len(word) > 4:
            word = word[:-2].rstrip("…") + "…"
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and widest([longer], _SIZE) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines) or ("",)


def _lost(material: Material, heading: str, reasons: Mapping[str, int]) -> tuple[str, ...]:
    """A heading with the total and a line for each of the commonest reasons."""
    _, count = material.language.gettext, material.numbers.count
    total = sum(reasons.values())
    if not total:
        return ()
    words = exclusion_reasons(material)
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    lines = [f"{words.get(reason, reason)}: {count(n)}" for reason, n in ordered[:_MOST_REASONS]]
    rest = sum(n for _reason, n in ordered[_MOST_REASONS:])
    lines += [_("other reasons: %(n)s") % {"n": count(rest)}] if rest else []
    return (f"{heading}: {count(total)}", *lines)


def _items(material: Material) -> Iterator[Stage]:
    _, count = material.language.gettext, material.numbers.count
    excluded = _("Excluded")
    notes, dropped = 0, Counter[str]()
    for event in material.events:
        if event.kind == READ:
            notes += _count_of(event.data.get("read"))
            reasons = event.data.get("dropped")
            if isinstance(reasons, Mapping):
                dropped.update({str(reason): _count_of(n) for reason, n in reasons.items()})
    drawn = last_drawn(material.events)[1]
    if notes:
        yield Stage(_("Notes read: %(n)s") % {"n": count(notes)})
    if drawn is not None:
        lost = _lost(material, excluded, dropped) if notes else ()
        yield Stage(_("Items in the pool: %(n)s") % {"n": count(drawn.pool)}, lost)
        left_out = Counter(drawn.lost)
        not_sampled = drawn.pool - sum(left_out.values()) - drawn.size
        if not_sampled > 0:
            left_out[_("not sampled")] = not_sampled
        sampled = _("Items sampled: %(n)s") if drawn.sample else _("Items retained: %(n)s")
        yield Stage(sampled % {"n": count(drawn.size)}, _lost(material, excluded, left_out))
    n_items = len(material.items)
    if drawn is None:
        lost = _lost(material, excluded, dropped) if notes else ()
        yield Stage(_("Items in the study: %(n)s") % {"n": count(n_items)}, lost)
    elif n_items != drawn.size:
        versions = _("Items in the study, with all versions of cases: %(n)s")
        yield Stage(versions % {"n": count(n_items)})
    rated = rating_columns(material.ratings).get_column("item").drop_nulls().unique().to_list()
    n_rated = len({item.id for item in material.items} & set(rated))
    missing = {_("no rating"): len(material.items) - n_rated}
    yield Stage(
        _("Items rated: %(n)s") % {"n": count(n_rated)}, _lost(material, _("Not rated"), missing)
    )


def _people(material: Material) -> Iterator[Stage]:
    _, count = material.language.gettext, material.numbers.count
    words = {
        "frame": _("Sampling frame: %(n)s"),
        "contacted": _("Raters invited: %(n)s"),
        "responded": _("Responded: %(n)s"),
        "eligible": _("Eligible: %(n)s"),
        "consented": _("Consented: %(n)s"),
        "completed": _("Completed: %(n)s"),
    }
    steps = recruitment(material.events).flow()
    for step in steps:
        lost = {_("declined or not reached"): step.lost or 0}
        yield Stage(words[step.name] % {"n": count(step.people)}, _lost(material, _("Lost"), lost))
    kinds = Counter(rater.kind for rater in material.raters)
    parts = [
        (_("people: %(n)s"), kinds["human"]),
        (_("LLM judges: %(n)s"), kinds["llm"]),
        (_("programs: %(n)s"), kinds["program"]),
    ]
    known_kinds = [text % {"n": count(n)} for text, n in parts if n]
    unknown = [_("raters unknown")] if kinds["unknown"] else []
    kinds_in_words = ", ".join([*known_kinds, *unknown])
    yield Stage(_("Raters in the study: %(who)s") % {"who": kinds_in_words or count(0)})
    active = set(rating_columns(material.ratings).get_column("rater").unique().to_list())
    ids = {rater.id for rater in material.raters if rater.kind != "unknown"}
    out = ids & set(material.study.exclusions.raters)
    lost = {
        _("excluded by the protocol"): len(out),
        _("no rating"): len(ids - active - out),
    }
    lost = {reason: n for reason, n in lost.items() if n}
    yield Stage(
        _("Raters analysed: %(n)s") % {"n": count(len((ids & active) - out))},
        _lost(material, _("Excluded"), lost),
    )


def _ratings(material: Material) -> str:
    _, count = material.language.gettext, material.numbers.count
    coverage = material.results.coverage
    parts = [
        (_("abstentions: %(n)s"), sum(row.abstained for row in coverage)),
        (_("unreadable: %(n)s"), sum(row.unreadable for row in coverage)),
        (_("excluded: %(n)s"), sum(n for row in coverage for n in row.excluded.values())),
        (_("missing: %(n)s"), sum(row.missing or 0 for row in coverage)),
    ]
    outcomes = "; ".join(text % {"n": count(n)} for text, n in parts if n)
    rated = count(sum(row.rated for row in coverage))
    sentence = _("Ratings with a label: %(n)s") % {"n": rated}
    return f"{sentence} ({outcomes})" if outcomes else sentence


def _count_of(value: object) -> int:
    return value if isinstance(value, int) else 0
