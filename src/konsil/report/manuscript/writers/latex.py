r"""The manuscript as LaTeX: booktabs, escaped, for pdflatex; with its references as a .bbl file."""

from __future__ import annotations

import unicodedata

from konsil.locale import setting
from konsil.report.manuscript.blocks import (
    Heading,
    Manuscript,
    NumberedFigure,
    NumberedTable,
    Paragraph,
    Words,
    numbers_of,
)
from konsil.report.manuscript.citations import entries, in_words, parts
from konsil.report.manuscript.writers.shares import column_shares, is_wide, points
from konsil.report.material.tables import Table

_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\u2009": r"\,",
    "\u00ad": r"\-",
    "\u200b": "",
    "–": "--",
    "—": "---",
    "−": r"\ensuremath{-}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "„": r"\quotedblbase{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "‚": r"\quotesinglbase{}",
    "«": r"\guillemotleft{}",
    "»": r"\guillemotright{}",
    "…": r"\dots{}",
    "•": r"\textbullet{}",
    "·": r"\textperiodcentered{}",
    "€": r"\texteuro{}",
    "™": r"\texttrademark{}",
    "°": r"\textdegree{}",
    "µ": r"\textmu{}",
    "✓": r"\ensuremath{\surd}",
}
_MATHS = {
    "≥": "geq",
    "≤": "leq",
    "≠": "neq",
    "≈": "approx",
    "±": "pm",
    "×": "times",
    "÷": "div",
    "∞": "infty",
    "→": "to",
    "←": "leftarrow",
    "↑": "uparrow",
    "↓": "downarrow",
    "↔": "leftrightarrow",
    "⇒": "Rightarrow",
    "∈": "in",
    "∑": "sum",
    "√": "surd",
    "¬": "neg",
    "∆": "Delta",
    "Ω": "Omega",
}
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "varepsilon",
    "ζ": "zeta",
    "η": "eta",
    "θ": "theta",
    "ι": "iota",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "ν": "nu",
    "ξ": "xi",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "ς": "varsigma",
    "τ": "tau",
    "υ": "upsilon",
    "φ": "varphi",
    "χ": "chi",
    "ψ": "psi",
    "ω": "omega",
    "Γ": "Gamma",
    "Δ": "Delta",
    "Θ": "Theta",
    "Λ": "Lambda",
    "Ξ": "Xi",
    "Π": "Pi",
    "Σ": "Sigma",
    "Φ": "Phi",
    "Ψ": "Psi",
    "Ω": "Omega",
}
_AS_TYPED = set("ßæøåÆØÅœŒıłŁđĐ¿¡§¶©®£¢¥")
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
    "\u0328": "k",
}
_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\IfFileExists{%s.ldf}{\usepackage[%s]{babel}}{}
\usepackage[margin=25mm]{geometry}
\usepackage{graphicx}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{array}
\usepackage{pdflscape}
\usepackage{float}
\usepackage[hidelinks]{hyperref}
\setlength{\tabcolsep}{4pt}
\setlength{\emergencystretch}{3em}
\title{%s}
\author{%s}
\date{}
\begin{document}
\renewcommand{\tablename}{%s}
\renewcommand{\figurename}{%s}
\renewcommand{\refname}{%s}
\maketitle
"""
_LONG, _RUN = 40, 8
"""Words longer than the first may be broken after so many characters."""


def latex(manuscript: Manuscript, authors: str) -> str:
    """The .tex file; `authors` stands for their names."""
    texts = [preamble(manuscript.language, manuscript.title, authors, manuscript.words)]
    for block in manuscript.blocks:
        if isinstance(block, Heading):
            kind = "section" if block.level == 1 else "subsection"
            texts.append(f"\\{kind}{{{escaped(block.text)}}}\n")
        elif isinstance(block, Paragraph):
            text = _paragraph(block.text)
            texts.append(
                f"\\begin{{quote}}\\textbf{{{text}}}\\end{{quote}}\n"
                if block.is_notice
                else f"{text}\n"
            )
        elif isinstance(block, NumberedTable):
            texts.append(_table(block, manuscript))
        else:
            texts.append(_figure(block))
    if manuscript.references:
        # Pandoc and pdflatex read manuscript.bbl; bibtex makes it anew from references.bib.
        texts.append("\\bibliographystyle{unsrt}\n\\bibliography{references}\n")
    return "\n".join([*texts, "\\end{document}\n"])


def preamble(language: str, title: str, authors: str, words: Words) -> str:
    """Everything before the first block."""
    babel = setting(language, "latex", "british")
    names = (title, authors, words.table, words.figure, words.references)
    text = _PREAMBLE % (babel, babel, *map(escaped, names))
    for counter in ("table", "figure") if words.prefix else ():
        text += f"\\renewcommand{{\\the{counter}}}{{{words.prefix}\\arabic{{{counter}}}}}\n"
    return text


def bbl(manuscript: Manuscript) -> str:
    """The list of references as bibtex would write it, so that pdflatex alone is enough."""
    numbers = numbers_of(manuscript.references)
    items = [f"\\bibitem{{{key}}}\n{_breakable(in_words(entries()[key]))}\n" for key in numbers]
    width = max(len(numbers), 1)
    return "\n".join(
        [f"\\begin{{thebibliography}}{{{width}}}\n", *items, "\\end{thebibliography}\n"]
    )


def escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is; a character it lacks is printed as its number.

    >>> print(escaped("50 % ≥ α_1 – Müller"))
    50 \% \ensuremath{\geq} \ensuremath{\alpha}\_1 -- M{\"{u}}ller
    """
    return "".join(_character(character) for character in " ".join(text.split(" ")))


def _character(character: str) -> str:
    if character in _COMMANDS:
        return _COMMANDS[character]
    if character in "\n\r\t":
        return " "
    if " " <= character <= "~" or character in _AS_TYPED:
        return character
    if character in _MATHS or character in _GREEK:
        return f"\\ensuremath{{\\{_MATHS.get(character) or _GREEK[character]}}}"
    return _composed(character)


def _composed(character: str) -> str:
    """A letter with an accent; else what it is compatible with; else its number."""
    base, *marks = list(unicodedata.normalize("NFD", character))
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii():
        letter = {"i": "\\i", "j": "\\j"}.get(base, base) if marks[0] > "\u0302" else base
        return f"{{\\{_ACCENTS[marks[0]]}{{{letter}}}}}"
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
        return ""
    simple = unicodedata.normalize("NFKD", character)
    if simple.isascii() and simple.isprintable():
        return escaped(simple)
    return f"[U+{ord(character):04X}]"


def _paragraph(text: str) -> str:
    return "".join(
        _breakable(words) + (f"~\\cite{{{','.join(keys)}}}" if keys else "")
        for words, keys in parts(text)
    )


def _breakable(text: str) -> str:
    """Escaped text in which words as long as checksums and addresses may be broken."""
    words = text.split(" ")
    return " ".join(
        "\\allowbreak{}".join(escaped(word[n : n + _RUN]) for n in range(0, len(word), _RUN))
        if len(word) > _LONG
        else escaped(word)
        for word in words
    )


def _columns(table: Table) -> str:
    n = len(table.head)
    shares = column_shares(table)
    # What lies between columns is taken from all alike.
    return "".join(
        f">{{\\ragged{'left' if cell.number else 'right'}\\arraybackslash}}"
        f"p{{\\dimexpr {share:.4f}\\linewidth-{2 * (n - 1) / n:.4f}\\tabcolsep}}"
        for share, cell in zip(shares, table.head, strict=True)
    )


def _table(block: NumberedTable, manuscript: Manuscript) -> str:
    table = block.table
    n = len(table.head)
    turned = is_wide(table)
    head = " & ".join(f"\\textbf{{{escaped(cell.text)}}}" for cell in table.head) + r" \\"
    caption = f"\\caption{{{escaped(table.caption)}}}\\label{{tab:{block.key}}}\\\\"
    continued = f"\\multicolumn{{{n}}}{{@{{}}l}}{{\\emph{{{escaped(manuscript.words.continued)}}}}}"
    lines = [
        "\\begin{landscape}" if turned else "",
        "{\\footnotesize" if points(table) == 9 else "{\\scriptsize",
        # In the preamble it would be the width that geometry changes afterwards.
        "\\setlength{\\LTcapwidth}{\\linewidth}",
        f"\\begin{{longtable}}{{@{{}}{_columns(table)}@{{}}}}",
        caption,
        f"\\toprule\n{head}\n\\midrule\n\\endfirsthead",
        f"{continued} \\\\\n\\toprule\n{head}\n\\midrule\n\\endhead",
        "\\bottomrule\n\\endlastfoot",
    ]
    for row in table.rows:
        cells = [
            (
                escaped(cell.text.replace(" ", "\u00a0"))
                if cell.number
                else _breakable("" if cell.same else cell.text)
            )
            + (f"\\textsuperscript{{{','.join(cell.marks)}}}" if cell.marks else "")
            for cell in row
        ]
        # A bracket after the end of a row would be read as a distance.
        lines.append("{}" + " & ".join(cells) + r" \\")
    lines.append("\\end{longtable}")
    for note in table.notes:
        mark = f"\\textsuperscript{{{note.mark}}}~" if note.mark else ""
        lines.append(f"\\noindent {mark}{escaped(note.text)}\\par")
    lines.append("}\\medskip")
    lines.append("\\end{landscape}" if turned else "")
    return "\n".join(line for line in lines if line) + "\n"


def _figure(block: NumberedFigure) -> str:
    key = block.drawing.key
    return (
        "\\begin{figure}[H]\n\\centering\n"
        f"\\includegraphics[width=\\linewidth,height=0.7\\textheight,keepaspectratio]{{figures/{key}.pdf}}\n"
        f"\\caption{{{escaped(block.caption)}}}\\label{{fig:{key}}}\n\\end{{figure}}\n"
    )
