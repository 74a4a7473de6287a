"""The protocol's settings of a model that helps before the study.

They state which model, in which language and with which settings.

A model proposes and never decides: its rewriting is accepted by a person, its reason to leave a
question out is a suspicion like a rule's, and people rename, merge and move what it called the
themes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from konsil.errors import nearest
from konsil.locale import complete_languages

Step = Literal["rewrite", "screen", "phrases", "names", "tags", "guess"]
"""What a model is asked for: another wording, a reason to leave out, phrases, a theme's name, a
question's theme, a diagnosis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a model is asked."""

    model: str = ""
    """ENDPOINT:NAME, as for systems and judges; empty: no model is asked."""
    language: str = ""
    """The language of konsil's own prompts; empty: the study's."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """What is asked for -> a prompt instead of konsil's; a text that ends in .md is a file of the
    study's folder."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """How the model is called: temperature, top_p, max_tokens, seed, options, prices."""


ASKING = tuple(Asking.__dataclass_fields__)
"""The fields that speak of a model."""


def without_model(stated: dict[str, Any]) -> dict[str, Any]:
    """The protocol's fields, without those about a model where it names none.

    So the digests of older protocols stay the same.

    >>> without_model({"rules": (), "model": "", "language": "", "prompts": {}, "settings": {}})
    {'rules': ()}
    """
    return (
        stated
        if stated["model"]
        else {name: value for name, value in stated.items() if name not in ASKING}
    )


def asking_problems(asking: Asking, steps: tuple[Step, ...], where: str) -> Iterator[str]:
    """Say what is wrong with how a model is asked; `steps` are what it may be asked for here."""
    for name, prompt in asking.prompts.items():
        if name not in steps:
            yield f"{where}.prompts: there is no prompt {name!r} here; {nearest(name, steps)}"
        elif not prompt.strip():
            yield (
                f"{where}.prompts.{name}: is empty; expected a prompt, or leave it out for"
                " konsil's own"
            )
    if asking.language and asking.language not in complete_languages():
        yield (
            f"{where}.language: there is no {asking.language!r};"
            f" {nearest(asking.language, complete_languages())}"
        )
    if (
        not asking.model
        and steps != ("rewrite",)
        and (asking.language or asking.prompts or asking.settings)
    ):
        yield f"{where}.model: missing; language, prompts and settings are for a model"
