"""Samples of items: seeded, stratified, the same whatever the items' order."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from konsil.errors import PlanError, nearest
from konsil.records import Item

CROSS = " × "
"""Between the names of strata that are combined, and between their values."""


def combined(items: Sequence[Item], columns: Sequence[str]) -> tuple[Item, ...]:
    """The items with one stratum more, whose values are the combinations of several.

    Items that lack one have it not.

    >>> question = Item("q", "?", strata={"field": "skin", "hard": "yes"})
    >>> [item] = combined([question], ("field", "hard"))
    >>> item.strata["field × hard"]
    'skin × yes'
    """
    if len(columns) < 2:
        return tuple(items)
    return tuple(
        (
            replace(
                item,
                strata={
                    **item.strata,
                    CROSS.join(columns): CROSS.join(item.strata[c] for c in columns),
                },
            )
            if all(c in item.strata for c in columns)
            else item
        )
        for item in items
    )


def shortages(items: Sequence[Item], by: str, requested: Mapping[str, int]) -> dict[str, int]:
    """Value of a stratum -> the number of items by which it falls short of the request.

    Values with enough items are not in it.
    """
    available = Counter(
        item.strata[by] if by else "" for item in items if not by or by in item.strata
    )
    return {
        value: n - available[value]
        for value, n in sorted(requested.items())
        if n > available[value]
    }


def sizes(n: int, shares: Mapping[str, float]) -> dict[str, int]:
    """How many of n each stratum gives, by largest remainders; the sizes sum to n.

    >>> sizes(3800, {"no": 0.8, "yes": 0.2})
    {'no': 3040, 'yes': 760}
    """
    if n < 0:
        raise PlanError(f"sample: its size is {n}; expected a number from 0")
    if (
        not shares
        or any(not s >= 0 for s in shares.values())
        or not math.isclose(sum(shares.values()), 1, abs_tol=1e-9)
    ):
        raise PlanError(
            f"sample: the shares {dict(shares)} do not sum to 1; expected proportions with the"
            " sum 1"
        )
    return _apportioned(n, shares)


def stratified(
    items: Sequence[Item], by: str, requested: Mapping[str, int], *, seed: int, name: str = "sample"
) -> tuple[Item, ...]:
    """The requested number of items of each value of a stratum, in the order of their ids.

    They are drawn at random without replacement.

    Where `by` is empty, all items are of the one value ''.

    Each item has a random place of its own, made from the seed, the sample's name and the item's
    id, and those with the first places are drawn: neither the items' order nor further strata
    change which they are. A stratum that is too small is a PlanError; nothing is filled up from
    another one.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        if not by or by in item.strata:
            groups.setdefault(item.strata[by] if by else "", []).append(item)
    if by and not groups:
        valid_names = {s for item in items for s in item.strata}
        raise PlanError(
            f"{name}: no item has the characteristic {by!r}; {nearest(by, valid_names)}"
        )
    without = len(items) - sum(map(len, groups.values()))
    drawn: list[Item] = []
    shortfalls = shortages(items, by, requested)
    if len(shortfalls) > 1 and set(shortfalls) <= groups.keys():
        summary = ", ".join(
            f"{value!r} {len(groups[value]):,} of {requested[value]:,}" for value in shortfalls
        )
        raise PlanError(
            f"{name}: {len(shortfalls):,} values of {by} have fewer items than requested: {summary}"
        )
    for value, n in requested.items():
        if n and value not in groups:
            raise PlanError(
                f"{name}: no item has {by} = {value!r}; {nearest(value, groups)}"
                if by
                else f"{name}: there are no items"
            )
        group = groups.get(value, [])
        if not 0 <= n <= len(group):
            missing = f" ({without:,} items are without {by})" if without else ""
            description = f"items with {by} = {value!r}" if by else "items"
            raise PlanError(
                f"{name}: {n:,} {description} are requested, but there are {len(group):,}{missing}"
            )
        drawn += _shuffled(group, seed, name)[:n]
    return tuple(sorted(drawn, key=_id))


def in_sets(
    items: Sequence[Item],
    requested: Mapping[str, int],
    *,
    seed: int,
    by: str = "",
    name: str = "sets",
) -> tuple[Item, ...]:
    """The items with the sets they are drawn into, each into one at most, ordered by id.

    With `by`, every set has the values of that stratum in the items' own proportions, to the
    nearest item.
    """
    n_requested = sum(requested.values())
    if n_requested > len(items) or any(n < 0 for n in requested.values()):
        summary = ", ".join(f"{n:,} in {s!r}" for s, n in requested.items())
        raise PlanError(f"{name}: {summary} are requested, but there are {len(items):,} items")
    remaining: dict[str, list[Item]] = {}
    for item in _shuffled(items, seed, name):
        remaining.setdefault(item.strata.get(by, "") if by else "", []).append(item)
    drawn: list[Item] = []
    for set_name, n in requested.items():
        quotas = _apportioned(n, {value: len(group) for value, group in sorted(remaining.items())})
        for value, quota in quotas.items():
            chosen, remaining[value] = remaining[value][:quota], remaining[value][quota:]
            drawn += [replace(item, sets=(*item.sets, set_name)) for item in chosen]
    rest = [item for group in remaining.values() for item in group]
    return tuple(sorted([*drawn, *rest], key=_id))


def _apportioned(n: int, shares: Mapping[str, float]) -> dict[str, int]:
    total = sum(shares.values())
    quotas = {value: n * share / total if total else 0.0 for value, share in shares.items()}
    counts = {value: math.floor(quota) for value, quota in quotas.items()}
    # Of equal remainders the first stratum's counts more.
    by_remainder = sorted(quotas, key=lambda value: round(counts[value] - quotas[value], 9))
    for value in by_remainder[: n - sum(counts.values())]:
        counts[value] += 1
    return counts


def _shuffled(items: Sequence[Item], seed: int, name: str) -> list[Item]:
    return sorted(items, key=lambda item: (_random_key(seed, name, item.id), item.id))


def _random_key(seed: int, name: str, item: str) -> bytes:
    return hashlib.blake2b(
        repr((seed, name, item)).encode("utf-8", "backslashreplace"), digest_size=16
    ).digest()


def _id(item: Item) -> str:
    return item.id
