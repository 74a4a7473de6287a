"""The column of the systems or groups that are compared, and the reading of all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.names import best_fit, fit, kinds
from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.reading import Proposal, StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import NAMED
from konsil.errors.message import TranslatableMessage, listed, message

_MOST_GROUPS = 20
"""Different values from which on a column is not taken for that of groups unless it is stated."""


def propose_groups(frame: pl.DataFrame, stated: StatedRoles) -> Proposal:
    """What the columns of a table are whose systems or groups are compared.

    The column of the groups is the stated one, or the only one that is named for systems, or else
    for groups. A table with a column for each system needs none.
    """
    columns = [stated.group] if stated.group else _group_columns(frame, stated)
    if stated.systems or stated.has_no_groups:
        return propose(frame, stated, "groups")
    if not columns:
        proposal = propose(frame, stated, "groups")
        if proposal.reading is not None and proposal.reading.shape == "systems":
            return proposal
        proposal = _with_systems(proposal)
        return _unclear(
            proposal,
            message(
                "No column names the systems or groups that are compared.",
                message_id="roles.no_groups",
            ),
        )
    name = columns[0]
    proposal = propose(frame, replace(stated, groups=(*stated.groups, name)), "groups")
    reading = None if proposal.reading is None else _with_group(proposal.reading, name)
    rivals = tuple(_with_group(rival, name) for rival in proposal.rivals)
    proposal = replace(proposal, reading=reading, rivals=rivals)
    if len(columns) == 1:
        return proposal
    return _unclear(
        proposal,
        message(
            "{columns}: each can be the groups that are compared.",
            message_id="roles.several_groups",
            columns=listed([shortened(column) for column in columns], end="{some}, {last}"),
        ),
    )


def _with_systems(proposal: Proposal) -> Proposal:
    """The proposal with columns of labels as systems, where they are not named for criteria."""
    reading = proposal.reading
    if reading is None or reading.shape != "long-criteria" or reading.criterion is not None:
        return proposal
    if any(kinds(name)["criterion"] == 1 for name in reading.rated):
        return proposal
    roles = {
        name: "unused" if name == reading.rater else role for name, role in reading.roles.items()
    }
    systems = replace(reading, shape="systems", rater=None, roles=roles)
    return replace(proposal, reading=systems, rivals=(reading, *proposal.rivals))


def _group_columns(frame: pl.DataFrame, stated: StatedRoles) -> list[str]:
    """The columns that can be the groups by their names, those of systems first."""
    stated_names = {
        *(*stated.units, *stated.raters, *stated.labels, *stated.groups, *stated.unused),
        *(stated.criterion, stated.repeat, stated.weight, stated.cluster),
    }
    free = [name for name in frame.columns if name not in stated_names]
    several = [name for name in free if has_groups(frame[name])]
    systems = [name for name in several if fit(name, "system") >= NAMED]
    # The system of all answers is a group of its own.
    single = [n for n in free if fit(n, "system") >= NAMED and has_groups(frame[n], 1)]
    return systems or [name for name in several if _is_named_for_groups(name)] or single


def _is_named_for_groups(name: str) -> bool:
    return fit(name, "group") >= NAMED and best_fit(name, ("unit", "rater", "label")) < 1


def has_groups(cells: pl.Series, fewest: int = 2) -> bool:
    """Whether a column has as many different values as groups, each of them repeated."""
    n = cells.drop_nulls().n_unique()
    return fewest <= n <= _MOST_GROUPS and 2 * n <= len(cells)


def _with_group(reading: TableReading, name: str) -> TableReading:
    unused = {column: reason for column, reason in reading.unused.items() if column != name}
    return replace(reading, group=name, unused=unused)


def _unclear(proposal: Proposal, *sentences: TranslatableMessage) -> Proposal:
    unclear: Sequence[TranslatableMessage] = (*sentences, *proposal.unclear)
    return replace(proposal, is_certain=False, unclear=tuple(unclear))
