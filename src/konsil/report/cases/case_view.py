"""One answer in full: its text, its mentions of the diagnosis, experts' and judges' scores."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from markupsafe import Markup, escape

from konsil.analysis import Analysis
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.table.columns import rating_columns
from konsil.errors.message import message
from konsil.records import Answer, Item
from konsil.report.material.overview import Material, natural
from konsil.report.material.tables import Cell, Table, table

Scores = Mapping[tuple[str, str, str], float]
"""(answer, criterion, rater) -> the number of the label."""


@dataclass(frozen=True)
class CaseView:
    """One answer, ready for the page."""

    item: Item
    """The version of the case that was asked."""
    system: str
    """Who answered."""
    reason: str
    """Why this answer is shown."""
    reasoning: Markup
    """The whole reasoning, with the diagnosis marked; empty where there is none."""
    text: Markup
    """The whole answer, likewise."""
    scores: Table
    """A row a criterion, a column a rater."""


def case_view(material: Material) -> CaseView | None:
    """The failed answer that the judges approve of most.

    None without an audit of judges or without its texts, and while numbers of single systems are
    withheld.
    """
    spec = next((a for a in material.study.analyses if a.statistic == "approval"), None)
    if spec is None or material.results.is_withheld:
        return None
    criteria = (spec.criterion, *spec.criteria)
    scores = _scores(material, criteria)
    experts = _raters(material, str(spec.against))
    judges = _raters(material, spec.raters)
    chosen = _chosen(material, spec, scores, experts, judges)
    if chosen is None:
        return None
    answer, reason = chosen
    item = next(i for i in material.items if i.id == answer.item)
    names = [n for n in (item.reference, *item.aliases) if n]
    return CaseView(
        item,
        answer.system,
        reason,
        marked(answer.reasoning or "", names),
        marked(answer.text, names),
        _table(material, answer, criteria, scores, experts, judges),
    )


def _raters(material: Material, panel: str) -> list[str]:
    members = material.study.together.get(panel, (panel,))  # a name may stand for several panels
    return sorted((r.id for r in material.raters if r.panel in members), key=natural)


def _scores(material: Material, criteria: Sequence[str]) -> dict[tuple[str, str, str], float]:
    criterion_by_id = material.criteria()
    value = {
        (name, label): float(number)
        for name in criteria
        if name in criterion_by_id and criterion_by_id[name].scale.kind == "choice"
        for label, number in zip(
            criterion_by_id[name].scale.labels, criterion_by_id[name].scale.numbers(), strict=True
        )
    }
    scores = {}
    for criterion, rater, answers, label in (
        rating_columns(material.ratings)
        .select("criterion", "rater", "answers", "label")
        .iter_rows()
    ):
        if (criterion, label) in value:
            scores[answers, criterion, rater] = value[criterion, label]
    return scores


def _mean(scores: Scores, answer: str, criterion: str, raters: Sequence[str]) -> float | None:
    values = [scores[key] for r in raters if (key := (answer, criterion, r)) in scores]
    return fmean(values) if values else None


def _key(answer: str) -> str:
    """An answer as the ratings' column of answers names it."""
    return json.dumps([answer], ensure_ascii=False)


def _chosen(
    material: Material,
    spec: Analysis,
    scores: Scores,
    experts: Sequence[str],
    judges: Sequence[str],
) -> tuple[Answer, str] | None:
    """The answer with a text that fails by the experts' mean and that judges score highest.

    Ties by identifier.
    """
    _ = material.language.gettext
    options = spec.options_as(CaseOptions)
    best: tuple[float, Answer] | None = None
    for answer in sorted(material.answers, key=lambda a: natural(a.id)):
        if not answer.text:
            continue
        expert_scores = [
            scores[k] for r in experts if (k := (_key(answer.id), spec.criterion, r)) in scores
        ]
        judged = _mean(scores, _key(answer.id), spec.criterion, judges)
        if not expert_scores or judged is None:
            continue
        if (
            fmean(expert_scores) if options.failure_by == "mean" else max(expert_scores)
        ) > options.failure + 1e-9:
            continue
        if best is None or judged > best[0]:
            best = (judged, answer)
    if best is None:
        return None
    reason = (
        message(
            "Of all answers that fail on “{criterion}” by the experts' mean, this one has the"
            " highest mean of the judges.",
            message_id="audit.example_mean",
            criterion=spec.criterion,
        )
        if options.failure_by == "mean"
        else message(
            "Of all answers that fail on “{criterion}” by every expert, this one has the highest"
            " mean of the judges.",
            message_id="audit.example_every",
            criterion=spec.criterion,
        )
    )
    return best[1], material.numbers.translated(reason)


def _table(
    material: Material,
    answer: Answer,
    criteria: Sequence[str],
    scores: Scores,
    experts: Sequence[str],
    judges: Sequence[str],
) -> Table:
    _, numbers = material.language.gettext, material.numbers
    key = _key(answer.id)
    shown = [r for r in (*experts, *judges) if any((key, c, r) in scores for c in criteria)]

    def cell(value: float | None) -> Cell:
        return Cell("–" if value is None else numbers.tick(value), number=True)

    body = [
        (
            Cell(criterion),
            *(cell(scores.get((key, criterion, r))) for r in shown),
            cell(_mean(scores, key, criterion, experts)),
            cell(_mean(scores, key, criterion, judges)),
        )
        for criterion in criteria
    ]
    head = (_("Criterion"), *shown, _("Experts' mean"), _("Judges' mean"))
    return table(
        material.caption(_("Scores of this answer, the experts' before the judges'.")), head, body
    )


def marked(text: str, names: Sequence[str]) -> Markup:
    """The text as HTML with every mention of one of the names marked; longer names first.

    >>> str(marked("A <stroke>, no Stroke-like episode.", ["stroke"]))
    'A &lt;<mark>stroke</mark>&gt;, no <mark>Stroke</mark>-like episode.'
    """
    pattern = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True) if n.strip())
    if not pattern:
        return escape(text)
    out, at = Markup(""), 0
    for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text, flags=re.IGNORECASE):
        out += escape(text[at : match.start()]) + Markup("<mark>%s</mark>") % match.group()
        at = match.end()
    return out + escape(text[at:])
