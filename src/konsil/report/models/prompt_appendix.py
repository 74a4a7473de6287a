"""Prompts of models, verbatim: the judges' on an example, and the systems' instructions."""

from __future__ import annotations

from konsil.instrument import Instrument
from konsil.instrument.screens.parity import EXAMPLE, examples
from konsil.instrument.screens.prompt import prompt
from konsil.report.material.overview import Material


def judges_prompt(material: Material, instrument: Instrument) -> str:
    """The prompt of an instrument that judges rate by, on an example; else empty.

    The example has three dots for every text. Where each sentence has a call of its own, that
    prompt and that of the other questions follow one another.
    """
    judges = {
        panel
        for panel, members in material.panels().items()
        if any(r.kind == "llm" for r in members)
    }
    lines = [a for a in material.study.plan if a.panel in judges and a.instrument == instrument.id]
    if not lines:
        return ""
    n_answers = max(
        len(a.systems) or len(material.study.systems) if a.show == "all" else 1 for a in lines
    )
    prompts = [prompt(shown, EXAMPLE) for shown in examples(instrument, max(n_answers, 1))]
    return "\n\n---\n\n".join(f"{each.system}\n\n{each.user}" for each in prompts)


def systems_prompts(material: Material) -> list[tuple[str, str]]:
    """The systems that were given instructions of their own, and these.

    Systems with the same ones stand together.
    """
    by_text: dict[str, list[str]] = {}
    for system in material.study.systems:
        instructions = system.settings.get("system")
        if system.model is not None and isinstance(instructions, str) and instructions.strip():
            by_text.setdefault(instructions.strip(), []).append(system.id)
    return [(", ".join(names), text) for text, names in by_text.items()]
