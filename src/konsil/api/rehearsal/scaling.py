"""The protocol of a rehearsal with fewer items than the study draws: its numbers in proportion."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from konsil.design.edits import edited
from konsil.errors import StudyError, option
from konsil.simulate.pretended import pool_size
from konsil.study import Study


def scale_down(protocol: Path, study: Study, n_items: int) -> None:
    """Reduce what a copy's study.toml draws and assigns, where there are fewer items.

    The sample is all items; sets and numbers of items per rater are in the study's proportions, at
    least one each. A StudyError where there are fewer items than sets.
    """
    pool = pool_size(study)
    if n_items >= pool:
        return
    text = protocol.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    prepare = data.get("prepare", {})
    sets = prepare.get("sets", {})
    if len(sets) > n_items:
        raise StudyError(
            f"{option('items', n_items)}: the items are drawn into {len(sets)} sets; expected at"
            f" least {len(sets)} items"
        )
    if "sample" in prepare:
        prepare["sample"]["size"] = n_items
    if sets:
        prepare["sets"] = apportioned(sets, n_items)
    for line in data.get("plan", []):
        if "per_rater" in line:
            line["per_rater"] = max(1, round(line["per_rater"] * n_items / pool))
    protocol.write_text(edited(text, data), encoding="utf-8")


def apportioned(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Sizes in the same proportions with another, smaller sum; each is at least one.

    What is over after rounding down goes to the largest remainders, in the order of the sizes.

    >>> apportioned({"core": 200, "split": 3600}, 24)
    {'core': 1, 'split': 23}
    >>> apportioned({"pilot": 2, "half-1": 20, "half-2": 20}, 3)
    {'pilot': 1, 'half-1': 1, 'half-2': 1}
    """
    all_sizes = sum(sizes.values())
    requested = {name: n * total / all_sizes for name, n in sizes.items()}
    scaled = {name: max(1, int(n)) for name, n in requested.items()}
    while sum(scaled.values()) < total:
        scaled[max(scaled, key=lambda name: requested[name] - scaled[name])] += 1
    while sum(scaled.values()) > total:
        scaled[
            max(scaled, key=lambda name: (scaled[name] > 1, scaled[name] - requested[name]))
        ] -= 1
    return scaled
