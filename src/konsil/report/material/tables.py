"""Tables, and the only place that rounds: numbers become text here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import stdev

from konsil.errors.message import message, translate
from konsil.report.material.language import ENGLISH, Language
from konsil.stats.engine.contract import Estimate

THIN = "\u202f"
"""Narrow no-break space, between groups of three digits."""
MINUS = "\u2212"
"""A minus that is as wide as a digit."""


@dataclass(frozen=True)
class Cell:
    """One cell as text, with what must be said about it under the table."""

    text: str
    """What is shown."""
    remarks: tuple[str, ...] = ()
    """Sentences for the table's footnotes."""
    number: bool = False
    """Whether it is set as a number: right-aligned, never broken."""
    marks: tuple[str, ...] = ()
    """Letters of its footnotes, set by `table`."""
    same: bool = False
    """Whether it repeats the cell above, set by `table`; shown muted."""
    href: str = ""
    """What the text links to; empty: nothing."""


@dataclass(frozen=True)
class Note:
    """One footnote."""

    mark: str
    """Its letter; empty: it is about the whole table."""
    text: str
    """One or more sentences."""


@dataclass(frozen=True)
class Table:
    """A table ready to be shown."""

    caption: str
    """What it shows."""
    head: tuple[Cell, ...]
    """The columns' names."""
    rows: tuple[tuple[Cell, ...], ...]
    """The body."""
    row_heads: int = 1
    """How many leading columns name the row."""
    notes: tuple[Note, ...] = ()
    """Footnotes in the order of their letters."""


def table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    row_heads: int = 1,
    general: Iterable[str] = (),
    main_column: int | None = None,
) -> Table:
    """Build a table.

    Equal remarks share a letter, repeated leading cells are marked, number columns align. A remark
    that all rows of a column have stands once, as a note without a letter that names the column;
    of `main_column`, whose remarks are about the rows as a whole, it needs no name.

    >>> rows = [(Cell("a"), Cell("1", ("few",))), (Cell("b"), Cell("2", ("few", "late")))]
    >>> shown = table("Numbers", ("who", "n"), rows, main_column=1)
    >>> [row[1].marks for row in shown.rows], [(note.mark, note.text) for note in shown.notes]
    ([(), ('a',)], [('', 'Few.'), ('a', 'Late.')])
    """
    if any(len(row) != len(head) for row in rows):
        raise ValueError(
            f"table {caption!r}: every row needs {len(head)} cells, as many as the head"
        )
    # In a single row, only the remarks about the row as a whole are more than about their cell.
    common = [
        _common_remarks(row[n] for row in rows) if len(rows) > 1 or n == main_column else []
        for n in range(len(head))
    ]
    letters: dict[str, str] = {}
    body: list[tuple[Cell, ...]] = []
    above: Sequence[Cell] = ()
    for row in rows:
        same = True
        cells = []
        for n, cell in enumerate(row):
            # The last heading column tells rows apart, so it is never muted.
            same = same and n < row_heads - 1 and bool(above) and above[n].text == cell.text
            remarks = [r for r in _sentences(cell) if r not in common[n]]
            marks = tuple(
                sorted(letters.setdefault(remark, _letter(len(letters))) for remark in remarks)
            )
            cells.append(replace(cell, marks=marks, same=same))
        above = row
        body.append(tuple(cells))
    numeric = [
        bool(body) and all(row[n].number or not row[n].text for row in body)
        for n in range(len(head))
    ]
    of_columns = dict.fromkeys(
        text if n == main_column or not head[n] else f"{head[n]}: {text}"
        for n, texts in enumerate(common)
        for text in texts
    )
    return Table(
        caption=caption,
        head=tuple(Cell(text, number=numeric[n]) for n, text in enumerate(head)),
        rows=tuple(body),
        row_heads=row_heads,
        notes=(
            *(Note("", text) for text in dict.fromkeys((*general, *of_columns))),
            *(Note(mark, text) for text, mark in letters.items()),
        ),
    )


def common_notes(tables: Sequence[Table]) -> tuple[str, ...]:
    """The notes about whole tables that all of several tables have."""
    of_tables = [[note.text for note in t.notes if not note.mark] for t in tables]
    if len(tables) < 2:
        return ()
    return tuple(text for text in of_tables[0] if all(text in texts for texts in of_tables))


def without_notes(shown: Table, texts: Sequence[str]) -> Table:
    """The table without these notes about the whole."""
    notes = tuple(note for note in shown.notes if note.mark or note.text not in texts)
    return replace(shown, notes=notes)


def _sentences(cell: Cell) -> list[str]:
    return list(dict.fromkeys(sentence(remark) for remark in cell.remarks))


def _common_remarks(column: Iterable[Cell]) -> list[str]:
    """The remarks that all cells of a column have."""
    of_cells = [_sentences(cell) for cell in column]
    return [text for text in of_cells[0] if all(text in c for c in of_cells)] if of_cells else []


def sentence(text: str) -> str:
    """A remark as a sentence: a capital at its beginning, a full stop at its end.

    >>> sentence("fewer than three raters")
    'Fewer than three raters.'
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _letter(n: int) -> str:
    return (chr(ord("a") + n // 26 - 1) if n >= 26 else "") + chr(ord("a") + n % 26)


@dataclass(frozen=True)
class Numbers:
    """Numbers as text in one language.

    >>> en = Numbers()
    >>> en.plain(0.61249), en.p(0.00004), en.p(0.0324), en.count(26598)
    ('0.612', '< 0.001', '0.032', '26\u202f598')
    """

    language: Language = ENGLISH
    """Whose decimal mark is used."""

    def plain(self, value: float, digits: int = 3) -> str:
        """A proportion, coefficient or mean with three decimals; 'undefined' for nan."""
        if math.isnan(value):
            return self.language.gettext("undefined")
        if math.isinf(value):
            return "∞" if value > 0 else MINUS + "∞"
        text = f"{abs(value):.{digits}f}"
        # What rounds to zero has no sign.
        sign = MINUS if value < 0 and float(text) != 0.0 else ""
        return sign + text.replace(".", self.language.decimal)

    def interval(self, low: float, high: float) -> str:
        """An interval in square brackets; empty where there is none."""
        if math.isnan(low) and math.isnan(high):
            return ""
        return f"[{self.plain(low)}{self.language.between}{self.plain(high)}]"

    def with_interval(self, estimate: Estimate) -> str:
        """A value and its interval: 0.612 [0.540, 0.684]."""
        if math.isnan(estimate.value):
            return self.plain(estimate.value)
        return f"{self.plain(estimate.value)} {self.interval(estimate.low, estimate.high)}".rstrip()

    def p(self, value: float) -> str:
        """A p value: two significant digits, never 0 and never 1.

        Empty where nothing was tested.
        """
        if math.isnan(value):
            return ""
        if value < 0.001:
            text = "< 0.001"
        elif value > 0.99:
            text = "> 0.99"
        else:
            # After rounding to two digits, so that 0.0996 is 0.10 and not 0.100.
            rounded = float(f"{value:.1e}")
            text = f"{rounded:.{1 - math.floor(math.log10(rounded))}f}"
        return text.replace(".", self.language.decimal)

    def count(self, n: int | None) -> str:
        """A whole number, its digits in groups of three from five digits on.

        A dash where there is none.
        """
        if n is None:
            return "–"
        return (MINUS if n < 0 else "") + (
            f"{abs(n):,}".replace(",", THIN) if abs(n) >= 10_000 else str(abs(n))
        )

    def short(self, value: float) -> str:
        """A size or duration: whole from ten on, one decimal below."""
        if math.isnan(value) or math.isinf(value):
            return self.plain(value)
        return self.count(round(value)) if abs(value) >= 9.95 else self.plain(value, 1)

    def spread(self, values: Sequence[float]) -> str:
        """Median and interquartile range: 34 [21, 58]; a dash where there are no values."""
        if not values:
            return "–"
        ordered = sorted(values)
        low, middle, high = (_quantile(ordered, q) for q in (0.25, 0.5, 0.75))
        return f"{self.short(middle)} [{self.short(low)}{self.language.between}{self.short(high)}]"

    def mean_and_deviation(self, values: Sequence[float]) -> str:
        """Mean and standard deviation: 34 (12); the mean alone of one value, a dash of none.

        >>> Numbers().mean_and_deviation([10, 20, 60]), Numbers().mean_and_deviation([5])
        ('30 (26)', '5.0')
        """
        if not values:
            return "–"
        mean = self.short(math.fsum(values) / len(values))
        return f"{mean} ({self.short(stdev(values))})" if len(values) > 1 else mean

    def proportion(self, n: int, total: int, *, decimals: int = 0) -> str:
        """A proportion with its numerator and denominator; a dash of nothing.

        >>> Numbers().proportion(31, 50), Numbers().proportion(0, 0)
        ('31/50 (62%)', '–')
        >>> Numbers().proportion(31, 150, decimals=1)
        '31/150 (20.7%)'
        """
        if not total:
            return "–"
        if decimals:
            text = message(
                "{n:,}/{total:,} ({share:.1%})",
                message_id="display.share_with_decimal",
                n=n,
                total=total,
                share=n / total,
            )
        else:
            text = message(
                "{n:,}/{total:,} ({share:.0%})",
                message_id="display.share",
                n=n,
                total=total,
                share=n / total,
            )
        return self.translated(text)

    def tick(self, value: float) -> str:
        """A number at an axis, as short as it can be."""
        text = f"{abs(value):.6g}"
        return (MINUS if value < 0 and float(text) != 0.0 else "") + text.replace(
            ".", self.language.decimal
        )

    def translated(self, text: str) -> str:
        """What an analysis says, in the report's language; names of the study stay as they are.

        >>> from konsil.errors.message import message
        >>> Numbers().translated(message("{n:,} of {all:,} items", n=1200, all=26598))
        '1200 of 26\u202f598 items'
        """
        return translate(text, self.language.gettext, self._by_format)

    def _by_format(self, value: float, form: str) -> str:
        if isinstance(value, int):
            return self.count(value) if form == "," else str(value)
        text = format(value, form).replace("-", MINUS).replace("%", self.language.per_cent)
        return text.replace(".", self.language.decimal)

    def level(self, level: float) -> str:
        """An interval's nominal coverage in percent: 95."""
        return f"{100 * level:g}".replace(".", self.language.decimal)

    def cell(self, value: str | int | float | Estimate | None) -> Cell:
        """Any value as a cell: texts stay, whole numbers are counts, others get three decimals."""
        if value is None or isinstance(value, str):
            return Cell(value or "")
        if isinstance(value, bool):
            return Cell(self.language.gettext("yes") if value else self.language.gettext("no"))
        if isinstance(value, int):
            return Cell(self.count(value), number=True)
        if isinstance(value, Estimate):
            return self.estimate(value)
        return Cell(self.plain(value), number=True)

    def estimate(self, estimate: Estimate, remarks: Sequence[str] = ()) -> Cell:
        """An estimate as a cell; why it or its interval is undefined becomes a footnote."""
        _ = self.language.gettext
        footnotes = list(remarks)
        undefined = math.isnan(estimate.value)
        if estimate.reason:
            footnotes.insert(0, estimate.reason)
        elif undefined:
            footnotes.insert(0, _("No reason is recorded."))
        if estimate.n_undefined:
            undefined_in = message(
                "The statistic was not estimable in {n:,} {n|resample|resamples}.",
                message_id="table.undefined_resamples",
                n=estimate.n_undefined,
            )
            footnotes.append(self.translated(undefined_in))
        return Cell(self.with_interval(estimate), tuple(footnotes), number=True)


def _quantile(ordered: Sequence[float], q: float) -> float:
    """The linearly interpolated quantile of sorted values."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
