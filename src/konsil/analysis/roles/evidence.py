"""A reading under construction: its parts, and the evidence for and against it with its points."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from konsil.analysis.roles.reading import TEXTS, Role, Shape, TableReading
from konsil.errors import choice, option
from konsil.errors.message import TranslatableMessage, message

CUT = 60
"""Characters of a text that are shown."""


def shortened(text: str) -> str:
    """A text of at most 60 characters.

    >>> len(shortened("x" * 90)), shortened("short")
    (60, 'short')
    """
    return text if len(text) <= CUT else text[: CUT - 3] + "..."


def _with_parts_exchanged(pattern: str) -> str:
    """A pattern of names whose parts say each other's role.

    >>> _with_parts_exchanged("{rater}_{criterion}")
    '{criterion}_{rater}'
    """
    others = {"{rater}": "{criterion}", "{criterion}": "{rater}"}
    return re.sub("|".join(others), lambda part: others[part.group()], pattern)


REASONS: Mapping[str, Callable[[str], TranslatableMessage]] = {
    "stated": lambda c: message("{column} is stated.", message_id="roles.stated", column=c),
    "names_of_kind": lambda c: message(
        "The columns' names fit ({column}).", message_id="roles.names_of_kind", column=c
    ),
    "names_of_other_kind": lambda c: message(
        "Columns are named for something else: {column}.",
        message_id="roles.names_of_other_kind",
        column=c,
    ),
    "names_do_not_tell": lambda c: message(
        "The names of the columns do not show what they are ({column}).",
        message_id="roles.names_do_not_tell",
        column=c,
    ),
    "product": lambda c: message(
        "The columns' names are all the pairs of two lists ({column}).",
        message_id="roles.product",
        column=c,
    ),
    "product_open": lambda c: message(
        "State which part of the columns' names stands for the rater: {one} or {other}.",
        message_id="roles.product_open",
        one=option("names", c),
        other=option("names", _with_parts_exchanged(c)),
    ),
    "sum_among": lambda c: message(
        "A sum is among the columns: {column}.", message_id="roles.sum_among", column=c
    ),
    "common_labels": lambda c: message(
        "The columns have common values ({column}).", message_id="roles.common_labels", column=c
    ),
    "whole_table": lambda c: message(
        "All columns of the table have the same values ({column}).",
        message_id="roles.whole_table",
        column=c,
    ),
    "series": lambda c: message(
        "The columns' names differ in a number or letter only ({column}).",
        message_id="roles.series",
        column=c,
    ),
    "never_equal": lambda c: message(
        "The columns never have the same value in a row ({column}).",
        message_id="roles.never_equal",
        column=c,
    ),
    "each_of_a_text": lambda c: message(
        "Each column is named for a column of texts ({column}).",
        message_id="roles.each_of_a_text",
        column=c,
    ),
    "unit_in_each_row": lambda c: message(
        "{column} has another value in each row.", message_id="roles.unit_in_each_row", column=c
    ),
    "two_columns_name_unit": lambda c: message(
        "Two columns together name the rows: {column}.",
        message_id="roles.two_columns_name_unit",
        column=c,
    ),
    "rows_are_units": lambda c: message(
        "No column names the units; each row is one ({column}).",
        message_id="roles.rows_are_units",
        column=c,
    ),
    "rows_of_rounds": lambda c: message(
        "{column} distinguishes several ratings by one rater.",
        message_id="roles.tells_repeats",
        column=c,
    ),
    "unit_has_rows": lambda c: message(
        "{column} has the same value in several rows.", message_id="roles.unit_has_rows", column=c
    ),
    "row_a_rater": lambda c: message(
        "{column} names a rater in each row.", message_id="roles.row_a_rater", column=c
    ),
    "may_name_raters": lambda c: message(
        "{column} may name the raters.", message_id="roles.may_name_raters", column=c
    ),
    "no_rater_named": lambda c: message(
        "No column names the raters ({column}).", message_id="roles.no_rater_named", column=c
    ),
    "more_columns_than_rows": lambda c: message(
        "There are more columns than rows ({column}).",
        message_id="roles.more_columns_than_rows",
        column=c,
    ),
    "rater_column": lambda c: message(
        "Another column names raters: {column}.", message_id="roles.rater_column", column=c
    ),
    "same_sum": lambda c: message(
        "Each row has the same sum, as numbers of raters per label have ({column}).",
        message_id="roles.same_sum",
        column=c,
    ),
    "other_sums": lambda c: message(
        "The sums of the rows differ; they may count something else than raters ({column}).",
        message_id="roles.other_sums",
        column=c,
    ),
    "sum_beside": lambda c: message(
        "{column} is the sum of each row.", message_id="roles.sum_beside", column=c
    ),
    "percent": lambda c: message(
        "Each row has the sum 100: of shares in per cent, the numbers of raters are unknown"
        " ({column}).",
        message_id="roles.percent",
        column=c,
    ),
    "of_pairs": lambda c: message(
        "The numbers are the same above and below the diagonal, as those of units that two raters"
        " share are ({column}): if they are a cross table of two raters, state {layout}.",
        message_id="roles.of_pairs",
        column=c,
        layout=choice("layout", "cross-table"),
    ),
    "gold_beside": lambda c: message(
        "A column for a reference or consensus has the same values ({column}).",
        message_id="roles.gold_beside",
        column=c,
    ),
    "of_one_rater": lambda c: message(
        "Columns are named for a rater, with a further word ({column}): they may be second ratings"
        " by this rater, or something else.",
        message_id="roles.of_one_rater",
        column=c,
    ),
    "named_for_units": lambda c: message(
        "{column} is named for units.", message_id="roles.named_for_units", column=c
    ),
    "named_for_raters": lambda c: message(
        "{column} is named for raters.", message_id="roles.named_for_raters", column=c
    ),
    "named_for_other": lambda c: message(
        "{column} is named for something else.", message_id="roles.named_for_other", column=c
    ),
    "named_for_ratings": lambda c: message(
        "{column} is named for ratings.", message_id="roles.named_for_ratings", column=c
    ),
    "cells_name_raters": lambda c: message(
        "The cells of {column} look like names of raters.",
        message_id="roles.cells_name_raters",
        column=c,
    ),
    "no_sign_of_raters": lambda c: message(
        "Neither the name nor the cells of {column} indicate raters.",
        message_id="roles.no_sign_of_raters",
        column=c,
    ),
    "unit_decides": lambda c: message(
        "Other columns depend only on {column}.", message_id="roles.unit_decides", column=c
    ),
    "few_units": lambda c: message(
        "{column} has hardly any different values.", message_id="roles.few_units", column=c
    ),
    "more_units": lambda c: message(
        "There are more units than raters ({column}).", message_id="roles.more_units", column=c
    ),
    "more_raters": lambda c: message(
        "There are no more units than raters ({column}).",
        message_id="roles.more_raters",
        column=c,
    ),
    "each_once": lambda c: message(
        "Each rater rates each unit once ({column}).", message_id="roles.each_once", column=c
    ),
    "several_rows": lambda c: message(
        "A rater has several rows of one unit ({column}).",
        message_id="roles.several_rows",
        column=c,
    ),
    "errors": lambda c: message(
        "Each row is an error; {column} is its severity.", message_id="roles.errors", column=c
    ),
    "crossed": lambda c: message(
        "Units and raters are crossed ({column}).", message_id="roles.crossed", column=c
    ),
    "few_shared_units": lambda c: message(
        "Few units have two raters ({column}).", message_id="roles.few_shared_units", column=c
    ),
    "other_unit": lambda c: message(
        "{column} is named for units, too.", message_id="roles.other_unit", column=c
    ),
    "named_for_criteria": lambda c: message(
        "{column} is named for criteria.", message_id="roles.named_for_criteria", column=c
    ),
    "tells_repeats": lambda c: message(
        "{column} distinguishes several ratings by one rater.",
        message_id="roles.tells_repeats",
        column=c,
    ),
    "part_of_unit": lambda c: message(
        "{column} is part of the unit's name.", message_id="roles.part_of_unit", column=c
    ),
    "no_rater": lambda c: message(
        "{column} may not be the rater.", message_id="roles.no_rater", column=c
    ),
    "named_for_labels": lambda c: message(
        "The ratings' columns are named for labels or criteria: {column}.",
        message_id="roles.named_for_labels",
        column=c,
    ),
    "only_label": lambda c: message(
        "One of several columns of ratings is named for the only one: {column}.",
        message_id="roles.only_label",
        column=c,
    ),
    "criteria_not_named": lambda c: message(
        "Neither units nor criteria are named as such ({column}).",
        message_id="roles.criteria_not_named",
        column=c,
    ),
    "criteria_apart": lambda c: message(
        "Not all of these columns have common values: {column}.",
        message_id="roles.criteria_apart",
        column=c,
    ),
    "same_for_all_raters": lambda c: message(
        "{column} is the same for all raters of a unit.",
        message_id="roles.same_for_all_raters",
        column=c,
    ),
    "another_in_each_row": lambda c: message(
        "{column} differs in every row.", message_id="roles.another_in_each_row", column=c
    ),
    "other_criterion": lambda c: message(
        "{column} could be another criterion.", message_id="roles.other_criterion", column=c
    ),
    "pairs": lambda c: message(
        "Two columns contain the same systems, never the same in one row, and a third one who won"
        " ({column}).",
        message_id="roles.pairs",
        column=c,
    ),
    "sides": lambda c: message(
        "Columns are named for the two sides of a comparison: {column}.",
        message_id="roles.sides",
        column=c,
    ),
    "orders": lambda c: message(
        "Columns have the outcomes of the two orders of the systems: {column}.",
        message_id="roles.orders",
        column=c,
    ),
    "wins": lambda c: message("Columns count wins: {column}.", message_id="roles.wins", column=c),
    "preferences": lambda c: message(
        "Outcomes are no systems, sides or ties: {column}.",
        message_id="roles.preferences",
        column=c,
    ),
    "crossed_labels": lambda c: message(
        "Rows and columns have the same names, and cells are counts ({column}).",
        message_id="roles.crossed_labels",
        column=c,
    ),
    "span": lambda c: message(
        "Columns are named for places in a text: {column}.", message_id="roles.span", column=c
    ),
    "object": lambda c: message(
        "Cells of {column} contain objects.", message_id="roles.object", column=c
    ),
    "list": lambda c: message(
        "Cells of {column} contain several labels.", message_id="roles.list", column=c
    ),
    "texts": lambda c: message(
        "Texts differ in every row: {column}.", message_id="roles.texts", column=c
    ),
    "named_for_texts": lambda c: message(
        "{column} is named for its texts.", message_id="roles.named_for_texts", column=c
    ),
    "named_for_systems": lambda c: message(
        "{column} is named for systems.", message_id="roles.named_for_systems", column=c
    ),
    "systems_alone": lambda c: message(
        "{column} contains systems, but is not named for outcomes.",
        message_id="roles.systems_alone",
        column=c,
    ),
    "results": lambda c: message(
        "Columns are named for the systems that won and that lost: {column}.",
        message_id="roles.results",
        column=c,
    ),
    "sides_alone": lambda c: message(
        "{column} contains sides, but is not named for outcomes.",
        message_id="roles.sides_alone",
        column=c,
    ),
    "left_out": lambda c: message("{column} is not used.", message_id="roles.left_out", column=c),
    "left_out_alike": lambda c: message(
        "{column} is not used though it is like the columns of ratings.",
        message_id="roles.left_out_alike",
        column=c,
    ),
}
"""What speaks for or against a reading, with the column that it is about."""

ASKED = frozenset(
    {"unit_has_rows", "rows_of_rounds", "may_name_raters", "criteria_apart", "criteria_not_named"}
    | {"other_sums", "percent", "of_pairs", "of_one_rater"}
    | {"sides_alone", "systems_alone", "product_open"}
)
"""What is asked whatever else speaks for a reading."""


@dataclass
class Draft:
    """A reading under construction; its sentences are written when it is shown."""

    shape: Shape
    units: tuple[str, ...] = ()
    rater: str | None = None
    rated: tuple[str, ...] = ()
    criterion: str | None = None
    system: str | None = None
    repeat: str | None = None
    weight: str | None = None
    cluster: str | None = None
    sides: tuple[str, str] | None = None
    outcome: str | None = None
    second_outcome: str | None = None
    ends: tuple[float, float] | None = None
    wins: dict[str, str] = field(default_factory=dict)
    names: str = ""
    split: str = ""
    texts: dict[str, Role] = field(default_factory=dict)
    """Of texts to be rated: the columns of questions, of reference answers, and of groups."""
    roles: dict[str, Role] = field(default_factory=dict)
    """The roles of columns that are not used."""
    evidence: list[tuple[float, str, str]] = field(default_factory=list)
    """Points, the key in REASONS, and the column."""
    points: float = 0.0
    numbers: tuple[object, ...] = ()
    """What decides the numbers: drafts that are equal in it are one."""

    def add(self, points: float, reason: str, column: str = "") -> None:
        """Add evidence; without points it is none."""
        if points:
            self.points += points
            self.evidence.append((points, reason, column))

    def copy(self, **changes: object) -> Draft:
        """The same draft, with some parts changed; it shares no list with this one."""
        fresh = {
            "roles": dict(self.roles),
            "texts": dict(self.texts),
            "evidence": list(self.evidence),
        }
        return replace(self, **{**fresh, **changes})  # type: ignore[arg-type]

    @property
    def used(self) -> dict[str, Role]:
        """The roles of the columns that are used."""
        singles: dict[str | None, Role] = {
            self.rater: "rater",
            self.criterion: "criterion",
            self.system: "system",
            self.repeat: "repeat",
            self.weight: "weight",
            self.outcome: "outcome",
            self.second_outcome: "outcome",
        }
        roles: dict[str, Role] = dict.fromkeys(self.units, "unit")
        roles |= dict.fromkeys(self.rated, "answer" if self.shape in TEXTS else "rating")
        roles |= self.texts
        roles |= {name: role for name, role in singles.items() if name is not None}
        if self.sides:
            roles |= {self.sides[0]: "first", self.sides[1]: "second"}
        for role in ("won", "lost", "tied"):
            if role in self.wins:
                roles[self.wins[role]] = role
        return roles


def unused_because(role: Role) -> TranslatableMessage:
    """Why a column is not used."""
    sentences: Mapping[Role, TranslatableMessage] = {
        "text": message("texts", message_id="roles.unused_text"),
        "comment": message("comments", message_id="roles.unused_comment"),
        "time": message("dates or times", message_id="roles.unused_time"),
        "confidence": message("confidence", message_id="roles.unused_confidence"),
        "sum": message("a sum or mean", message_id="roles.unused_sum"),
        "gold": message("a reference or consensus", message_id="roles.unused_gold"),
        "row": message("names or numbers of the rows", message_id="roles.unused_row"),
        "group": message("a characteristic", message_id="roles.unused_group"),
        "repeat": message("a round of ratings", message_id="roles.unused_repeat"),
        "weight": message("weights or counts", message_id="roles.unused_weight"),
        "empty": message("no value in any row", message_id="roles.unused_empty"),
        "cluster": message("clusters, as stated", message_id="roles.unused_cluster"),
    }
    return sentences.get(role, message("no role", message_id="roles.unused_other"))


def reading_of(draft: Draft, columns: list[str], cluster: str | None) -> TableReading:
    """A complete reading: every column of the table has its role."""
    used, cluster = draft.used, cluster or draft.cluster
    if cluster is not None and cluster not in used:
        used[cluster] = "cluster"
    roles = {name: used.get(name) or draft.roles.get(name, "empty") for name in columns}
    return TableReading(
        shape=draft.shape,
        units=draft.units,
        rater=draft.rater,
        rated=draft.rated,
        criterion=draft.criterion,
        system=draft.system,
        repeat=draft.repeat,
        weight=draft.weight,
        cluster=cluster,
        sides=draft.sides,
        outcome=draft.outcome,
        second_outcome=draft.second_outcome,
        ends=draft.ends,
        wins=draft.wins,
        names=draft.names,
        split=draft.split,
        roles=roles,
        unused={name: unused_because(role) for name, role in roles.items() if name not in used},
        points=draft.points,
    )
