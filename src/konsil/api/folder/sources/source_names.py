"""What a study calls the raters and criteria that the columns of a table stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis.table.pair_labels import steps_of_criterion
from konsil.api.folder.sources.source_keys import UNKNOWN, ended
from konsil.api.folder.sources.source_labels import explained_by
from konsil.design.tables.columns import Role
from konsil.design.tables.sources import RATED, Chosen
from konsil.errors import near_names, nearest
from konsil.errors.message import listed, message
from konsil.instrument import Instrument
from konsil.records import Rater, Source, System
from konsil.sources.files.table import Table

_SHOWN = 6
"""Columns that a sentence names."""


@dataclass(frozen=True)
class StudyNames:
    """The identifiers that the columns of a file may stand for."""

    instruments: Sequence[Instrument] = ()
    """The study's instruments."""
    raters: Sequence[Rater] = ()
    """The study's raters."""
    systems: Sequence[System] = ()
    """The study's systems."""

    @property
    def criteria(self) -> set[str]:
        """The criteria of all instruments."""
        return {c.id for i in self.instruments for c in i.criteria}

    @property
    def of_comparisons(self) -> StudyNames:
        """The names without criteria of other things than pairs of answers."""
        forms = (
            replace(form, criteria=tuple(c for c in form.criteria if c.scope == "pair"))
            for form in self.instruments
        )
        return replace(self, instruments=tuple(form for form in forms if form.criteria))

    def criterion(self, name: str) -> str | None:
        """The criterion that a text names by its identifier, or else by its title or question."""
        forms = [c for i in self.instruments for c in i.criteria]
        by_words = {c.id for c in forms if same(name, filter(None, (c.title, c.question)))}
        return same(name, self.criteria) or (by_words.pop() if len(by_words) == 1 else None)

    def rater(self, name: str) -> str | None:
        """The rater that a text names; any, where the study names none."""
        return same(name, {r.id for r in self.raters}) if self.raters else name


def same(name: str, ids: Iterable[str]) -> str | None:
    """The identifier that a text is but for case and spaces at its ends."""
    return next((i for i in ids if i.casefold() == name.strip().casefold()), None)


def raters_of(
    source: Source, parts: Mapping[str, str], roles: Mapping[str, Role], names: StudyNames
) -> tuple[dict[str, str], list[str]]:
    """Column -> its rater, and which of them the study does not have.

    A name that is nearly that of one rater is proposed to be this one.
    """
    columns = [name for name, role in roles.items() if role in ("label_of_rater", "label_of_both")]
    texts = {name: parts.get(name, name) for name in columns}
    in_study = source.values.get("rater", {})
    raters: dict[str, str] = {}
    for name, text in texts.items():
        named = names.rater(in_study.get(text, text))
        raters[name] = source.raters.get(name) or named or UNKNOWN
    nameless = [name for name in columns if raters[name] == UNKNOWN]
    ids = {rater.id for rater in names.raters}
    for name in nameless:
        near = near_names(texts[name], ids)
        raters[name] = near[0] if len(near) == 1 else UNKNOWN
    return raters, _unknown("rater", nameless, raters, ids)


def criteria_of(
    source: Source,
    parts: Mapping[str, str],
    roles: Mapping[str, Role],
    table: Table,
    names: StudyNames,
) -> tuple[dict[str, str], list[str]]:
    """Column -> its criterion, empty where the study has none for it, and which are not known.

    Where a column names the criterion of each row, no other one is of a criterion.
    Without a name, a column has the study's only criterion where it is the only one. Among several,
    the one whose scale explains its labels is proposed.
    """
    if "criterion" in roles.values():
        return {}, []
    columns = [name for name, role in roles.items() if role in RATED and role != "label"]
    headings = [n for n in columns if roles[n] in ("label_of_both", "label_of_criterion")]
    in_study = source.values.get("criterion", {})
    texts = {name: parts.get(name, name) for name in columns}
    criteria: dict[str, str] = {}
    for name, text in texts.items():
        stated = source.fixed.get("criterion") or source.criteria.get(name)
        named = names.criterion(in_study.get(text, text)) if name in headings else None
        criteria[name] = stated or named or ""
    nameless = [name for name in columns if not criteria[name]]
    of_texts = {texts[name] for name in headings}
    if nameless and len(names.criteria) == 1 and len(of_texts) <= 1:
        return dict.fromkeys(columns, next(iter(names.criteria))), []
    free = names.criteria - {*criteria.values()}
    groups = [[n for n in nameless if texts[n] == text] for text in dict.fromkeys(texts.values())]
    groups = groups if headings else [nameless]
    explained = [explained_by(table, group, source, names.instruments) & free for group in groups]
    for group, ids in zip(groups, explained, strict=True):
        is_only = len(ids) == 1 and sum(bool(ids & others) for others in explained) == 1
        proposed = next(iter(ids)) if is_only else UNKNOWN if free else ""
        criteria.update(dict.fromkeys(group, proposed))
    if nameless and not headings:
        valid = ", ".join(sorted(names.criteria))
        return criteria, [f"The criterion is not named; expected one of {valid}."]
    return criteria, _unknown("criterion", nameless, criteria, names.criteria)


def with_own_names(source: Source, chosen: Chosen) -> tuple[Chosen, list[str]]:
    """The columns without names that others have, too, and which have them; stated ones stay.

    Of columns such as 'Ann' and 'ANN', the one that is called exactly so keeps the name.
    """
    columns_by_names: dict[tuple[str, str], list[str]] = {}
    for name in chosen.columns("label_of_rater", "label_of_both", "label_of_criterion"):
        names = chosen.raters.get(name, ""), chosen.criteria.get(name, "")
        if UNKNOWN not in names and any(names):
            columns_by_names.setdefault(names, []).append(name)
    raters, criteria = dict(chosen.raters), dict(chosen.criteria)
    unclear: list[str] = []
    for names, columns in columns_by_names.items():
        if len(columns) < 2 or {*columns} <= {*source.raters, *source.criteria}:
            continue
        by_column = raters if names[0] else criteria
        identifier = names[0] or names[1]
        exact = identifier if identifier in columns else columns[0]
        by_column.update((name, UNKNOWN) for name in columns if name != exact)
        text = message(
            "{columns} would all be {identifier}: state another name for each but one, or leave it"
            " out with {unused}.",
            message_id="import.same_names",
            columns=listed([repr(name) for name in columns]),
            identifier=repr(identifier),
            unused="unused",
        )
        unclear.append(text)
    return replace(chosen, raters=raters, criteria=criteria), unclear


def first_label(names: StudyNames, criterion: str | None) -> tuple[dict[str, str], list[str]]:
    """The fixed fields of comparisons that the first system won, and what of them is not known."""
    forms = {c.id: c for i in names.instruments for c in i.criteria}
    criterion = criterion or (next(iter(forms)) if len(forms) == 1 else None)
    if criterion not in forms:
        fixed = {"criterion": UNKNOWN, "label": UNKNOWN}
        return fixed, [f"The criterion is not named; expected one of {', '.join(sorted(forms))}."]
    won = [label for label, n in steps_of_criterion(forms[criterion], criterion).items() if n > 0]
    fixed = {"criterion": criterion, "label": won[0] if len(won) == 1 else UNKNOWN}
    labels = ", ".join(map(repr, won))
    return fixed, [] if len(won) == 1 else [f"The label of a win is not named; known: {labels}."]


def _unknown(
    kind: str, nameless: Sequence[str], identifiers: Mapping[str, str], valid: Collection[str]
) -> list[str]:
    """That some columns have no identifier of the study, and what the keys have in its place."""
    if not nameless:
        return []
    listed = ", ".join(map(repr, nameless[:_SHOWN]))
    unclear = [ended(f"There is no {kind} {listed}; {nearest(nameless[0], valid)}")]
    if left_out := [name for name in nameless if not identifiers[name]]:
        unclear.append(f"Not read as long as no {kind} is stated: {', '.join(left_out)}.")
    return unclear
