"""Answers that name a system, its family or a maker of language models: where blinding may leak."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from konsil.records import Answer, System

KNOWN = (
    "AlphaMed",
    "Anthropic",
    "BERT",
    "ChatGPT",
    "Claude",
    "Copilot",
    "DeepSeek",
    "Gemini",
    "Gemma",
    "Google DeepMind",
    "GPT",
    "Grok",
    "Llama",
    "MedGemma",
    "Med-PaLM",
    "Meta AI",
    "Microsoft",
    "Mistral",
    "OpenAI",
    "OpenEvidence",
    "Perplexity",
    "Qwen",
    "UpToDate",
    "xAI",
)
"""Makers and models whose names tell readers of medical answers something."""
SHORTEST = 3
"""Characters of a name that is looked for."""


@dataclass(frozen=True, slots=True)
class Named:
    """One answer that names somebody."""

    item: str
    """The item."""
    answer: str
    """The answer."""
    system: str
    """Whose answer it is."""
    names: tuple[str, ...]
    """What it names, as it stands there."""


def named(answers: Iterable[Answer], systems: Iterable[System]) -> Iterator[Named]:
    """The answers that name a system of the study, its family or model, or a known maker.

    Whole words only.

    >>> [n.names for n in named([Answer("a", "i", "s", "As ChatGPT, I cannot say.")], [])]
    [('ChatGPT',)]
    """
    words = {
        *KNOWN,
        *(w for s in systems for w in (s.id, s.family, *_model(s)) if len(w) >= SHORTEST),
    }
    longest_first = sorted(words, key=lambda w: (-len(w), w))
    names = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"(?<!\w)(?:{names})(?:-?\d(?:[\w.]*\w)?)?(?!\w)", re.IGNORECASE)
    for answer in answers:
        mentions = tuple(dict.fromkeys(m[0] for m in pattern.finditer(answer.text)))
        if mentions:
            yield Named(answer.item, answer.id, answer.system, mentions)


def _model(system: System) -> tuple[str, ...]:
    model = system.model
    return () if model is None else tuple(re.split("[:/]", model)[1:])
