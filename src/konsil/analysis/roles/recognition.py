"""What the columns of a table are: as stated, as they can only be, or a refusal with a proposal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.roles.candidates.axes import axis_question, with_axis
from konsil.analysis.roles.candidates.cells import cross_tables
from konsil.analysis.roles.candidates.compared.preference_scales import (
    outcome_arguments,
    unclear_outcomes,
)
from konsil.analysis.roles.candidates.group_columns import propose_groups
from konsil.analysis.roles.columns import table_of
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.names import fit, kinds
from konsil.analysis.roles.proof import left_out, unclear_totals
from konsil.analysis.roles.proposal import (
    LEAST,
    are_mirrored,
    propose,
    separator_of,
    table_of_rows,
    unclear_sets,
)
from konsil.analysis.roles.questions.arguments import (
    arguments,
    choice_of_rounds,
    combination,
    how_to_state,
    unknown_roles,
)
from konsil.analysis.roles.questions.heading_rows import (
    heading_words,
    unclear_headings,
    without_headings,
)
from konsil.analysis.roles.questions.labels import unanswered
from konsil.analysis.roles.questions.spellings import cell_arguments, unclear_cells
from konsil.analysis.roles.questions.stacked import leaves_tables_open, open_sheets
from konsil.analysis.roles.questions.stateable import (
    has_no_ratings,
    has_numbers,
    is_last_resort,
    without_condition,
)
from konsil.analysis.roles.reading import (
    COMPARISONS,
    COMPUTABLE,
    SHAPES_OF,
    Proposal,
    Purpose,
    Role,
    StatedRoles,
    TableReading,
    Task,
)
from konsil.analysis.roles.stated import check_columns, check_names, check_used
from konsil.analysis.roles.statement import first_row, sentence
from konsil.analysis.roles.vocabulary import NAMED
from konsil.errors import UnclearTableError, entry, option
from konsil.errors.message import TranslatableMessage, message

_AS_LIKELY = 1.5
"""Points by which a reading may be behind the likeliest one, and be as likely."""
_STATED = frozenset(
    {"layout", "unit", "rater", "criterion", "label", "labels", "names", "split", "cluster"}
    | {"unused", "item", "first", "second", "outcome", "won", "lost", "tied", "by", "ends"}
    | {"swapped"}
)
"""Roles that commands and functions have parameters for."""


@dataclass(frozen=True)
class Recognised:
    """A table whose columns have their roles."""

    reading: TableReading
    """What every column is."""
    is_stated: bool
    """Whether the user has stated it all."""
    frame: pl.DataFrame
    """The table, or its first rows."""

    def statement(self, n_units: int) -> str:
        """The reading in one line; empty where the user has stated it all."""
        # A name that reverses the outcomes is stated by its column alone.
        is_silent = self.is_stated and not self.reading.names_losers
        return "" if is_silent else str(sentence(self.reading, self.frame, n_units))


def recognise(
    frame: pl.DataFrame,
    stated: StatedRoles,
    purpose: Purpose,
    table: pl.DataFrame | None = None,
) -> Recognised:
    """The reading of a table, where it is stated or there is only one.

    `table`: all rows, where `frame` are some of its rows as texts. Raises UnclearTableError with
    the likeliest reading and the options that state it.
    """
    table = frame if table is None else table
    if purpose.file_roles is not None:
        return _of_known(frame, stated, purpose, table)
    laid_out = by_layout(frame, stated, purpose)
    ratings = without_headings(table, stated)
    is_grouped = laid_out is not None and (stated.has_no_groups or laid_out.group is not None)
    if purpose.task == "groups" and not is_grouped:
        laid_out = None
    if laid_out is not None:
        check_used(laid_out, stated, purpose)
        of_cells = unclear_cells(
            without_headings(frame, stated), laid_out, stated, purpose.separator
        )
        of_rows = unclear_headings(frame, laid_out, stated)
        of_sheets = open_sheets(laid_out, purpose)
        unclear = (*unclear_sets(laid_out, stated), *of_rows, *of_cells, *of_sheets)
        if unclear:
            raise _refusal(frame, Proposal(laid_out, unclear=unclear), stated, purpose)
        return Recognised(laid_out, laid_out.units == stated.units, frame)
    proposal = _without_repeats(frame, stated, purpose, _proposed(frame, stated, purpose.task))
    reading = proposal.reading
    if reading is not None:
        proposal = _with_questions(
            proposal,
            *_unclear_rows(reading, stated, purpose),
            *unclear_headings(table, reading, stated),
            *unclear_cells(ratings, reading, stated, purpose.separator),
            *unclear_outcomes(ratings, reading, stated),
            *(unclear_totals(ratings, reading) if table is not frame else ()),
            *open_sheets(reading, purpose),
        )
    if reading is not None and purpose.task == "ratings" and reading.shape in COMPARISONS:
        raise _refusal(frame, proposal, stated, purpose)
    if reading is not None and proposal.is_certain:
        check_used(reading, stated, purpose)
    is_stated = reading is not None and {*reading.columns} <= {*stated.columns}
    # Names of columns that the user has stated are read as they are meant.
    if reading is None or not proposal.is_certain or (purpose.unclear and not is_stated):
        raise _refusal(table, proposal, stated, purpose)
    # Columns by which rows are chosen or grouped are used.
    unused = {n: reason for n, reason in reading.unused.items() if n not in stated.groups}
    return Recognised(replace(reading, unused=unused), is_stated, table)


def _with_questions(proposal: Proposal, *questions: TranslatableMessage) -> Proposal:
    unclear = tuple(dict.fromkeys((*proposal.unclear, *questions)))
    return replace(proposal, unclear=unclear, is_certain=proposal.is_certain and not questions)


def proved(
    table: pl.DataFrame, recognised: Recognised, stated: StatedRoles, purpose: Purpose
) -> Recognised:
    """What some rows showed of a table, proved on all of them; refused where labels are unclear."""
    reading, ratings = recognised.reading, without_headings(table, stated)
    if unclear := (
        *unclear_headings(table, reading, stated),
        *unclear_cells(ratings, reading, stated),
        *unclear_totals(ratings, reading),
    ):
        raise _refusal(table, Proposal(reading, unclear=unclear), stated, purpose)
    return recognised


def _unclear_rows(
    reading: TableReading, stated: StatedRoles, purpose: Purpose
) -> Iterator[TranslatableMessage]:
    """What is asked of several rows of one unit: rounds of ratings, and clusters."""
    column = reading.repeat
    if column is not None and stated.repeat is None and not purpose.has_rule:
        by = "" if purpose.task == "groups" else option("by", column)
        rule = option("repeat", "first") if reading.shape in SHAPES_OF["long"] else ""
        yield message(
            "Choose the rows by {column}, or what counts of several ratings: {options}.",
            message_id="roles.rounds",
            column=shortened(column),
            options=", ".join(filter(None, (by, entry("where", column, "'...'", "..."), rule))),
        )
    if reading.cluster is not None and stated.cluster is None:
        yield message(
            "Rows of one {column} may be dependent: they are resampled together with {cluster}.",
            message_id="roles.may_be_clusters",
            column=shortened(reading.cluster),
            cluster=option("cluster", reading.cluster),
        )


def _of_known(
    frame: pl.DataFrame, stated: StatedRoles, purpose: Purpose, table: pl.DataFrame
) -> Recognised:
    """The reading by the roles that are known where the user states no other.

    Roles that have to be confirmed are proposed, and read where the user states their layout.
    """
    file_roles, question = purpose.file_roles or StatedRoles(), purpose.question
    unasked = replace(purpose, file_roles=None, question="")
    free = file_roles.without(stated.columns)
    is_open = not stated.has_ratings and free.raters == file_roles.raters
    is_open = is_open and free.criterion == file_roles.criterion
    is_asked = bool(question) and (is_open or leaves_tables_open(table, stated, file_roles))
    is_own = bool(question) and not is_asked and stated.layout in (None, "wide")
    # Who rated is known where a column names the raters: the respondents are none.
    is_own = is_own or (is_asked and any(_names_raters(n, file_roles) for n in frame.columns))
    if purpose.task == "comparisons":
        is_own = is_own or file_roles.layout != "long"
        # The label of a comparison is its outcome, which is recognised by its values.
        is_asked = is_asked and not file_roles.labels
        free = replace(free, layout=None, labels=())
    if is_own:
        return recognise(frame, stated, unasked, table)
    completed = stated.with_known(free)
    if is_asked:
        unclear = (*unasked.unclear, question)
        unasked = replace(unasked, unclear=unclear, of_tool=frozenset({"unused"}))
        remarks = [name for name in completed.labels if fit(name, "comment") >= NAMED]
        if len(remarks) < len(completed.labels):
            completed = completed.without(remarks)
        reading = recognise(frame, completed, unasked, table).reading
        raise _refusal(table, Proposal(reading), StatedRoles(), unasked)
    recognised = recognise(frame, completed, unasked, table)
    return recognised if completed == stated else replace(recognised, is_stated=False)


def _names_raters(name: str, file_roles: StatedRoles) -> bool:
    """Whether a column is named for raters, beside those that a tool takes for raters."""
    is_of_tool = name in {*file_roles.raters, *file_roles.labels}
    return not is_of_tool and fit(name, "rater") == 1 and not any(map(str.isdigit, name))


def _proposed(frame: pl.DataFrame, stated: StatedRoles, task: Task) -> Proposal:
    if task == "groups":
        return propose_groups(frame, stated)
    return propose(frame, stated, task)


def by_layout(frame: pl.DataFrame, stated: StatedRoles, purpose: Purpose) -> TableReading | None:
    """The reading of a table that is stated to have a column for each rater, or for each label.

    All columns are then raters or labels but those that are stated to be something else, and the
    first one that is called like a unit. None where the layout is another one or not stated.
    Columns and names that the table does not have are refused.
    """
    check_columns(frame, stated, purpose)
    check_names(frame, stated, purpose)
    if stated.layout not in {"wide", "counts"} or len(stated.raters) > 1 or stated.names:
        return None
    named = (n for n in frame.columns if fit(n, "unit") >= NAMED and not kinds(n)["label"])
    units = stated.units or tuple(named)[:1]
    others = {*units, stated.cluster, stated.group, stated.system, *stated.groups, *stated.unused}
    declared = tuple(name for name in stated.declared if name in frame.columns)
    is_declared = stated.layout == "counts" and bool(stated.scale)
    rated = declared if is_declared else tuple(n for n in frame.columns if n not in others)
    roles: dict[str, Role] = dict.fromkeys(frame.columns, "unused")
    roles.update(dict.fromkeys(units, "unit"))
    roles.update(dict.fromkeys(rated, "rating"))
    is_wide = stated.layout == "wide"
    return TableReading(
        shape="wide" if is_wide else "counts",
        units=units,
        rated=rated,
        cluster=stated.cluster,
        group=stated.group,
        roles=roles,
        split=separator_of(table_of_rows(frame, stated), rated, stated) if is_wide else "",
        points=LEAST,
    )


def _without_repeats(
    frame: pl.DataFrame, stated: StatedRoles, purpose: Purpose, proposal: Proposal
) -> Proposal:
    """The proposal for a table in which a few ratings are repeated: that of the others.

    What the repeated ratings count for is decided where they are read: equal ones are one rating,
    and of different ones none is chosen without a stated rule.
    """
    if proposal.is_certain or purpose.task == "comparisons":
        return proposal
    readings = [] if proposal.reading is None else [proposal.reading, *proposal.rivals]
    for reading in readings:
        if reading.shape != "rows-to-combine" or reading.rater is None:
            continue
        key = [*reading.units, reading.rater]
        key += [name for name in (reading.criterion, reading.group) if name is not None]
        once = frame.unique(key, keep="first", maintain_order=True)
        if purpose.has_rule or frame.height - once.height <= _MOST_REPEATED * frame.height:
            without = _proposed(once, stated, purpose.task)
            if without.is_certain and without.reading is not None:
                return without
    return proposal


_MOST_REPEATED = 0.2
"""The share of rows up to which repeats are no rows of another kind, such as one for each error."""


def names_units(name: str, frame: pl.DataFrame) -> bool:
    """Whether the rows' names of a data frame are units, by what they are called.

    Those of a cross table are labels.
    """
    is_cross_table = any(True for _ in cross_tables(table_of(frame, (), ()), StatedRoles()))
    return max(fit(name, "rater"), fit(name, "label")) < NAMED and not is_cross_table


def _comparisons() -> TranslatableMessage:
    return message(
        "Comparisons of two systems are analysed by `preference`, not by `agreement`.",
        message_id="roles.for_preference",
    )


def refusal_of_axis(
    recognised: Recognised, column: str, stated: StatedRoles, purpose: Purpose
) -> UnclearTableError:
    """The refusal of comparisons that all rows repeat for each value of a column."""
    proposal = Proposal(with_axis(recognised.reading, column), unclear=(axis_question(column),))
    return _refusal(recognised.frame, proposal, stated, purpose)


def _rates_systems(reading: TableReading, likeliest: TableReading) -> bool:
    """Whether the labels of criteria are the names of the systems that are probably compared."""
    return likeliest.sides is not None and {*likeliest.sides} <= {*reading.criteria}


def _refusal(
    frame: pl.DataFrame, proposal: Proposal, stated: StatedRoles, purpose: Purpose
) -> UnclearTableError:
    """The refusal of a table, with the likeliest reading that has numbers to compute."""
    with_headings, frame = frame, without_headings(frame, stated)
    unclear = (*purpose.unclear, *map(str, proposal.unclear))
    readings = [] if proposal.reading is None else [proposal.reading, *proposal.rivals]
    if purpose.task == "groups":
        readings = [without_condition(reading, stated) for reading in readings]
    likely = [
        r
        for r in readings
        if r.points > readings[0].points - _AS_LIKELY and not _rates_systems(r, readings[0])
    ]
    is_other = bool(readings) and (
        (readings[0].shape in COMPARISONS) != (purpose.task == "comparisons")
        or has_no_ratings(frame, readings[0])
    )
    ranks = (likely,) if is_other else (likely, readings)
    computable = [r for rank in ranks for r in rank if has_numbers(frame, r, stated, purpose)]
    if readings and not computable and not is_other and readings[0].shape not in COMPUTABLE:
        computable = [r for r in readings if is_last_resort(frame, r, stated, purpose)]
    reading = next(iter(computable), proposal.reading)
    if reading is None:
        unclear = (*unclear, str(how_to_state(purpose)))
        return UnclearTableError(purpose.name, unclear=unclear, columns=tuple(frame.columns))
    statement = str(sentence(reading, frame))
    unclear = tuple(text for text in unclear if statement not in text)
    if purpose.task == "ratings" and reading.shape in COMPARISONS:
        unclear = (str(_comparisons()),)
    of_task = {"system"} if purpose.task == "groups" else frozenset[str]()
    stateable = (_STATED | of_task) - purpose.of_tool
    proposed = [(name, values) for name, values in arguments(reading) if name in stateable]
    if purpose.task == "groups" and reading.group is None and reading.shape != "systems":
        proposed += [("by", ("-",)), *unknown_roles(reading)]
    proposed += choice_of_rounds(frame, reading, stated, purpose)
    proposed += combination(frame, reading)
    words = heading_words(with_headings, reading, stated)
    proposed += cell_arguments(frame, reading, stated, purpose.separator, words)
    proposed += outcome_arguments(frame, reading, stated)
    # A file has one sign of rows that are left out.
    sign = left_out(frame, reading)
    is_stateable = sign is not None and not any(
        unanswered(frame, reading, stated, purpose.separator)
    )
    is_stateable = is_stateable and not are_mirrored(frame, reading)
    if is_stateable and not computable and not is_other:
        unclear = (*unclear, str(how_to_state(purpose)))
    proposed += [("comment", sign)] if sign else []
    return UnclearTableError(
        purpose.name,
        statement=statement,
        first_row=str(first_row(reading, frame, {"scale": stated.scale, **dict(proposed)})),
        unclear=unclear,
        arguments=tuple(proposed) if computable and is_stateable else (),
        roles=reading.roles,
        columns=tuple(frame.columns),
    )
