"""Exports of survey tools: LimeSurvey, Qualtrics and REDCap, with a row for each respondent.

Which questions are the ratings, and whether the respondents are raters, only the user knows: that
the columns of most common labels are what the respondents rate is proposed and asked. Columns that
the tool adds (times, identifiers, states) are no answers, and unfinished answers are left out.
Double data entry of REDCap has a row for each record and each person who entered it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from konsil.sources.exports.export import Export, is_number, is_text
from konsil.sources.files.table import Table

_QUESTION = (
    "A survey has a row for each respondent: are the respondents the raters, and the questions"
    " what they rate?"
)
_FALSE = {"", "0", "false", "no"}

_LIME_ADDED = frozenset(
    {"id", "submitdate", "lastpage", "startlanguage", "seed", "startdate", "datestamp"}
    | {"token", "ipaddr", "refurl"}
)
_LIME_CODE = re.compile(r"(\w+(?:\[[^\]]*\])*)(?:\.\s.*)?", re.DOTALL)
_LIME_TEXT = re.compile(r"\[(comment|other)\]$")

_NUMBER, _NUMBERED = re.compile(r"\d+"), re.compile(r"\s*(\d+)\s*[:=]\s*\S")

_QUALTRICS_ADDED = frozenset(
    {"StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)"}
    | {"Finished", "RecordedDate", "ResponseId", "RecipientLastName", "RecipientFirstName"}
    | {"RecipientEmail", "ExternalReference", "LocationLatitude", "LocationLongitude"}
    | {"DistributionChannel", "UserLanguage"}
)
_TRIALS = ("Survey Preview", "Survey Test", "Spam", "1", "2", "8")
"""Qualtrics's words and codes for the state of responses that are no answers."""

_REDCAP_ID = ("Record ID", "record_id")
_REDCAP_ADDED = re.compile(
    r"(Event Name|Repeat Instrument|Repeat Instance|Data Access Group|Survey Identifier"
    r"|Survey Timestamp|Complete\?|redcap_\w+|\w+_timestamp|\w+_complete)( \(\d+\))?"
)
_REDCAP_EVENTS = ("Event Name", "redcap_event_name")
_REDCAP_ENTRY = r"^(.+)--([12])$"
"""A record as one of two persons entered it."""
_ENTRY = "entry person"
_TIME = "_timestamp"
"""What the names of times end with, in REDCap and elsewhere."""
_REDCAP_BOX = re.compile(r".*\(choice=.*\)( \(\d+\))?|\w+___\w+", re.DOTALL)


def read_limesurvey(table: Table) -> Export | None:
    """Responses, whose headings are codes of questions, or codes and their texts."""
    codes = [_code(name) for name in table.frame.columns]
    if not {"id", "submitdate"} <= {*codes} or len({*codes}) < len(codes):
        return None
    frame = table.frame.rename(dict(zip(table.frame.columns, codes, strict=True)))
    finished = _filled(frame.get_column("submitdate"))
    rater = "token" if "token" in codes and _filled(frame.get_column("token")).all() else "id"
    questions = [n for n in codes if n not in _LIME_ADDED and not _LIME_TEXT.search(n)]
    return _respondents("LimeSurvey", replace(table, frame=frame), rater, questions, finished)


def _code(heading: str) -> str:
    match = _LIME_CODE.fullmatch(heading.strip())
    return match[1] if match else heading


def read_qualtrics(table: Table) -> Export | None:
    """Responses; of three rows of headings the first has the names."""
    frame = table.frame
    if "ResponseId" not in frame.columns or len(_QUALTRICS_ADDED & {*frame.columns}) < 3:
        return None
    finished = pl.repeat(True, frame.height, eager=True)
    if "Finished" in frame.columns:
        finished = ~frame.get_column("Finished").fill_null("").str.to_lowercase().is_in([*_FALSE])
    if "Status" in frame.columns:
        finished &= ~frame.get_column("Status").fill_null("").is_in(_TRIALS)
    questions = [name for name in frame.columns if name not in _QUALTRICS_ADDED]
    return _respondents("Qualtrics", table, "ResponseId", questions, finished)


def read_redcap(table: Table) -> Export | None:
    """Records, in labels or raw."""
    names = table.frame.columns
    record = next((name for name in _REDCAP_ID if name in names), None)
    added = [name for name in names if _REDCAP_ADDED.fullmatch(name)]
    marks = [name for name in added if not name.endswith(_TIME)]
    if record is None or not (marks or any(map(_REDCAP_BOX.fullmatch, names))):
        return None
    questions = [name for name in names if name not in {record, *added}]
    if double := _double_entries(table, record, questions):
        return double
    every = pl.repeat(True, table.frame.height, eager=True)
    return _respondents("REDCap", table, record, questions, every)


def _double_entries(table: Table, record: str, questions: Sequence[str]) -> Export | None:
    """Records that two persons entered, such as 17--1 and 17--2; None where none was.

    The record is the unit, with its event in a longitudinal project, and each question a criterion.
    """
    entries = table.frame.get_column(record).str.extract_groups(_REDCAP_ENTRY)
    records, persons = entries.struct.field("1"), entries.struct.field("2")
    if not {*records.filter(persons == "1")} & {*records.filter(persons == "2")}:
        return None
    events = [name for name in table.frame.columns if name in _REDCAP_EVENTS]
    is_entry = persons.is_not_null()
    frame = table.frame.with_columns(records.alias(record), persons.alias(_ENTRY))
    frame = frame.select(record, *events, _ENTRY, *questions).filter(is_entry)
    rated = [n for n in questions if any(frame[n].is_not_null()) and not is_text([*frame[n]])]
    return Export(
        "REDCap",
        replace(
            table,
            frame=frame,
            lines=[table.line(row) for row, is_in in enumerate(is_entry) if is_in],
        ),
        "long",
        (record, *events),
        (_ENTRY,),
        tuple(rated),
        left_out={
            "merged record": table.frame.height - frame.height,
            "column of texts": len(questions) - len(rated),
        },
    )


def _filled(column: pl.Series) -> pl.Series:
    return column.fill_null("") != ""


def _respondents(
    tool: str, table: Table, rater: str, questions: Sequence[str], finished: pl.Series
) -> Export:
    """A row for each respondent, with the questions that share the most common labels."""
    frame = table.frame.select(rater, *questions).filter(finished)
    lines = [table.line(row) for row, is_kept in enumerate(finished) if is_kept]
    rated = _alike(frame, questions)
    unused = tuple(name for name in questions if name not in rated)
    has_ratings = len(rated) > 1
    return Export(
        tool,
        replace(table, frame=frame, lines=lines),
        "raters-in-rows" if has_ratings else None,
        raters=(rater,) if has_ratings else (),
        unused=unused if has_ratings else (),
        left_out={"unfinished or test answer": table.frame.height - frame.height},
        question=_QUESTION,
    )


def _alike(frame: pl.DataFrame, questions: Sequence[str]) -> list[str]:
    """The most columns that share labels, directly or through others; words before numbers.

    Numbers are the same labels only in columns whose headings differ in numbers alone.
    """
    groups: list[tuple[set[str], list[str]]] = []
    for name in questions:
        cells = [_number_of(cell) for cell in frame.get_column(name)]
        labels = {cell for cell in cells if cell}
        if not labels or is_text(cells):
            continue
        labels = {label for label in labels if not is_number(label)} or {_NUMBER.sub("0", name)}
        joined = [group for group in groups if group[0] & labels]
        groups = [group for group in groups if not group[0] & labels]
        members = [member for _, names in joined for member in names]
        groups.append((labels.union(*(group[0] for group in joined)), [*members, name]))
    words = sorted(groups, key=lambda group: (len(group[1]), len(group[0])))
    largest = words[-1][1] if words else []
    return [name for name in questions if name in largest]


def _number_of(cell: str | None) -> str | None:
    """The number of a label such as '4 : good', and any other label as it is."""
    match = _NUMBERED.match(cell or "")
    return match[1] if match else cell
