"""The models that help before the study, as [prepare] states them.

Their prompts' files are read and their names are checked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from konsil.errors import StudyError
from konsil.prepare import Preparation
from konsil.prepare.questions.asking import Asking
from konsil.study.sections.calling import Endpoint, Settings, model_problems, settings_of

STEPS = ("rewrite", "screen", "themes")
"""The tables of [prepare] in which a model may be named."""


def helpers(prepare: Preparation | None) -> Iterator[tuple[str, Asking]]:
    """The tables of a preparation in which a model is named, with what they say of it."""
    for step in STEPS:
        asking = getattr(prepare, step, None)
        if isinstance(asking, Asking) and asking.model:
            yield step, asking


def with_prompts(prepare: Preparation, read: Callable[[str, str], str]) -> Preparation:
    """The preparation with its prompts' texts in the place of the files' names.

    `read` takes a value and its key.
    """
    options_by_step = {}
    for step, asking in helpers(prepare):
        texts = {
            name: read(value, f"{step}.prompts.{name}") for name, value in asking.prompts.items()
        }
        options_by_step[step] = dataclasses.replace(asking, prompts=texts)
    return (
        dataclasses.replace(prepare, **options_by_step)  # type: ignore[arg-type]
        if options_by_step
        else prepare
    )


def helper_problems(
    prepare: Preparation, endpoints: tuple[Endpoint, ...], where: str
) -> Iterator[str]:
    """Say what is wrong with the models that are to help."""
    for step, asking in helpers(prepare):
        yield from model_problems(asking.model, endpoints, f"{where}.{step}.model")
        try:
            settings = settings_of(asking.settings, f"{where}.{step}.settings")
        except StudyError as error:
            yield str(error)
            continue
        for name in ("system", "template", "examples", "sections", "tools", "logprobs"):
            if getattr(settings, name) != getattr(Settings(), name):
                yield (
                    f"{where}.{step}.settings.{name}: applies to systems that answer; put a"
                    " prompt under prompts"
                )
