"""Prompts of models, verbatim: the judges' on an example, and the systems' instructions."""

from __future__ import annotations

from konsil.instrument import EXAMPLE, Instrument, example, prompt
from konsil.report.material.overview import Material


def judges_prompt(material: Material, instrument: Instrument) -> str:
    """The prompt of an instrument that judges rate by, on an example; else empty.

    The example has three dots for every text.
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
    example_prompt = prompt(example(instrument, max(n_answers, 1)), EXAMPLE)
    return f"{example_prompt.system}\n\n{example_prompt.user}"


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
