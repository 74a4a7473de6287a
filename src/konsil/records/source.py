"""How a file of the world is to be read: which column is which field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from konsil.records.request import Flag, Request, mapping, setting

SourceKind = Literal["items", "answers", "ratings", "labelstudio", "anki", "real-pocqi"]


Decimal = Literal["", ".", ","]
Tool = Literal[
    "",
    "Argilla",
    "doccano",
    "Label Studio",
    "LimeSurvey",
    "Mechanical Turk",
    "Potato",
    "Prodigy",
    "Qualtrics",
    "REDCap",
]
"""Annotation and survey tools whose exports are read."""
Layout = Literal["", "wide", "long", "raters-in-rows"]
"""Layouts in which a study's ratings have raters and items; empty: not stated."""
Repeat = Literal["first", "last", "sum", "mean", "max"]
"""The first or the last one in the order of the table, or their sum, mean or maximum as numbers."""

SHEET = Flag(
    "Sheet of a spreadsheet; 'A/B': several, '*': all, named in a column 'sheet'.", metavar="NAME"
)
DECIMAL = Flag("Decimal sign of the numbers; with a comma 1.234,5 is 1234.5.", metavar="S")
SKIP = Flag("Rows above the names of the columns, such as a title.", minimum=0, metavar="N")
HEADER = Flag(
    "Rows with the names of the columns, joined by ': ' (0: none, columns are numbered).",
    minimum=0,
    maximum=3,
)
NUMBERED = Flag("Number columns with equal names, 'Score (1)', or without a name, 'column 5'.")
PATH = Flag("JSON: path of the records; nested parts become columns.", metavar="PATH")
COMMENT = Flag("Sign at the beginning of rows that are comments.", metavar="S")
LAYOUTS: Mapping[str, str] = {
    "wide": "One row per unit, one column per rater; empty: not rated.",
    "long": "One row per rating, with columns for unit, rater and label.",
    "counts": "One row per unit, one column of counts per label.",
    "raters-in-rows": "One row per rater, one column per unit.",
    "cross-table": "Labels of two raters crossed, with numbers of units.",
}
"""Layout -> what it is; a study has those of `Layout`."""
NAMES = Flag("Names of the rated columns, such as 'R{rater}_Q{criterion}'.", metavar="PATTERN")
UNUSED = Flag("Column that is not used, repeatable.", metavar="C")
REPEAT = Flag("What counts of several labels by one rater for one unit.")


@dataclass(frozen=True, slots=True)
class FileSettings(Request):
    """The settings of a file; what is empty is usual for its ending."""

    sheet: str = setting("", SHEET)
    """The sheet of a spreadsheet; empty: the only one, or the first. Several as 'Ann/Ben' or a
    pattern such as '*': a column `sheet` has their names."""
    encoding: str = setting("", Flag("Encoding of a text file.", metavar="NAME"))
    """Encoding of a text file; empty: UTF-8."""
    separator: str = setting(
        "", Flag("Field separator of a text table, if not a comma (.csv) or tab.", metavar="S")
    )
    """The field separator of a text table; empty: comma in .csv, tab in .tsv."""
    decimal: Decimal = setting("", DECIMAL)
    """The decimal sign; columns of numbers with a comma become numbers with a point."""
    skip: int = setting(0, SKIP)
    """Rows, not counting empty ones, above the names of the columns."""
    header: int = setting(1, HEADER)
    """Rows with names; a name that stands over several columns belongs to each of them."""
    numbered: bool = setting(False, NUMBERED)
    """Whether columns without a name of their own are called by numbers, and not refused."""
    comment: str = setting("", COMMENT)
    """The sign with which rows begin that are comments; empty: there are none."""
    path: str = setting("", PATH)
    """The path of the list of records in a JSON file, such as 'data/records' ('.': the file
    itself); parts of nested objects are columns such as 'scores: ann'. Empty: the file is a list,
    and nested parts stay in their cells."""


def settings_options(settings: FileSettings) -> list[tuple[str, tuple[str, ...]]]:
    """The settings of a file that are not the usual ones, as options."""
    usual = FileSettings()
    return [
        # A tab is printed as blanks.
        (f"--{entry.name}", () if value is True else (str(value).replace("\t", r"\t"),))
        for entry in fields(FileSettings)
        if (value := getattr(settings, entry.name)) != getattr(usual, entry.name)
    ]


@dataclass(frozen=True, slots=True)
class Source(Request):
    """One file and the meaning of its columns; the same file may be several sources."""

    file: str = field(
        metadata=Flag("File to import instead of the protocol's [[sources]].", file="any").metadata
    )
    """Path relative to the study's folder."""
    records: SourceKind = field(
        metadata=Flag("Type of record in each row.", offered="ratings").metadata
    )
    """Type of record in each row."""
    sheet: str = setting("", SHEET)
    """The sheet of a spreadsheet; empty: the only one, or the first. Several as 'Ann/Ben' or a
    pattern such as '*': a column `sheet` has their names."""
    encoding: str = setting("utf-8", Flag("Encoding of a text file."))
    """Encoding of a text file."""
    separator: str = setting("", Flag("Field separator of a text table."))
    """The field separator of a text table; empty: comma in .csv, tab in .tsv."""
    decimal: Decimal = setting("", DECIMAL)
    """The decimal sign; columns of numbers with a comma become numbers with a point."""
    skip: int = setting(0, SKIP)
    """Rows, not counting empty ones, above the names of the columns."""
    header: int = setting(1, HEADER)
    """Rows with names; a name that stands over several columns belongs to each of them."""
    numbered: bool = setting(False, NUMBERED)
    """Whether columns without a name of their own are called by numbers, and not refused."""
    comment: str = setting("", COMMENT)
    """The sign with which rows begin that are comments; empty: there are none."""
    path: str = setting("", PATH)
    """The path of the list of records in a JSON file, such as 'data/records' ('.': the file
    itself); parts of nested objects are columns such as 'scores: ann'. Empty: the file is a list,
    and nested parts stay in their cells."""
    tool: Tool = setting("", Flag("Tool whose export the file is.", metavar="TOOL"))
    """The tool whose export the file is; its annotations are rows. Empty: the file is read as it
    is, or ratings as the export that they are where columns are not stated."""
    columns: Mapping[str, tuple[str, ...]] = mapping(
        Flag("Column that contains a field.", name="column", metavar="FIELD=COLUMN")
    )
    """Field of the record -> the column or columns it is made of. Several columns are joined with '
    / '.

    A field that is not named here is read from the column of its own name, where there is one.
    """
    fixed: Mapping[str, str] = mapping(
        Flag("Field with the same value in every row.", metavar="FIELD=VALUE")
    )
    """Field of the record -> the same value for every row."""
    layout: Layout = setting(
        "", Flag(by_value={name: LAYOUTS[name] for name in get_args(Layout) if name})
    )
    """How a table of ratings is laid out; empty: as it is recognised."""
    names: str = setting("", NAMES)
    """The names of the rated columns as a pattern with {rater} or {criterion} or both."""
    unused: tuple[str, ...] = setting((), UNUSED)
    """Columns that are not used."""
    repeat: Repeat | None = setting(None, REPEAT)
    """What counts of several labels by one rater for one unit and criterion: the first, the last,
    or their sum, mean or maximum; empty: different ones are refused."""
    raters: Mapping[str, str] = mapping(
        Flag("Wide: column of a rater.", name="rater", metavar="COLUMN=RATER")
    )
    """Wide ratings: column -> rater. One row is then one subject rated by several raters."""
    unknown_raters: str = setting(
        "", Flag("Ratings without raters: panel of the unknown raters.", metavar="PANEL")
    )
    """Ratings in a file that does not identify its raters: the panel of these unknown raters.

    Several of one subject are numbered; the same rows in any order have the same numbers."""
    criteria: Mapping[str, str] = mapping(
        Flag("Wide: column of a criterion.", name="criterion", metavar="COLUMN=CRITERION")
    )
    """Wide ratings: column -> criterion. One row is then one screen."""
    labels: Mapping[str, str] = mapping(
        Flag("Word in the file for a label.", name="label", metavar="WORD=LABEL")
    )
    """The file's word -> the scale's label; other words are taken as they are."""
    labels_of: Mapping[str, Mapping[str, str]] = mapping(
        Flag(
            "Word in the file for a label of one criterion.",
            name="label-of",
            metavar="CRITERION:WORD=LABEL",
        )
    )
    """Criterion -> the file's word -> the label of this criterion's scale, before `labels`."""
    values: Mapping[str, Mapping[str, str]] = mapping(
        Flag("Value in the file for a field's value.", name="value", metavar="FIELD:WORD=VALUE")
    )
    """Field of the record -> the file's value -> the value of the record, such as the raters'
    names in the file -> their identifiers in the study."""
    replies: tuple[str, ...] = setting(
        (),
        Flag(
            "Column with JSON replies of judges, whose keys become columns COLUMN.KEY.",
            name="reply",
            metavar="COLUMN",
        ),
    )
    """Columns with JSON replies of judges: each key of a reply becomes a column `column.key`."""
    named: str = setting(
        "", Flag("Ratings: field given by the '*' in the file name.", metavar="FIELD")
    )
    """Ratings in several files: the field that the `*` in the name of the file stands for."""
    missing: tuple[str, ...] = setting(
        ("",), Flag("Value that means not rated, in addition to the empty cell.", metavar="WORD")
    )
    """Words that mean: not rated. An abstention is a label of the scale and not a missing value."""
    strata: tuple[str, ...] = setting(
        (), Flag("Items: column with a characteristic.", name="stratum", metavar="COLUMN")
    )
    """Items: columns that become strata."""
    hashed: tuple[str, ...] = setting(
        (), Flag("Field whose identifier is a checksum of its text.", metavar="FIELD")
    )
    """Fields whose value is a long text and whose identifier is a short digest of it (item,
    answer)."""
    media: Literal["drop", "mark"] = setting("drop", Flag("Anki: images and sounds."))
    """Anki: notes whose text has an image or a sound are dropped, or its place is marked in the
    text."""
    hints: bool = setting(True, Flag("Anki: a deletion's hint follows the gap.", off="no-hints"))
    """Anki: whether a deletion's hint follows the gap in parentheses."""

    @property
    def has_shape(self) -> bool:
        """Whether the shape of the table is stated."""
        return bool(self.layout or self.names)

    @property
    def settings(self) -> FileSettings:
        """How the file is cut into cells."""
        return FileSettings(*(getattr(self, entry.name) for entry in fields(FileSettings)))
