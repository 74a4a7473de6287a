"""The distributions of labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from konsil.instrument import Criterion
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import distribution
from konsil.report.figures.svg_primitives import About, Bar
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor

MOST_LABELS = 12
"""A criterion with more labels than this has no figure; its counts are in labels.csv."""


def label_figures(material: Material) -> list[Drawing]:
    """One figure for each criterion that has few labels: their shares by panel and system."""
    _ = material.language.gettext
    criteria = material.criteria()
    counted: dict[str, dict[tuple[str, str], dict[str, int]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for (panel, of, system, label), n in material.results.label_counts.items():
        counted[of][panel, system][label] = n
    figures = []
    for name in (*criteria, *sorted(counted.keys() - criteria.keys())):
        groups = counted.get(name, {})
        criterion = criteria.get(name)
        labels = _labels(criterion, groups)
        if (
            not groups
            or len(labels) > MOST_LABELS
            or (criterion is not None and criterion.scale.kind != "choice")
        ):
            continue
        panels = {panel: n for n, panel in enumerate(material.panels())}
        systems = {system.id: n for n, system in enumerate(material.study.systems)}
        order = sorted(
            groups,
            key=lambda g: (panels.get(g[0], 999), g[0], systems.get(g[1], 999), natural(g[1])),
        )
        several = len({panel for panel, _system in order}) > 1 and any(
            system for _panel, system in order
        )
        bars = [
            Bar(
                label=system or panel,
                counts=tuple(groups[panel, system].get(label, 0) for label in labels),
                group=panel if several else "",
            )
            for panel, system in order
        ]
        title = _("Labels of %(criterion)s") % {"criterion": material.criterion(name)}
        shares = "; ".join(
            f"{bar.group + ', ' if bar.group else ''}{bar.label}: "
            + ", ".join(
                f"{label} {material.numbers.count(n)}"
                for label, n in zip(labels, bar.counts, strict=True)
            )
            for bar in bars
        )
        question = f" {criterion.question}" if criterion is not None and criterion.question else ""
        figures.append(
            distribution(
                About(
                    key=anchor("labels", name),
                    title=title,
                    description=shares,
                    caption=material.caption(
                        _("Proportions of the categories of %(criterion)s by panel and system.")
                        % {"criterion": material.criterion(name)}
                        + question
                    ),
                    stamp=material.stamp,
                ),
                labels,
                bars,
                material.numbers,
                ordered=criterion is not None and criterion.scale.level != "nominal",
                abstain=criterion.scale.abstain if criterion is not None else None,
                axis=_("Ratings (%)"),
                total=_("ratings"),
            )
        )
    return figures


def _labels(
    criterion: Criterion | None, groups: Mapping[tuple[str, str], Mapping[str, int]]
) -> list[str]:
    """The scale's labels in their order, then any other that was counted."""
    declared = list(criterion.scale.options()) if criterion is not None else []
    counted = {label for group in groups.values() for label in group}
    return declared + sorted(counted - set(declared), key=natural)
