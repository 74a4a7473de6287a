"""The manuscript as Markdown that Quarto and Pandoc read."""

from __future__ import annotations

import json
import re

from konsil.report.manuscript.blocks import (
    Heading,
    Manuscript,
    NumberedFigure,
    NumberedTable,
    Paragraph,
    Words,
)
from konsil.report.manuscript.citations import parts
from konsil.report.manuscript.writers.shares import column_shares

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$^~@\"'])")
_LINE_START = re.compile(r"^(\s*)(\d+)?([.)+-])(\s)")


def markdown(manuscript: Manuscript) -> str:
    """The .qmd file; its figures are in the folder figures, its references in references.bib."""
    words = manuscript.words
    # JSON strings are YAML strings, whatever a title contains.
    front = [
        f"title: {json.dumps(manuscript.title, ensure_ascii=False)}",
        f"lang: {manuscript.language}",
        "bibliography: references.bib",
        f"reference-section-title: {json.dumps(words.references, ensure_ascii=False)}",
        "format:\n  docx: default\n  html: default\n  pdf: default",
    ]
    if words.prefix:
        titles = ((name, f"{word} {words.prefix}") for name, word in _crossref(words))
        front.append("crossref:\n" + "\n".join(f"  {n}: {json.dumps(t)}" for n, t in titles))
    texts = ["---\n" + "\n".join(front) + "\n---"]
    for block in manuscript.blocks:
        if isinstance(block, Heading):
            texts.append(f"{'#' * block.level} {escaped(block.text)}")
        elif isinstance(block, Paragraph):
            text = _paragraph(block.text)
            texts.append(f"> **{text}**" if block.is_notice else text)
        elif isinstance(block, NumberedTable):
            texts.append(_table(block))
        else:
            texts.append(_figure(block))
    return "\n\n".join(texts) + "\n"


def _crossref(words: Words) -> tuple[tuple[str, str], ...]:
    return ("tbl-title", words.table), ("fig-title", words.figure)


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escaped("a_b | [c] 5 < 6"))
    a\_b \| \[c\] 5 \< 6
    """
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _LINE_START.sub(r"\1\2\\\3\4", line)


def _paragraph(text: str) -> str:
    shown = ""
    for words, keys in parts(text):
        space = " " if words.endswith(" ") else ""
        shown += (" " if words.startswith(" ") and shown else "") + escaped(words) + space
        if keys:
            shown = shown.rstrip() + f" [{'; '.join('@' + key for key in keys)}]"
    return shown.strip()


def _table(block: NumberedTable) -> str:
    table = block.table
    lines = ["| " + " | ".join(escaped(cell.text) or " " for cell in table.head) + " |"]
    dashes = [max(3, round(100 * share)) for share in column_shares(table)]
    marks = ["-" * (n - 1) + ":" for n in dashes]
    marks = [
        mark if cell.number else "-" * n
        for mark, n, cell in zip(marks, dashes, table.head, strict=True)
    ]
    lines.append("|" + "|".join(marks) + "|")
    for row in table.rows:
        cells = [
            escaped("" if cell.same else cell.text).replace(" ", "\u00a0" if cell.number else " ")
            + (f"^{','.join(cell.marks)}^" if cell.marks else "")
            for cell in row
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f": {escaped(table.caption)} {{#tbl-{block.key}}}"]
    for note in table.notes:
        mark = f"^{note.mark}^ " if note.mark else ""
        lines += ["", f"{mark}{escaped(note.text)}"]
    return "\n".join(lines)


def _figure(block: NumberedFigure) -> str:
    drawing = block.drawing
    words = " ".join(f"{drawing.title}. {drawing.description}".split())
    alt = words.replace("\\", "\\\\").replace('"', "\u201d")
    path = f"figures/{drawing.key}.png"
    return f'![{escaped(block.caption)}]({path}){{#fig-{drawing.key} fig-alt="{alt}" width=100%}}'
