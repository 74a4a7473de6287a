"""One sample of an Inspect log: what was asked, what was answered, and why an answer is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from konsil.records import Citation
from konsil.sources.files.cells import as_text

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage
    from inspect_ai.scorer import Score

Row = dict[str, str | None]

_TURNS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
_CUT = {"max_tokens": "truncated", "model_length": "truncated", "content_filter": "filtered"}


def missing(sample: EvalSample) -> str:
    """Why a sample has no answer: an error, a limit, a reply cut short, filtered or empty.

    '' where it has one.
    """
    if sample.invalidation is not None:
        return "invalidated"
    if sample.error is not None or sample.output.error is not None:
        return "error"
    if sample.limit is not None:
        return f"{sample.limit.type} limit"
    if not sample.output.choices:
        return "empty"
    cut = _CUT.get(sample.output.choices[0].stop_reason, "")
    return cut or ("" if sample.output.completion.strip() else "empty")


def item_row(sample: EvalSample) -> Row:
    """Text, reference and aliases of the item that a sample asks.

    The system message belongs to how a model is asked and is left out. Of several turns each has
    its speaker before it. Choices follow the question under their letters; the reference is then
    the right choice with its letter.
    """
    text = sample.input if isinstance(sample.input, str) else _turns(sample.input)
    targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    if not sample.choices:
        first, *others = targets or [""]
        return {
            "text": text,
            "reference": first or None,
            "aliases": json.dumps(others) if others else None,
        }
    choices = [f"{_letter(n)}) {choice}" for n, choice in enumerate(sample.choices)]
    right = [choices[n] for n in _chosen(targets, len(choices))]
    return {
        "text": "\n".join([text, "", *choices]),
        "reference": "\n".join(right or targets) or None,
        "aliases": None,
    }


def answered(sample: EvalSample) -> Row:
    """The answer's text and the reasoning before it."""
    content = sample.output.choices[0].message.content
    thought = (
        ""
        if isinstance(content, str)
        else "\n\n".join(c.reasoning for c in content if c.type == "reasoning")
    )
    return {"text": sample.output.completion.strip(), "reasoning": thought.strip() or None}


def citations(sample: EvalSample) -> tuple[Citation, ...]:
    """The sources that the answer names, each once."""
    content = sample.output.choices[0].message.content
    parts = [] if isinstance(content, str) else [c for c in content if c.type == "text"]
    cited = (c for part in parts for c in part.citations or ())
    sources = (Citation(c.title or "", getattr(c, "url", "") or "") for c in cited)
    return tuple(dict.fromkeys(c for c in sources if c.title or c.url))


def scores(sample: EvalSample) -> Row:
    """The value of each scorer on a sample, by the scorer's name.

    The scorer's explanation has the key 'name.explanation'.
    """
    row: Row = {}
    for name, score in (sample.scores or {}).items():
        for key, value in _values(name, score):
            row[key] = value
        if score.explanation:
            row[f"{name}.explanation"] = score.explanation
    return row


def _values(name: str, score: Score) -> Iterator[tuple[str, str | None]]:
    if isinstance(score.value, dict):
        for key, value in score.value.items():
            yield f"{name}.{key}", as_text(value)
    else:
        yield name, as_text(score.value)


def _turns(messages: Sequence[ChatMessage]) -> str:
    spoken = [(m.role, _words(m)) for m in messages if m.role != "system"]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{_TURNS[role]}: {text}" for role, text in spoken)


def _words(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = (
        c.text if c.type == "text" else f"[{c.type}]"
        for c in message.content
        if c.type != "reasoning"
    )
    return "\n".join(parts)


def _letter(position: int) -> str:
    return chr(ord("A") + position) if position < 26 else str(position - 25)


def _chosen(targets: Sequence[str], n_choices: int) -> list[int]:
    """The choices that the targets name by letter: ['B'], ['A', 'C'] and ['AC'] alike.

    None where one is no letter.
    """
    letters = [_letter(n) for n in range(n_choices)]
    named = [t.strip() for t in targets]
    if len(named) == 1 and named[0] not in letters:
        named = list(named[0].replace(",", "").replace(" ", ""))
    return [letters.index(name) for name in named] if named and set(named) <= set(letters) else []
