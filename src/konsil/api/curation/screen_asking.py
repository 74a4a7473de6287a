"""A model that screens the questions after the rules.

Its reason is a suspicion, as that of a rule is.
"""

from __future__ import annotations

from collections.abc import Sequence

from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import now
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.preparing import PromptBatch, Replies, ask, subjects
from konsil.prepare import Finding, Screening
from konsil.prepare.questions.prompts import (
    NOTHING,
    language_of,
    prompt_of,
    screening_form,
    screening_reasons,
)
from konsil.prepare.questions.screening import OTHER_LANGUAGE
from konsil.records import Item
from konsil.store import Store


def ask_model(
    folder: Folder,
    store: Store,
    spec: Screening,
    items: Sequence[Item],
    options: Options,
) -> tuple[Replies, dict[str, Finding]]:
    """Ask the protocol's model about items, and return its replies and its suspicions.

    A dry run sends no new request. `items` are those in which no rule found anything:
    what may name somebody goes to no model.
    """
    language = language_of(spec, folder.study.language)
    reasons = [*spec.rules, *([OTHER_LANGUAGE] if spec.languages else [])]
    prompt = prompt_of(
        spec, "screen", language, reasons=screening_reasons(spec.rules, spec.languages, language)
    )
    batch = PromptBatch(
        "screen", prompt, screening_form(reasons), subjects([(i.id, i.text) for i in items])
    )
    if not options.dry_run:
        note_study(store, folder.study, now())
    replies = ask(folder.study, store, spec, batch, options)
    return replies, {
        item: Finding(str(reply["reason"]), str(reply["evidence"]), by_model=True)
        for item, reply in replies.replies.items()
        if reply["reason"] != NOTHING
    }
