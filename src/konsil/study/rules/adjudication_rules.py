"""Rules between a study's adjudication, its panels, criteria and analyses."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.errors import nearest
from konsil.study.definition.protocol import Study


def adjudication_problems(study: Study, name: str) -> Iterator[str]:
    """Problems of a study's adjudication, and of analyses of labels after adjudication."""
    rules, where = study.adjudication, f"{name}: adjudication"
    if rules is None:
        # A table may bring ratings of an adjudication that took place elsewhere.
        if all(s.records in ("items", "answers") for s in study.sources):
            for n, analysis in enumerate(study.analyses):
                if analysis.adjudication == "after":
                    needs = "'after' needs an [adjudication], which the study does not have"
                    yield f"{name}: analyses[{n}].adjudication: {needs}"
        return
    if rules.panel not in study.panels():
        yield (
            f"{where}.panel: there is no panel {rules.panel!r};"
            f" {nearest(rules.panel, study.panels())}"
        )
    if not rules.steps > 0:
        yield f"{where}.steps: expected more than 0, got {rules.steps:g}"
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    for criterion in rules.criteria:
        if criterion not in criteria:
            yield (
                f"{where}.criteria: there is no criterion {criterion!r};"
                f" {nearest(criterion, criteria)}"
            )
        elif criteria[criterion].scale.kind == "text":
            yield (
                f"{where}.criteria: {criterion!r} is a free text; expected a criterion with labels"
                " or numbers"
            )
