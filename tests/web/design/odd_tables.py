"""Six spreadsheets as people keep them: three of ratings to come, three of ratings that exist."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import openpyxl

Row = Sequence[object]
MODELS = ("Alpha", "Beta 2")
RAISED = "Which dose is given to case {k} before the operation, and for how long after it?"


def workbook(sheets: Mapping[str, Sequence[Row]], merged: Mapping[str, Sequence[str]]) -> bytes:
    """A workbook; merged cells by sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([*row])
        for cells in merged.get(name, ()):
            sheet.merge_cells(cells)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _reply(model: str, k: int) -> str:
    return f"{model} advises for case {k}: " + "give it slowly, and measure the pressure. " * 3


def answers_below_a_title(n: int = 8) -> bytes:
    """A cover sheet; on the second a title, two rows of names, merged above the models."""
    rows: list[Row] = [["Replies for the ward, export of 3 May"], []]
    rows += [["Case", "", "Reply of", ""], ["No.", "Question of the ward", *MODELS]]
    rows += [[k, RAISED.format(k=k), *(_reply(m, k) for m in MODELS)] for k in range(1, n + 1)]
    cover: list[Row] = [["Read me"], ["Cases of the ward"], ["made by the clinic"]]
    merged = {"Cases": ["C3:D3", "A3:B3", "A1:D1"]}
    return workbook({"Read me": cover, "Cases": rows}, merged)


def questions_of_an_office(n: int = 8) -> bytes:
    """Questions for pages without answers: a title, semicolons, decimal commas, cp1252."""
    rows = ["Fälle der Station;;;", "Lfd. Nr.;Frage der Station;Gewicht (kg);Fachgebiet"]
    rows += [
        f"{k};Wie viel Gramm des Mittels bekommt der Patient {k} vor der Operation?;{60 + k},5;"
        f"{'Chirurgie' if k % 2 else 'Innere'}"
        for k in range(1, n + 1)
    ]
    return "\r\n".join(rows).encode("cp1252")


def a_sheet_for_each_model(n: int = 8) -> bytes:
    """Each model's replies on a sheet of its name."""
    return workbook(
        {
            model: [
                ["Case", "Question", "Reply"],
                *([k, RAISED.format(k=k), _reply(model, k)] for k in range(1, n + 1)),
            ]
            for model in MODELS
        },
        {},
    )


RATERS = ("Dr. Adler", "Dr. Brandt", "Dr. Cohen")


def grade(k: int, model: int, rater: int, most: int) -> int:
    """A rating that depends on all three."""
    return 1 + (k * 3 + model * (2 + k % 2) + (rater * k) % 3) % most


def a_column_for_each_rater(n: int = 24) -> bytes:
    """Scores with decimal commas below a title, a column for each rater, semicolons, cp1252."""
    rows = ["Bewertung der Antworten, März;;;;;", f"Frage;Modell;Fachgebiet;{';'.join(RATERS)}"]
    for k in range(1, n + 1):
        for m, model in enumerate(MODELS):
            scores = (f"{grade(k, m, r, 9) / 2:.1f}".replace(".", ",") for r in range(3))
            ward = "Chirurgie" if k % 2 else "Innere"
            rows.append(f"F{k};{model};{ward};{';'.join(scores)}")
    return "\r\n".join(rows).encode("cp1252")


def raters_and_questions_in_headings(n: int = 24) -> bytes:
    """On the second sheet two rows of names: raters, merged, above their two questions."""
    names: list[Row] = [
        ["", "", *(cell for rater in RATERS for cell in (rater, ""))],
        ["Case", "Model", *(cell for _ in RATERS for cell in ("correct", "safe"))],
    ]
    rows: list[Row] = [
        [k, model]
        + [
            cell
            for r in range(3)
            for cell in ("yes" if grade(k, m, r, 3) > 1 else "no", grade(k, m, r, 5))
        ]
        for k in range(1, n + 1)
        for m, model in enumerate(MODELS)
    ]
    cover: list[Row] = [["About this file"], ["Ratings of three physicians"]]
    merged = {"Ratings": ["C1:D1", "E1:F1", "G1:H1"]}
    return workbook({"About": cover, "Ratings": [*names, *rows]}, merged)


def a_sheet_for_each_rater(n: int = 24) -> bytes:
    """Each rater's ratings on a sheet of her name, with a remark here and there."""
    return workbook(
        {
            rater: [
                ["Case", "Model", "Correct?", "Remark"],
                *(
                    [k, model, "Yes" if grade(k, m, r, 4) > 1 else "No", "unsure" * (k == r + 3)]
                    for k in range(1, n + 1)
                    for m, model in enumerate(MODELS)
                ),
            ]
            for r, rater in enumerate(RATERS)
        },
        {},
    )


def headings_by_a_pattern(n: int = 24) -> bytes:
    """Ratings on two questions by three raters, who have numbers in the headings."""
    rows = [f"Letter,Model,{','.join(f'R{r}_Q{q}' for r in (1, 2, 3) for q in (1, 2))}"]
    for k in range(1, n + 1):
        for m, model in enumerate(MODELS):
            cells = [
                cell
                for r in range(3)
                for cell in ("yes" if grade(k, m, r, 3) > 1 else "no", str(grade(k, m, r, 5)))
            ]
            rows.append(f"L{k},{model},{','.join(cells)}")
    return "\n".join(rows).encode()


def counts_of_labels(n: int = 12) -> bytes:
    """How many of three raters chose each label, as a German spreadsheet saves it."""
    rows = [f"P{k};{k % 3};{2 - k % 3};1" for k in range(1, n + 1)]
    return "\r\n".join(["Patient;leicht;mäßig;schwer", *rows]).encode("cp1252")


def crossed_labels() -> bytes:
    """Two raters' labels, with sums, below a title."""
    rows: list[Row] = [["Letters of May"], [], ["Dr. Adler", "mild", "severe", "Sum"]]
    rows += [["mild", 20, 1, 21], ["severe", 4, 13, 17], ["Sum", 24, 14, 38]]
    return workbook({"Letters": rows}, {})
