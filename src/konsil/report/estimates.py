"""Each analysis in words, tables and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Row
from konsil.report.anchors import anchor
from konsil.report.drawing import Drawing
from konsil.report.figures import About, Dot, forest, heat_map, span
from konsil.report.glossary import entry, title
from konsil.report.overview import Material, natural
from konsil.report.tables import MINUS, Cell, Table, table
from konsil.stats.contract import Estimate

MOST_ROWS = 45
"""Rows of one forest plot: what fits a printed page."""
PAIRS = (("rater", "other"), ("rater_1", "rater_2"), ("rater_a", "rater_b"), ("rater", "against"))
"""Group columns that say a row is about two raters."""


@dataclass(frozen=True)
class Told:
    """One analysis, ready for the page."""

    anchor: str
    """Where the page links to."""
    name: str
    """Its name in the protocol."""
    title: str
    """The statistic's name."""
    sentence: str
    """What it is, in one plain sentence."""
    facts: tuple[tuple[str, str], ...]
    """What else the protocol says about it: term and value."""
    paper: bool
    """Whether it computes what a paper computes, for reproduction."""
    prespecified: bool
    """Whether it belongs to the prespecified family."""
    tables: tuple[Table, ...]
    """Estimates, then differences."""
    figures: tuple[Drawing, ...]
    """Forest plots or a heat map."""


@dataclass(frozen=True)
class _Told:
    """A row with the companions that follow it."""

    row: Row
    companions: tuple[Row, ...]


def tell(material: Material) -> list[Told]:
    """Every analysis of the protocol in its order, then any other that has rows."""
    rows: dict[str, list[Row]] = {a.name: [] for a in material.study.analyses}
    for row in material.results.rows:
        rows.setdefault(row.analysis, []).append(row)
    specs = {a.name: a for a in material.study.analyses}
    return [_tell(material, name, specs.get(name), own) for name, own in rows.items()]


def _tell(material: Material, name: str, spec: Analysis | None, rows: Sequence[Row]) -> Told:
    joined = _join(rows)
    estimates = [one for one in joined if one.row.kind != "difference"]
    differences = [one for one in joined if one.row.kind == "difference"]
    statistic = spec.statistic if spec else rows[0].statistic
    tables = []
    figures: list[Drawing] = []
    if estimates:
        tables.append(_estimates(material, name, estimates))
        figures += _heat(material, name, statistic, estimates) or _forest(material, name, statistic, estimates)
    if differences:
        tables.append(_differences(material, name, differences))
        figures += _forest(material, name, statistic, differences, difference=True)
    return Told(
        anchor=anchor("analysis", name),
        name=name,
        title=title(statistic, material.language),
        sentence=_sentence(material, spec, rows),
        facts=_facts(material, spec),
        paper=spec is not None and spec.mode == "paper",
        prespecified=spec.prespecified if spec else rows[0].prespecified,
        tables=tuple(tables),
        figures=tuple(figures),
    )


def _join(rows: Sequence[Row]) -> list[_Told]:
    """Companions with the row before them; one of another group (a panel beside its judges) is a row of its own."""
    joined: list[_Told] = []
    for row in rows:
        before = joined[-1].row if joined else None
        if row.kind == "companion" and before and (row.group, row.versus) == (before.group, before.versus):
            joined[-1] = _Told(before, (*joined[-1].companions, row))
        elif row.kind != "companion" or all(one.row != row for one in joined):
            joined.append(_Told(row, ()))
    return joined


def _sentence(material: Material, spec: Analysis | None, rows: Sequence[Row]) -> str:
    _ = material.language.gettext
    statistic = spec.statistic if spec else rows[0].statistic
    said = {
        "statistic": title(statistic, material.language),
        "criterion": spec.criterion if spec else rows[0].criterion,
        "panel": spec.raters if spec else rows[0].raters,
        "against": (spec.against or "") if spec else "",
    }
    if spec is not None and spec.against == "rest":
        text = _(
            "%(statistic)s of each rater of the panel “%(panel)s” against the majority of the panel's other raters,"
            " on the criterion “%(criterion)s”."
        )
    elif spec is not None and spec.against is not None:
        text = _(
            "%(statistic)s of the panel “%(panel)s” against the majority of the panel “%(against)s”,"
            " on the criterion “%(criterion)s”."
        )
    elif entry(statistic).among:
        text = _("%(statistic)s among the raters of the panel “%(panel)s” on the criterion “%(criterion)s”.")
    else:
        text = _("%(statistic)s in the ratings of the panel “%(panel)s” on the criterion “%(criterion)s”.")
    return f"{text % said} {entry(statistic, material.language).text}".rstrip()


def _facts(material: Material, spec: Analysis | None) -> tuple[tuple[str, str], ...]:
    if spec is None:
        return ()
    _ = material.language.gettext
    units = {"item": _("items"), "case": _("cases"), "rater": _("raters")}
    consensus = {"none": "", "majority": _("majority of the panel"), "mean": _("mean of the panel")}
    spans = {"each": "", "all": _("all sentences"), "any": _("any sentence"), "mean": _("mean of the sentences")}
    criterion = material.criteria().get(spec.criterion)
    abstentions = _("a label of their own") if spec.abstain == "label" else _("left out, pair by pair")
    if criterion is None or criterion.scale.abstain is None:
        abstentions = ""
    facts = (
        (_("Label counted"), ", ".join(spec.of)),
        (_("Items"), spec.items),
        (_("Only"), "; ".join(f"{column}: {', '.join(kept)}" for column, kept in sorted(spec.where.items()))),
        (_("Groups"), ", ".join(spec.by)),
        (_("Compared"), spec.compare),
        (_("Arm"), spec.arm or ""),
        (_("Weights"), spec.weights),
        (_("Labels merged"), "; ".join(f"{old} → {new}" for old, new in spec.collapse.items())),
        (_("Labels"), ", ".join(spec.labels)),
        (_("Consensus"), consensus[spec.consensus]),
        (_("Sentences"), spans[spec.spans]),
        (_("Abstentions"), abstentions),
        (_("Resampled"), units[spec.cluster]),
    )
    return tuple((term, value) for term, value in facts if value)


def _columns(rows: Sequence[_Told]) -> list[str]:
    """The group columns in the order in which the rows name them."""
    return list(dict.fromkeys(column for one in rows for column in (*one.row.group, *one.row.versus)))


def _remarks(material: Material, row: Row) -> list[str]:
    _ = material.language.gettext
    remarks = list(row.warnings)
    if row.n_undefined_pairs:
        remarks.append(
            _("Undefined for %(n)s pairs of raters, which are left out of the mean.")
            % {"n": material.numbers.count(row.n_undefined_pairs)}
        )
    return remarks


def _estimates(material: Material, name: str, rows: Sequence[_Told]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    columns = _columns(rows)
    several = len({one.row.statistic for one in rows}) > 1
    methods = _companion_methods(rows)
    tested = any(not math.isnan(one.row.estimate.p) for one in rows)
    adjusted = any(not math.isnan(one.row.p_adjusted) for one in rows)
    head = [*columns, *([_("Statistic")] if several or not columns else []), _value_head(material, rows)]
    head += [*methods, *([_("p")] if tested else []), *([_("p (Holm)")] if adjusted else [])]
    head += [_("Units"), _("Raters"), _("Ratings"), _("Clusters")]
    body = []
    for one in rows:
        row = one.row
        body.append(
            (
                *(Cell(row.group.get(column, _("all"))) for column in columns),
                *([Cell(title(row.statistic, material.language))] if several or not columns else []),
                numbers.estimate(row.estimate, _remarks(material, row)),
                *_companions(material, one, methods),
                *([Cell(numbers.p(row.estimate.p), number=True)] if tested else []),
                *([Cell(numbers.p(row.p_adjusted), number=True)] if adjusted else []),
                *(
                    Cell(numbers.count(n), number=True)
                    for n in (row.n_units, row.n_raters, row.estimate.n_ratings, row.estimate.n_clusters)
                ),
            )
        )
    heads = len(columns) + (1 if several or not columns else 0)
    caption = material.caption(_("Estimates of the analysis “%(name)s”.") % {"name": name})
    return table(caption, head, body, row_heads=heads, general=_methods(material, rows))


def _differences(material: Material, name: str, rows: Sequence[_Told]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    columns = _columns(rows)
    methods = _companion_methods(rows)
    adjusted = any(not math.isnan(one.row.p_adjusted) for one in rows)
    head = [*columns, _value_head(material, rows), *methods, _("p"), *([_("p (Holm)")] if adjusted else [])]
    head += [_("Units"), _("Clusters")]
    body = [
        (
            *(Cell(_contrast(one.row, column)) for column in columns),
            numbers.estimate(one.row.estimate, _remarks(material, one.row)),
            *_companions(material, one, methods),
            Cell(numbers.p(one.row.estimate.p), number=True),
            *([Cell(numbers.p(one.row.p_adjusted), number=True)] if adjusted else []),
            Cell(numbers.count(one.row.n_units), number=True),
            Cell(numbers.count(one.row.estimate.n_clusters), number=True),
        )
        for one in rows
    ]
    caption = material.caption(_("Paired differences of the analysis “%(name)s”.") % {"name": name})
    general = [_("A difference and its interval come from the same resamples of both groups.")]
    if adjusted:
        general.append(_("Holm: adjusted within the family of all prespecified tests."))
    return table(caption, head, body, row_heads=len(columns), general=[*general, *_methods(material, rows)])


def _contrast(row: Row, column: str) -> str:
    """One value where both groups share it, else: this minus that."""
    here, there = row.group.get(column, ""), row.versus.get(column, "")
    return here if here == there or not there else f"{here} {MINUS} {there}"


def _companion_methods(rows: Sequence[_Told]) -> list[str]:
    return list(dict.fromkeys(_method(c.estimate) for one in rows for c in one.companions))


def _method(estimate: Estimate) -> str:
    """A column's name for a way to an interval: without what differs from row to row, such as degrees of freedom."""
    first = estimate.method.split(", ")[0]
    return first[:1].upper() + first[1:]


def _companions(material: Material, one: _Told, methods: Sequence[str]) -> list[Cell]:
    """One cell for each other interval: the interval alone where the value is the estimate's own."""
    cells = []
    for method in methods:
        row = next((c for c in one.companions if _method(c.estimate) == method), None)
        if row is None:
            cells.append(Cell("", number=True))
            continue
        cell = material.numbers.estimate(row.estimate, _remarks(material, row))
        interval = material.numbers.interval(row.estimate.low, row.estimate.high)
        text = interval if interval and row.estimate.value == one.row.estimate.value else cell.text
        cells.append(Cell(text, cell.remarks, number=True))
    return cells


def _value_head(material: Material, rows: Sequence[_Told]) -> str:
    _ = material.language.gettext
    levels = {one.row.estimate.level for one in rows}
    level = material.numbers.level(levels.pop()) if len(levels) == 1 else ""
    difference = rows[0].row.kind == "difference"
    word = _("Difference") if difference else _("Estimate")
    return _("%(word)s [%(level)s interval]") % {"word": word, "level": level} if level else word


def _methods(material: Material, rows: Sequence[_Told]) -> list[str]:
    """How the intervals were made, once for each way; where degrees of freedom differ, their range is enough."""
    _ = material.language.gettext
    made = [one.row.estimate.method for one in rows if one.row.estimate.method]
    beside = [c.estimate.method for one in rows for c in one.companions if c.estimate.method]
    found = [_("Interval: %(method)s.") % {"method": method} for method in _alike(made)]
    return found + [_("Beside it: %(method)s.") % {"method": method} for method in _alike(beside)]


def _alike(methods: Sequence[str]) -> list[str]:
    """Methods that differ in one number only, as one with that number's range."""
    families: dict[str, list[list[str]]] = {}
    for method in dict.fromkeys(methods):
        families.setdefault(re.sub(r"\d+", "#", method), []).append(re.findall(r"\d+", method))
    found = []
    for pattern, numbers in families.items():
        parts = pattern.split("#")
        columns = [sorted(set(column), key=int) for column in zip(*numbers, strict=True)]
        ranges = [column[0] if len(column) == 1 else f"{column[0]}–{column[-1]}" for column in columns]
        found.append("".join(a + b for a, b in zip(parts, [*ranges, ""], strict=True)))
    return found


def _forest(
    material: Material,
    name: str,
    statistic: str,
    rows: Sequence[_Told],
    *,
    difference: bool = False,
) -> list[Drawing]:
    """One forest plot for each printed page's worth of rows; none for a single row."""
    if len(rows) < 2 or all(math.isnan(one.row.estimate.value) for one in rows):
        return []
    _, numbers = material.language.gettext, material.numbers
    columns = _columns(rows)
    several = len({one.row.statistic for one in rows}) > 1
    dots = []
    for one in rows:
        names = [_contrast(one.row, c) if difference else one.row.group.get(c, _("all")) for c in columns]
        names += [title(one.row.statistic, material.language)] if several or not names else []
        e = one.row.estimate
        dots.append(
            Dot(", ".join(names[1:]) or names[0], e.value, e.low, e.high, numbers.with_interval(e),
                names[0] if len(names) > 1 else "")
        )  # fmt: skip
    zero = 0.0 if difference or entry(statistic).zero else None
    limits = span([x for d in dots for x in (d.value, d.low, d.high)], zero)
    pages = [dots[n : n + MOST_ROWS] for n in range(0, len(dots), MOST_ROWS)]
    word = title(statistic, material.language)
    if difference:
        word = _("Difference in %(statistic)s") % {"statistic": word}
    drawings = []
    for n, page in enumerate(pages):
        part = " " + _("Part %(n)s of %(total)s.") % {"n": n + 1, "total": len(pages)} if len(pages) > 1 else ""
        caption = _("%(what)s: estimates (dots) with their intervals (lines), analysis “%(name)s”.") % {
            "what": word, "name": name,
        }  # fmt: skip
        about = About(
            key=anchor("differences" if difference else "forest", name) + (f"-{n + 1}" if len(pages) > 1 else ""),
            title=f"{word}: {name}",
            description="; ".join(f"{d.group + ', ' if d.group else ''}{d.label}: {d.text}" for d in page),
            caption=material.caption(caption + part),
            stamp=material.stamp,
        )
        heading = _value_head(material, rows)
        drawings.append(forest(about, page, numbers, axis=word, heading=heading, reference=zero, limits=limits))
    return drawings


def _heat(material: Material, name: str, statistic: str, rows: Sequence[_Told]) -> list[Drawing]:
    """A heat map where each row is about a pair of raters, one for each value of the other group columns."""
    columns = _columns(rows)
    pair = next((p for p in PAIRS if set(p) <= set(columns)), None)
    if pair is None:
        return []
    _ = material.language.gettext
    others = [c for c in columns if c not in pair]
    maps: dict[tuple[str, ...], dict[tuple[str, str], float]] = {}
    for one in rows:
        group: Mapping[str, str] = one.row.group
        if pair[0] in group and pair[1] in group:
            key = tuple(group.get(c, "") for c in others)
            maps.setdefault(key, {})[group[pair[0]], group[pair[1]]] = one.row.estimate.value
    drawings = []
    for n, (key, values) in enumerate(maps.items()):
        raters = sorted({rater for both in values for rater in both}, key=natural)
        word = title(statistic, material.language)
        where = ", ".join(part for part in key if part)
        caption = _("%(what)s of each pair of raters, analysis “%(name)s”.") % {"what": word, "name": name}
        about = About(
            key=anchor("pairs", name) + (f"-{n + 1}" if len(maps) > 1 else ""),
            title=f"{word}: {where or name}",
            description="; ".join(f"{a}, {b}: {material.numbers.plain(v)}" for (a, b), v in values.items()),
            caption=material.caption(caption + (f" {where}." if where else "")),
            stamp=material.stamp,
        )
        drawings.append(heat_map(about, raters, values, material.numbers, axis=word))
    return drawings
