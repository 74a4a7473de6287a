"""Placeholder items and answers for a study whose own are not collected yet.

There are as many as the study will have, in the sets and strata that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, cycle, islice

import numpy as np

from konsil.analysis.cases.ladders import LEVEL
from konsil.analysis.judges.injections import KIND
from konsil.analysis.model.catalogue.known import COLUMNS, LENGTH, RATER_PAIR
from konsil.analysis.model.options import CaseOptions
from konsil.locale import entries
from konsil.plan import generator
from konsil.prepare import MATCH, Preparation, Sample, in_sets, sizes
from konsil.prepare.draw.sample import CROSS
from konsil.records import Answer, Item
from konsil.study import Study

SHARE = 0.2
"""The share of items with a verbatim match where the protocol's sample states none."""


VALUES = 3
"""How many values a column gets that nobody has yet."""
MATCHED = ("yes", "no")
_POOL = 100
PLACEHOLDERS: Mapping[str, str] = {
    "text": "This text stands for item {k}, which is still to be collected.",
    "reference": "reference {k}",
}
"""An item's text and its reference; entries `rehearsal.text` and `rehearsal.reference`."""


Shares = Mapping[str, Mapping[str, float]]
"""Column of the items -> value -> its share of them."""


def pretended_items(study: Study, n: int, shares: Shares | None = None) -> tuple[Item, ...]:
    """`n` items without a text, with the plan's strata spread evenly over them.

    `shares` are those of the values of columns that a simulation states.

    Sets are drawn as the protocol draws them. Where the protocol's sets have more items than there
    are, they keep their proportions. Where analyses are of some items alone, as of one source, all
    are of those that the first such analysis names. A column that analyses group by and that nobody
    has yet, as themes, gets three values. Where analyses are of cases at several levels, the items
    are cases, each with a version for every level.
    """
    bare = [Item(f"item-{k + 1:0{len(str(n))}}", "") for k in range(n)]
    items = _strewn(study, _shared_out(study, bare, shares))
    sets = dict(study.prepare.sets) if study.prepare is not None else {}
    if sets and sum(sets.values()) != n:
        total = sum(sets.values())
        sets = sizes(n, {name: k / total for name, k in sets.items()}) if total > n else sets
    return _versions(in_sets(items, sets, seed=study.seed, name="pretended"), _levels(study))


def pretended_pool(study: Study, n: int, shares: Shares | None = None) -> tuple[Item, ...]:
    """`n` items with a text and a reference, as they are before any is drawn or masked.

    They serve rehearsals. Strata are as those of `pretended_items`, but for the lexical match where
    answers decide it. Sets, versions of cases and samples are left to the protocol's own
    preparation; where it masks nothing, versions are there from the start.
    """
    texts = {**PLACEHOLDERS, **entries(study.language, "rehearsal", PLACEHOLDERS)}
    width = len(str(n))
    bare = [
        Item(f"item-{k:0{width}}", texts["text"].format(k=k), texts["reference"].format(k=k))
        for k in range(1, n + 1)
    ]
    items = _strewn(study, _shared_out(study, bare, shares))
    if study.prepare is not None and study.prepare.lexical_match:
        items = [
            replace(i, strata={c: v for c, v in i.strata.items() if c != MATCH}) for i in items
        ]
    masks = study.prepare is not None and study.prepare.mask is not None
    return _versions(items, () if masks else _levels(study))


def pool_size(study: Study) -> int:
    """How many items the protocol draws; 100 where it says no number."""
    prepare = study.prepare
    if prepare is None:
        return _POOL
    return (
        prepare.sample.size if prepare.sample is not None else sum(prepare.sets.values()) or _POOL
    )


def _shared_out(study: Study, items: list[Item], shares: Shares | None) -> list[Item]:
    """Items with the values of the stated columns, in their shares and in no order."""
    for column, parts in (shares or {}).items():
        total = sum(parts.values())
        numbers = sizes(len(items), {value: part / total for value, part in parts.items()})
        values = np.repeat(list(numbers), list(numbers.values()))
        generator(study.seed, "pretended", column).shuffle(values)
        items = [_with(i, column, str(v)) for i, v in zip(items, values, strict=True)]
    return items


def _strewn(study: Study, items: list[Item]) -> list[Item]:
    """Items with values in the columns that the plan matches by, samples by, and analyses name."""
    n = len(items)
    for column in dict.fromkeys(a.match for a in study.plan if a.match):
        values = list(
            dict.fromkeys(r.strata[column] for r in study.everybody() if column in r.strata)
        )
        if values:
            items = [
                _with(item, column, value)
                for item, value in zip(items, cycle(values), strict=False)
            ]
    sample = study.prepare.sample if study.prepare is not None else None
    if sample is not None and sample.across:
        for k, column in enumerate(sample.columns):
            values = _values_of(sample, k) or [f"{column} {v + 1}" for v in range(VALUES)]
            step = VALUES**k  # every combination of two columns occurs
            if not any(column in item.strata for item in items):
                items = [
                    _with(item, column, values[m // step % len(values)])
                    for m, item in enumerate(items)
                ]
    elif sample is not None and sample.by and sample.shares:
        values = list(
            chain.from_iterable([value] * k for value, k in sizes(n, sample.shares).items())
        )
        items = [
            _with(item, sample.by, value)
            for item, value in zip(items, islice(cycle(values), n), strict=True)
        ]
    for column, selected_values in _selected(study).items():
        items = [
            i if column in i.strata else _with(i, column, v)
            for i, v in zip(items, cycle(selected_values), strict=False)
        ]
    for column in _grouped(study, {*items[0].strata} if items else set()):
        values = [MATCHED[k % 2] if column == MATCH else f"{column} {k + 1}" for k in range(VALUES)]
        items = [
            _with(item, column, value) for item, value in zip(items, _spread(values), strict=False)
        ]
    return items


def _values_of(sample: Sample, k: int) -> list[str]:
    """The values of the k-th column among the combinations that have a share."""
    return list(
        dict.fromkeys(value.split(CROSS)[k] for value in sample.shares if value.count(CROSS) >= k)
    )


def _levels(study: Study) -> tuple[str, ...]:
    """The levels of the cases, by the analysis that names most of them.

    None where items are no cases.
    """
    levels = (a.options.levels for a in study.analyses if isinstance(a.options, CaseOptions))
    return max(levels, key=len, default=())


def _versions(cases: Iterable[Item], levels: Sequence[str]) -> tuple[Item, ...]:
    if not levels:
        return tuple(cases)
    return tuple(
        replace(_with(case, LEVEL, level), id=f"{case.id}:{level}", case=case.id)
        for case in cases
        for level in levels
    )


def _spread(values: list[str]) -> Iterator[str]:
    """The values in turn, a whole turn of each other column apart.

    Two columns are therefore not associated.
    """
    return chain.from_iterable(islice(cycle(values), k, k + len(values)) for k in count())


def _grouped(study: Study, item_columns: set[str]) -> list[str]:
    """The columns that analyses group by and that neither ratings nor raters nor items have."""
    existing = {*_used_columns(study), *item_columns, LENGTH, RATER_PAIR, KIND}
    return list(
        dict.fromkeys(
            c for a in study.analyses for c in (*a.by, a.compare) if c and c not in existing
        )
    )


def _used_columns(study: Study) -> set[str]:
    of_raters = {column for rater in study.everybody() for column in rater.strata}
    return {
        *COLUMNS,
        *of_raters,
        *(f"rater_{column}" for column in of_raters),
        *(d.name for d in study.derived),
        *_level(study),
    }


def _level(study: Study) -> tuple[str, ...]:
    return (LEVEL,) if _levels(study) else ()


def _selected(study: Study) -> Mapping[str, tuple[str, ...]]:
    """The items' columns that analyses select by, with the values of the first such analysis."""
    used_columns = _used_columns(study)
    values_by_column: dict[str, tuple[str, ...]] = {}
    # Prespecified analyses go first: it is for them that the study is sized.
    for analysis in sorted(study.analyses, key=lambda a: not a.prespecified):
        for column, values in analysis.where.items():
            if column not in used_columns and values:
                values_by_column.setdefault(column, tuple(values))
    return values_by_column


def _with(item: Item, column: str, value: str) -> Item:
    return replace(item, strata={**item.strata, column: value})


def pretended_answers(
    items: Sequence[Item], systems: Sequence[str], spec: Preparation, seed: int
) -> tuple[Answer, ...]:
    """Answers by which a protocol's items can be drawn.

    The first system's match in the sample's own share of items.

    >>> items = [Item(f"i{n}", "?", "reference") for n in range(10)]
    >>> sum(a.text == "reference" for a in pretended_answers(items, ["a", "b"], Preparation(), 1))
    2
    """
    shares = spec.sample.shares if spec.sample is not None and spec.sample.by == MATCH else {}
    n = round(shares.get("yes", SHARE) * len(items))
    matched = {
        i.id for i in in_sets(items, {MATCH: n}, seed=seed, name="rehearsal") if MATCH in i.sets
    }
    return tuple(
        Answer(
            f"{item.id}:{system}",
            item.id,
            system,
            item.reference or "" if item.id in matched and k == 0 else "-",
        )
        for item in items
        for k, system in enumerate(systems)
    )
