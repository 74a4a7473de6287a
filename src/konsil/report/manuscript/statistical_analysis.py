"""Statistical analysis in the methods of a manuscript: what its printed numbers were made by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis import Analysis, Results, Row
from konsil.analysis.cases.case_rules import with_case_defaults
from konsil.analysis.estimation.targets import ABOUT_COMPANIONS
from konsil.analysis.model.catalogue.known import known_statistics, statistic_of
from konsil.analysis.running.methods.methods import statistical_methods
from konsil.errors.message import message
from konsil.report.estimates.declared import declared
from konsil.report.manuscript.citations import (
    cite,
    keys_of_method,
    keys_of_statistic,
)
from konsil.report.manuscript.printed import Printed
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.ranges import alike, alike_key
from konsil.report.material.translate import message_of
from konsil.stats.agreement.registry import STATISTICS


def analysis_texts(printed: Printed, results: Results) -> list[str]:
    """The report's sentences on methods, those on the numbers of the manuscript, with citations.

    A paragraph each on the plan and the target, the ratings, and statistics and tests.
    """
    material, study = printed.material, printed.material.study
    names = [a.name for a in study.analyses if a.prespecified]
    every = {a.name for a in study.analyses} | {row.analysis for row in results.rows}
    sentence = material.numbers.translated(declared(results.plan, names, len(every)))
    with_method = {id(row) for row in printed.with_intervals}
    rows = [
        row if id(row) in with_method else replace(row, estimate=replace(row.estimate, method=""))
        for row in printed.rows
    ]
    statistical = _statistical(material, printed.analyses, rows)
    of_all = _statistical(material, study.analyses, results.rows)
    ids = {message_of(computed) for computed in of_all} | ABOUT_COMPANIONS | _ABOUT_THE_PLAN
    # The plan's status is in the sentence before; what the audit log showed is in the supplement.
    general = [
        shown
        for computed, shown in zip(results.methods, material.results.methods, strict=True)
        if computed not in {*of_all, results.log}
        and not (message_of(computed) and message_of(computed) in ids)
        and shown not in material.results.inference
    ]
    sentences = [_cited_sentence(material, s) for s in statistical]
    is_adjusted = any(math.isfinite(row.p_adjusted) for row in printed.rows)
    if is_adjusted and not any(message_of(s) in _ADJUSTMENTS for s in statistical):
        holm = message(
            "The Holm adjustment covers all declared tests.", message_id="manuscript.holm"
        )
        sentences.append(_cited_sentence(material, holm))
    paragraphs = (
        [sentence, *material.results.inference],
        [*(_with_titles(material, s) for s in general), missing_text(material)],
        sentences,
    )
    return [
        with_citations(material, " ".join(dict.fromkeys(s for s in paragraph if s)))
        for paragraph in paragraphs
    ]


_ADJUSTMENTS = {
    "declared.holm": ("holm1979",),
    "manuscript.holm": ("holm1979",),
    "two_way.family": ("holm1979", "westfall1993"),
}
"""Sentences on the adjustment for multiple testing, and their references."""


def _cited_sentence(material: Material, sentence: str) -> str:
    """A sentence with the references of its adjustment, if it is about one."""
    text, keys = material.numbers.translated(sentence), _ADJUSTMENTS.get(message_of(sentence), ())
    return f"{text.rstrip('.')}{cite(keys)}." if keys else text


_ABOUT_THE_PLAN = frozenset({"freezing.not_frozen", "freezing.retrospective"})
"""Sentences of the report on a plan that was not frozen, which `declared` states as well."""


def _with_titles(material: Material, sentence: str) -> str:
    """The sentence on the numbers of labels with the titles of its criteria, any other as it is."""
    if message_of(sentence) != "methods.label_numbers":
        return sentence
    for name in material.criteria():
        sentence = sentence.replace(repr(name), material.criterion(name))
    return sentence


def _statistical(
    material: Material, analyses: Sequence[Analysis], rows: Sequence[Row]
) -> tuple[str, ...]:
    of_pairs = {c.id for c in material.criteria().values() if c.scope == "pair"}
    study = material.study
    analyses = [with_case_defaults(analysis) for analysis in analyses]
    return statistical_methods(
        analyses, rows, of_pairs, seed=study.seed, resampling=study.resampling
    )


def missing_text(material: Material) -> str:
    """Invalid responses, absent and excluded ratings, and that none was imputed.

    Empty without ratings.
    """
    _, count = material.language.gettext, material.numbers.count
    coverage = material.results.coverage
    if not coverage:
        return ""
    text = _(
        "Missing ratings were not imputed. Invalid responses of LLM judges: %(invalid)s; ratings"
        " excluded by the protocol's rules: %(excluded)s."
    ) % {
        "invalid": count(sum(row.unreadable for row in coverage)),
        "excluded": count(sum(n for row in coverage for n in row.excluded.values())),
    }
    planned = [row for row in coverage if row.expected is not None and row.missing is not None]
    if len(planned) < len(coverage):
        return text
    absent = message(
        "Planned ratings that were not given: {n:,} of {all:,}.",
        message_id="manuscript.absent",
        n=sum(row.missing or 0 for row in planned),
        all=sum(row.expected or 0 for row in planned),
    )
    return f"{text} {material.numbers.translated(absent)}"


def interval_text(material: Material, rows: Sequence[Row]) -> str:
    """Each method of the intervals and tests of these rows, with its references and statistics.

    The names are those that the notes of tables have.
    """
    translated = material.numbers.translated
    rows_by_kind: dict[str, list[Row]] = {}
    for row in rows:
        if row.estimate.method:
            words = translated(row.estimate.method)
            rows_by_kind.setdefault(alike_key(words), []).append(row)
    parts = []
    for of_kind in rows_by_kind.values():
        [method] = alike([translated(row.estimate.method) for row in of_kind])
        keys = dict.fromkeys(k for row in of_kind for k in keys_of_method(row.estimate.method))
        names = dict.fromkeys(_statistic_words(material, row) for row in of_kind)
        parts.append(f"{method}{cite(keys)} ({', '.join(names)})")
    if not parts:
        return ""
    levels = {row.estimate.level for row in rows if math.isfinite(row.estimate.low)}
    level = " / ".join(material.numbers.level(x) for x in sorted(levels))
    return translated(
        message(
            "CIs ({level}%) and tests, each with its statistics: {methods}.",
            message_id="manuscript.methods_of_intervals",
            level=level,
            methods="; ".join(parts),
        )
        if level
        else message(
            "Tests, each with its statistics: {methods}.",
            message_id="manuscript.methods_of_tests",
            methods="; ".join(parts),
        )
    )


def _statistic_words(material: Material, row: Row) -> str:
    name = title(row.statistic, material.language)
    if row.kind != "difference":
        return name
    of_difference = message(
        "{statistic}, difference", message_id="comparison.difference_of", statistic=name
    )
    return material.numbers.translated(of_difference)


def with_citations(material: Material, text: str) -> str:
    """A text with a citation in the place of every source in brackets."""
    for name in known_statistics():
        source = statistic_of(name).source
        if source:
            for words in {source, material.language.gettext(source)}:
                text = text.replace(f" ({words})", cite(keys_of_statistic(name)))
    return text


def statistics_text(printed: Printed, cited_before: Sequence[str]) -> str:
    """Every printed statistic that the text before does not cite, with its reference.

    Those without a reference are named with their intervals, if they have any. The source of a
    proportion or mean is that of its interval, which is cited with the interval.
    """
    material = printed.material
    with_method = {row.statistic for row in printed.with_intervals}
    parts = []
    for name in sorted({row.statistic for row in printed.rows}):
        keys = () if statistic_of(name).family == "shares" else keys_of_statistic(name)
        if name not in with_method | STATISTICS.keys() or not set(keys) <= set(cited_before):
            parts.append(f"{title(name, material.language)}{cite(keys)}")
    if not parts:
        return ""
    words = material.language.gettext("Further statistics: %(statistics)s.")
    return words % {"statistics": "; ".join(dict.fromkeys(parts))}
