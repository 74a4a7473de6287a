"""The first page: each question of the protocol with its answers, figures and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.options import ShareOptions
from konsil.errors.message import TranslatableMessage, message
from konsil.prepare import MATCH
from konsil.report.answers.answer_figures import answer_figure, figure_of_criteria
from konsil.report.answers.criteria_together import by_outcome, rows_of_criteria
from konsil.report.answers.layouts import LaidTable, tables_with
from konsil.report.answers.limits import Limit, limits
from konsil.report.answers.result_table import link, places, result_table
from konsil.report.answers.sentence_parts import Query
from konsil.report.answers.sentences import answer, further
from konsil.report.figures.drawing import Drawing
from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import column_title, join
from konsil.report.material.tables import Table

_NEED_TITLE = frozenset({"level", "length", "sentences", "minutes", MATCH})
"""Columns of konsil's own whose values say nothing alone."""


@dataclass(frozen=True)
class PartView:
    """One analysis of an answer."""

    name: str
    """The analysis."""
    title: str
    """Its criterion, where the answer is about several; else empty."""
    anchor: str
    """Where all of its tables and figures are."""


@dataclass(frozen=True)
class AnswerView:
    """One answer to a question: of one analysis, or of those that differ in their criterion."""

    parts: tuple[PartView, ...]
    """Its analyses."""
    sentence: str
    """The answer."""
    numbers: str
    """One line: statistic, panel, how many comparisons showed a difference."""
    figure: Drawing | None
    """The small figure."""
    table: Table | None
    """Its estimates, each linked to its line of the data; None where the sentence has the only
    one, or tables of the protocol have all."""
    laid: tuple[LaidTable, ...]
    """The tables of the protocol that have all of its estimates; empty: its own table has them."""
    href: str
    """The first line of the data; empty where the analysis has none."""


@dataclass(frozen=True)
class QuestionView:
    """One question."""

    anchor: str
    """Where the page links to."""
    text: str
    """The question, or the analysis' name."""
    answers: tuple[AnswerView, ...]
    """One for each of its analyses; one for those that differ in their criterion alone."""


@dataclass(frozen=True)
class FirstPage:
    """What the report begins with."""

    limits: tuple[Limit, ...]
    """What limits the answers."""
    questions: tuple[QuestionView, ...]
    """The answers, in the order of the protocol."""
    others: str
    """How many further analyses the protocol declares; empty: none."""

    @property
    def figures(self) -> tuple[Drawing, ...]:
        """Its figures."""
        return tuple(
            view.figure for q in self.questions for view in q.answers if view.figure is not None
        )


def first_page(material: Material, tables: Sequence[LaidTable] = ()) -> FirstPage:
    """All of the first page, from the results alone.

    What the `tables` of the protocol have has no second table.
    """
    chosen = answered(material.study.analyses)
    rows: dict[str, list[Row]] = {a.name: [] for a in chosen}
    for row in material.results.rows:
        if row.analysis in rows and not row.detail:
            rows[row.analysis].append(row)
    lines = places(material.results.rows)
    questions = []
    unanswered = []
    for text, analyses in by_question(chosen):
        several = [query_of(material, a, rows[a.name]) for a in analyses]
        if not any(_has_number(query.rows) for query in several):
            unanswered.append(text)
        views = [_view(material, alike, lines, tables) for alike in by_outcome(material, several)]
        questions.append(QuestionView(anchor("question", text), text, tuple(views)))
    shown = [
        Limit(material.numbers.translated(limit.text), limit.target)
        for limit in limits(material.results, chosen, unanswered)
    ]
    n_others = sum(a.prespecified and a not in chosen for a in material.study.analyses)
    others = message(
        "{n:,} further declared {n|analysis|analyses} without a question of {n|its|their} own:"
        " in the appendix.",
        message_id="answer.others",
        n=n_others,
    )
    return FirstPage(
        tuple(shown), tuple(questions), material.numbers.translated(others) if n_others else ""
    )


def _view(
    material: Material,
    queries: Sequence[Query],
    lines: Mapping[int, int],
    tables: Sequence[LaidTable],
) -> AnswerView:
    """One answer to analyses that differ in their criterion, or to one analysis."""
    query, rows = queries[0], [row for q in queries for row in q.rows]
    laid = tables_with(tables, [j for j in join(rows) if j.row.kind != "companion"])
    is_alone = len(queries) == 1
    if not is_alone:
        of_criteria = rows_of_criteria(queries)
        lines = {id(new): lines[id(row)] for new, row in zip(of_criteria, rows, strict=True)}
        query = query_of(material, replace(query.spec, name=query.spec.question), of_criteria)
    draw = answer_figure if is_alone else figure_of_criteria
    return AnswerView(
        parts=tuple(
            PartView(
                q.spec.name,
                "" if is_alone else material.outcome(q.spec),
                anchor("analysis", q.spec.name),
            )
            for q in queries
        ),
        sentence=answer(query),
        numbers=_line_of_numbers(material, query, len(queries)),
        figure=draw(material, query),
        table=None if laid else result_table(material, query, lines),
        laid=tuple(laid),
        href=link(lines[id(query.rows[0])]) if query.rows else "",
    )


def query_of(material: Material, spec: Analysis, rows: Sequence[Row]) -> Query:
    """An analysis with its rows, as sentences of answers need it."""
    return Query(
        spec,
        tuple(rows),
        quantity(material, spec, rows),
        material.numbers,
        material.study.resampling.draws,
        _titles(material, rows),
        {c: material.criterion(c) for row in rows if (c := row.group.get("criterion", ""))},
    )


def analysis_title(name: str) -> str:
    """The name of an analysis as a heading: words in place of an identifier.

    >>> analysis_title("by_system"), analysis_title("ICC(1,1), communication")
    ('By system', 'ICC(1,1), communication')
    """
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _titles(material: Material, rows: Sequence[Row]) -> dict[str, str]:
    """The titles of columns whose values need them: levels, numbers of sentences, strata."""
    columns = dict.fromkeys(c for row in rows for c in (*row.group, *row.versus))
    titles = {c: column_title(material, c) for c in columns}
    return {
        c: name
        for c, name in titles.items()
        if c != "criterion" and (name == c or c in _NEED_TITLE)
    }


def _has_number(rows: Sequence[Row]) -> bool:
    return any(math.isfinite(row.estimate.value) for row in rows)


def quantity(material: Material, spec: Analysis, rows: Sequence[Row]) -> str:
    """What is estimated: of a share the labels, else the statistic; and the criterion.

    Rows of several criteria name them themselves.
    """
    labels = spec.options.labels_counted
    criterion = material.outcome(spec)
    is_of_several = any("criterion" in row.group for row in rows)
    if spec.statistic == "share" and labels and is_of_several:
        text = message(
            "Answers rated “{labels}”", message_id="answer.rated_as", labels=", ".join(labels)
        )
        return material.numbers.translated(text)
    if spec.statistic == "share" and labels:
        text = message(
            "Answers rated “{labels}” ({criterion})",
            message_id="answer.rated",
            labels=", ".join(labels),
            criterion=criterion,
        )
        return material.numbers.translated(text)
    name = title(spec.statistic, material.language)
    if is_of_several:
        return name
    # An abbreviation is in brackets already.
    return f"{name}, {criterion}" if name.endswith(")") else f"{name} ({criterion})"


def _line_of_numbers(material: Material, query: Query, n_analyses: int) -> str:
    """Which analysis and who rated; what is exploratory or as published; how many comparisons."""
    translate = material.numbers.translated
    spec, rows = query.spec, [r for r in query.rows if r.kind != "companion"]
    parts = [spec.name]
    if n_analyses > 1:
        counted = message("{n:,} {n|analysis|analyses}", message_id="answer.analyses", n=n_analyses)
        parts = [translate(counted)]
    raters = max((r.n_raters for r in rows), default=0)
    if raters and spec.against is None:
        parts.append(translate(_panel(spec, raters)))
    if not spec.prespecified:
        parts.append(translate(message("exploratory", message_id="answer.exploratory")))
    if spec.mode == "paper":
        parts.append(translate(message("as published", message_id="answer.as_published")))
    line = " · ".join(parts)
    return " ".join(text for text in (line + ".", _sign(query), further(query)) if text)


def _panel(spec: Analysis, n: int) -> TranslatableMessage:
    """Who rated, and how many they are; by majority, and with the panel that breaks ties."""
    tiebreak = spec.options.tiebreak if isinstance(spec.options, ShareOptions) else None
    if tiebreak:
        return message(
            "majority of panel {panel}, ties broken by {tiebreak}: {n:,} {n|rater|raters} in all",
            message_id="answer.panel_and_tiebreak",
            panel=spec.raters,
            tiebreak=tiebreak,
            n=n,
        )
    if spec.consensus == "majority":
        return message(
            "majority of panel {panel}: {n:,} {n|rater|raters}",
            message_id="answer.panel_majority",
            panel=spec.raters,
            n=n,
        )
    return message(
        "panel {panel}: {n:,} {n|rater|raters}",
        message_id="answer.panel",
        panel=spec.raters,
        n=n,
    )


def _sign(query: Query) -> str:
    """What a value above 0 says, where the answer has estimates and the title leaves it open."""
    sentence = statistic_of(query.spec.statistic).above_zero
    return "" if sentence is None or not query.estimates else query.numbers.translated(sentence)


def answered(analyses: Sequence[Analysis]) -> list[Analysis]:
    """Those with a question; where none has, the first declared analysis of each outcome.

    In the order of the protocol. Without questions, analyses that only repeat an outcome with
    another statistic are left to the appendix, and so are those computed as published.
    """
    chosen = [a for a in analyses if a.question]
    if chosen:
        return chosen
    first: dict[tuple[str, ...], Analysis] = {}
    for analysis in analyses:
        if analysis.prespecified and analysis.mode == "valid":
            first.setdefault(_outcome(analysis), analysis)
    return list(first.values())


def by_question(analyses: Sequence[Analysis]) -> list[tuple[str, list[Analysis]]]:
    """Each question with its analyses, in the order of the protocol.

    An analysis without a question stands under its name.
    """
    groups: dict[str, list[Analysis]] = {}
    for analysis in analyses:
        groups.setdefault(analysis.question or analysis.name, []).append(analysis)
    return list(groups.items())


def _outcome(analysis: Analysis) -> tuple[str, ...]:
    """The outcome of an analysis, whatever its coefficient: agreement of a panel is one outcome."""
    if analysis.statistic.startswith("ensembles_"):
        return ("ensembles", analysis.criterion)
    kind = "agreement" if entry(analysis.statistic).is_among_raters else analysis.statistic
    return (kind, analysis.criterion, analysis.raters, analysis.against or "")
