"""The sentence that nothing has a name, the same wherever a name is looked up."""

from __future__ import annotations

from konsil.errors.message import TranslatableMessage, message


def unknown_name(kind: str, name: str, hint: str) -> TranslatableMessage:
    """That there is none of this name, with the nearest name or another hint.

    Of a kind without a noun here, such as a column of groups, its own name is the noun.

    >>> unknown_name("panel", "expert", "did you mean 'experts'?")
    "there is no panel 'expert'; did you mean 'experts'?"
    """
    return message(
        "there is no {kind} {name!r}; {hint}",
        message_id="unknown.name",
        kind=_noun(kind),
        name=name,
        hint=hint,
    )


def _noun(kind: str) -> str:
    nouns = {
        "analysis": message("analysis", message_id="unknown.analysis"),
        "answer": message("answer", message_id="unknown.answer"),
        "arm": message("arm", message_id="unknown.arm"),
        "column": message("column", message_id="unknown.column"),
        "criterion": message("criterion", message_id="unknown.criterion"),
        "derived column": message("derived column", message_id="unknown.derived"),
        "earlier line of the plan with the phase": message(
            "earlier line of the plan with the phase", message_id="unknown.earlier_phase"
        ),
        "endpoint": message("endpoint", message_id="unknown.endpoint"),
        "instrument": message("instrument", message_id="unknown.instrument"),
        "item": message("item", message_id="unknown.item"),
        "label": message("label", message_id="unknown.label"),
        "number": message("number", message_id="unknown.number"),
        "panel": message("panel", message_id="unknown.panel"),
        "rater": message("rater", message_id="unknown.rater"),
        "rater of kind 'llm'": message("rater of kind 'llm'", message_id="unknown.judge"),
        "statistic": message("statistic", message_id="unknown.statistic"),
        "system": message("system", message_id="unknown.system"),
        "table with analyses": message("table with analyses", message_id="unknown.layout"),
        "task": message("task", message_id="unknown.task"),
    }
    return nouns.get(kind, kind)
