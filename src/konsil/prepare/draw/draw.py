"""Which items of a study are rated: drawn once, kept as an event, and read from it ever after.

Items are never rewritten. What was drawn is an event, and an item with its sets and its stratum is
a function of the item as it was imported and of that event; the last event counts.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from konsil.errors import PlanError
from konsil.prepare.cases.marking import cases, last_markings, versions_of
from konsil.prepare.draw.lexical import MATCH, lexical_matches, with_lexical_match
from konsil.prepare.draw.sample import CROSS, combined, in_sets, shortages, sizes, stratified
from konsil.prepare.draw.spec import SAMPLE_SET, Preparation, Sample
from konsil.prepare.questions.rewriting import with_rewriting
from konsil.prepare.questions.screening import (
    Screened,
    last_screened,
    lost,
    plain,
    pool_of,
    screening_digest,
)
from konsil.prepare.questions.themes import last_themed, with_themes
from konsil.records import Answer, Event, Item

SAMPLING = "sampling"
"""The kind of the event that holds what was drawn."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What became of a study's items."""

    asked: str
    """The digest of what was asked for: the preparation and the seed."""
    pool: int
    """How many items there were."""
    answered: Mapping[str, int] = field(default_factory=dict)
    """System whose answers were compared -> how many items it answered."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many items could not be drawn for it."""
    by: str = ""
    """The stratum that was drawn by."""
    found: Mapping[str, int] = field(default_factory=dict)
    """Its values among the items -> how many had it."""
    sample: bool = False
    """Whether the items are a sample; otherwise all that could be drawn are in."""
    drawn: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Set (empty: none) -> value of lexical_match (empty: not known) -> items."""
    short: Mapping[str, int] = field(default_factory=dict)
    """Value of the stratum -> how many items fewer than asked for there were."""

    @property
    def size(self) -> int:
        """How many items are in."""
        return sum(len(ids) for parts in self.drawn.values() for ids in parts.values())


def draw(
    spec: Preparation,
    items: Sequence[Item],
    answers: Iterable[Answer],
    *,
    systems: Sequence[str] = (),
    seed: int,
    screened: Screened | None = None,
) -> Drawn:
    """Draw what a protocol asks for; a PlanError says what stands in its way.

    Of a masked case the case is drawn, and all of its versions are in.
    The order of items and answers plays no part. An answer without a text is none.

    Args:
        spec: what is asked for.
        items: the study's items as they were imported.
        answers: their answers; only a lexical match needs them.
        systems: the study's systems; none: those that answered.
        seed: the study's.
        screened: what the last screening left out, where the protocol asks for one.
    """
    items = cases(items)
    if not items:
        raise PlanError("prepare: there are no items yet; run 'konsil import' first")
    pool, left_out = _screened(spec, items, screened)
    answered = dict[str, int]()
    if spec.lexical_match:
        pool, more, answered = _matched(spec, pool, answers, spec.systems or systems)
        left_out += more
    columns = spec.sample.columns if spec.sample is not None else ()
    by = CROSS.join(columns) if spec.sample is not None else MATCH if spec.lexical_match else ""
    pool = list(combined(pool, columns))
    short = dict[str, int]()
    n_by_stratum = (
        Counter(item.strata[by] for item in pool if by in item.strata) if by else Counter[str]()
    )
    chosen: Sequence[Item] = pool
    if spec.sample is not None:
        if by:
            left_out[f"{by} not known"] += sum(by not in item.strata for item in pool)
        shares = spec.sample.shares or dict(sorted(n_by_stratum.items()))
        if spec.sample.equal:
            shares = dict.fromkeys(sorted(n_by_stratum), 1.0)
        if by and n_by_stratum:
            total_share = sum(shares.values())
            sample_sizes = sizes(
                spec.sample.size, {value: share / total_share for value, share in shares.items()}
            )
        else:
            sample_sizes = {"": spec.sample.size}
        if spec.sample.short == "keep":
            short = shortages(pool, by, sample_sizes)
            sample_sizes = {value: n - short.get(value, 0) for value, n in sample_sizes.items()}
        chosen = stratified(pool, by, sample_sizes, seed=seed, name="prepare.sample")
    drawn: dict[str, dict[str, list[str]]] = {}
    n_earlier_sets = {item.id: len(item.sets) for item in chosen}
    for item in in_sets(chosen, spec.sets, seed=seed, by=by, name="prepare.sets"):
        new = item.sets[n_earlier_sets[item.id] :]
        match = item.strata.get(MATCH, "") if spec.lexical_match else ""
        drawn.setdefault(new[0] if new else "", {}).setdefault(match, []).append(item.id)
    return Drawn(
        request_digest(spec, seed, screened),
        len(items),
        answered,
        {reason: n for reason, n in left_out.items() if n},
        by,
        dict(n_by_stratum),
        spec.sample is not None,
        drawn,
        short,
    )


def _screened(
    spec: Preparation, items: Sequence[Item], screened: Screened | None
) -> tuple[list[Item], Counter[str]]:
    """The items that a screening left in, and how many it left out and why."""
    if spec.screen is None:
        return list(items), Counter()
    if screened is None:
        raise PlanError("prepare.screen: the items are not screened yet; run 'konsil screen' first")
    if (screened.asked, screened.pool) != (
        screening_digest(spec.screen),
        pool_of(item.id for item in items),
    ):
        raise PlanError(
            "prepare.screen: rules or items have changed since the screening; run 'konsil screen'"
            " again"
        )
    out = screened.reasons()
    pool = [item for item in items if item.id not in out]
    if not pool:
        raise PlanError(
            f"prepare.screen: all {len(items):,} items were excluded; none can be sampled"
        )
    return pool, lost(screened)


def _matched(
    spec: Preparation, items: Sequence[Item], answers: Iterable[Answer], systems: Sequence[str]
) -> tuple[list[Item], Counter[str], dict[str, int]]:
    """The items that may be drawn with their lexical match.

    Also: how many items may not, with the reason, and how many items each system answered.
    """
    item_ids = {item.id for item in items}
    texts = [
        a for a in answers if a.text and a.item in item_ids and (not systems or a.system in systems)
    ]
    systems = systems or sorted({a.system for a in texts})
    if not systems:
        raise PlanError(
            "prepare.lexical_match: there are no answers yet; run 'konsil answer' or import them"
            " first"
        )
    by_system: dict[str, set[str]] = {system: set() for system in systems}
    for answer in texts:
        by_system[answer.system].add(answer.item)
    answered = {system: len(ids) for system, ids in by_system.items()}
    complete = set.intersection(*by_system.values())
    if spec.unanswered == "refuse" and len(complete) < len(items):
        fewest = min(answered, key=lambda system: (answered[system], system))
        raise PlanError(
            f"prepare.lexical_match: {len(items) - len(complete):,} of {len(items):,} items are not"
            f" answered by all systems (system {fewest!r} answered {answered[fewest]:,}); run"
            ' \'konsil answer\', or state how to treat them: unanswered = "drop" or "keep"'
        )
    pool = [item for item in items if spec.unanswered != "drop" or item.id in complete]
    unanswered = Counter({"not answered by all systems": len(items) - len(pool)})
    matches = lexical_matches(pool, texts, same=spec.same, aliases=spec.aliases)
    return list(with_lexical_match(pool, matches)), unanswered, answered


def request_digest(spec: Preparation, seed: int, screened: Screened | None = None) -> str:
    """A digest of what is asked for, so that what was drawn for something else is noticed.

    A screening is part of it only where the protocol states one; rewriting and themes, which come
    after, never are.

    >>> spec = Preparation(lexical_match=True)
    >>> request_digest(spec, 1) == request_digest(spec, 2)
    False
    """
    stated = dataclasses.asdict(spec)
    for later in ("rewrite", "themes"):
        del stated[later]
    if spec.mask is None:
        del stated["mask"]
    if spec.sample is not None:
        usual = Sample(spec.sample.size)
        for name in (
            "across",
            "equal",
            "short",
        ):
            # What came later is in it only where a protocol states it.
            if getattr(spec.sample, name) == getattr(usual, name):
                del stated["sample"][name]
    request_parts: list[object] = [stated, seed]
    if spec.screen is None:
        del stated["screen"]
    else:
        stated["screen"] = plain(spec.screen)
        request_parts.append(screened.reasons() if screened is not None else None)
    text = json.dumps(request_parts, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def event_of(drawn: Drawn, number: int, at: str) -> Event:
    """What is kept of a draw; `number` counts the study's draws from 1."""
    return Event(
        f"{SAMPLING}-{number}",
        SAMPLING,
        "items",
        at,
        {"number": number, **dataclasses.asdict(drawn)},
    )


def last_drawn(events: Iterable[Event]) -> tuple[int, Drawn | None]:
    """The last draw among the events and its number; 0 and None where nothing was drawn."""
    draws = [event.data for event in events if event.kind == SAMPLING]
    if not draws:
        return 0, None
    data: Mapping[str, Any] = max(draws, key=_sample_number)
    names = {f.name for f in dataclasses.fields(Drawn)}
    return _sample_number(data), Drawn(
        **{name: value for name, value in data.items() if name in names}
    )


def _sample_number(data: Mapping[str, Any]) -> int:
    return int(data.get("number", 0))


def prepared(items: Iterable[Item], events: Iterable[Event]) -> tuple[Item, ...]:
    """All items in the words that were accepted, with their themes.

    Those drawn have their sets and their match.

    Applied again it changes nothing.
    """
    events = tuple(events)
    drawn = last_drawn(events)[1]
    items = with_themes(with_rewriting(items, events), last_themed(events)[1])
    if drawn is None:
        return items
    places = _with_versions(_places(drawn), items)
    return tuple(
        _placed(item, *places[item.id], drawn.sample) if item.id in places else item
        for item in items
    )


def in_study(
    items: Iterable[Item], events: Iterable[Event], also: Collection[str] = ()
) -> tuple[Item, ...]:
    """The items that were drawn, in the words that were accepted, with sets, match and theme.

    All where none was drawn.

    `also` are items that stay in whether they were drawn or not, such as those that somebody rated
    all the same. In the place of a masked case stand its versions; a case that is still being
    marked is not in the study.
    """
    events = tuple(events)
    drawn = last_drawn(events)[1]
    items = with_themes(with_rewriting(items, events), last_themed(events)[1])
    unmasked = {*versions_of(items), *last_markings(events)}.difference(also)
    if drawn is None:
        return tuple(item for item in items if item.id not in unmasked) if unmasked else items
    places = {
        item: place
        for item, place in _with_versions(_places(drawn), items).items()
        if item not in unmasked
    }
    return tuple(
        _placed(item, *places[item.id], drawn.sample) if item.id in places else item
        for item in items
        if item.id in places or item.id in also
    )


def _places(drawn: Drawn) -> dict[str, tuple[str, str]]:
    return {
        item: (name, match)
        for name, parts in drawn.drawn.items()
        for match, ids in parts.items()
        for item in ids
    }


def to_mask(items: Sequence[Item], events: Iterable[Event]) -> tuple[Item, ...]:
    """The cases to mask: those drawn, or all not screened out where nothing was drawn.

    What came in versions already is not among them.
    """
    events = tuple(events)
    drawn, screened = last_drawn(events)[1], last_screened(events)[1]
    out = screened.reasons() if screened is not None else {}
    places = _places(drawn) if drawn is not None else None
    return tuple(
        item
        for item in cases(items)
        if item.case is None and (item.id in places if places is not None else item.id not in out)
    )


def still_whole(items: Sequence[Item], events: Iterable[Event]) -> tuple[str, ...]:
    """The cases that are to be masked and have no versions yet."""
    versions = versions_of(items)
    return tuple(item.id for item in to_mask(items, events) if item.id not in versions)


def unmasked_cases_sentence(cases: Sequence[str]) -> str:
    """What is to be done about cases without versions."""
    named = ", ".join(cases[:5]) + (", ..." if len(cases) > 5 else "")
    has = "case has" if len(cases) == 1 else "cases have"
    return (
        f"{len(cases):,} {has} no versions yet ({named}); run 'konsil mask' when they are marked"
        " and approved"
    )


def _with_versions(
    places: dict[str, tuple[str, str]], items: Iterable[Item]
) -> dict[str, tuple[str, str]]:
    """The places of the drawn items and of the versions of masked cases.

    A version has the place of its case.
    """
    items = tuple(items)
    versions = {i.id for i in items if i.case is not None}
    version_places = {
        i.id: places[i.case] for i in items if i.case in places and i.case not in versions
    }
    return places | version_places


def _placed(item: Item, name: str, match: str, sample: bool) -> Item:
    new = (*([SAMPLE_SET] if sample else []), *([name] if name else []))
    sets = tuple(dict.fromkeys((*item.sets, *new)))
    return replace(item, sets=sets, strata={**item.strata, MATCH: match} if match else item.strata)
