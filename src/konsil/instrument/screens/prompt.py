"""The judge's prompt: a screen as a system and a user message.

The system message is the same for all tasks of an instrument with equally many answers (servers can
keep it): role, codebook word for word, what is asked, how to reply. The user message is the item
and its answers, whole.

Every text that comes from outside stands between two marks with a key that is derived from the
task's identifier and occurs in none of the texts, so that no text can close its own block or open
another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from konsil.instrument.definition.fields import Field
from konsil.instrument.definition.form import Criterion, Instrument
from konsil.instrument.screens.rendering import Shown
from konsil.instrument.screens.screen import Screen, expected


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt that is sent to a judge."""

    system: str
    """Role, codebook, what is asked, how to reply."""
    user: str
    """The item, its reference where shown, and the answers in the order shown."""

    def messages(self) -> list[dict[str, str]]:
        """The two messages as chat completions take them."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


def prompt(screen: Screen, task: str) -> Prompt:
    """Render a screen for a judge; `task` is the task's identifier."""
    user = "\n\n".join(_material(screen, _key(screen, task)))
    return Prompt(_system(screen.instrument, screen.fields, len(screen.answers)), user)


@lru_cache(maxsize=512)
def _system(instrument: Instrument, fields: tuple[Field, ...], n_answers: int) -> str:
    # Of nothing but the form, so that no text of an item or an answer can get into it; made once
    # for all tasks.
    screen = Screen(instrument, fields, answers=(Shown(()),) * n_answers)
    role, codebook = instrument.role.strip(), instrument.codebook.strip()
    parts = (role, codebook, _questions(screen), "\n".join(_format(screen)))
    return "\n\n".join(part for part in parts if part)


def _questions(screen: Screen) -> str:
    """The questions: each criterion once, with its guidance and the permitted replies."""
    blocks = []
    for c in screen.criteria:
        options = "\n".join(f"- {option}" for option in expected(c.scale, screen.words))
        blocks.append("\n".join(part for part in (c.question, c.guidance, options) if part))
    return f"{screen.words.criteria}:\n\n" + "\n\n".join(blocks)


def _format(screen: Screen) -> Iterator[str]:
    """How to reply, made from the fields."""
    wording = screen.words
    yield wording.one_object
    for criterion in screen.criteria:
        yield wording.about.format(criterion.question)
        for field in screen.fields:
            if field.criterion == criterion:
                subject = screen.subject(field)
                about = f" ({subject})" if subject else ""
                lines = [f"- {_quoted(field.name)}{about}: {_values(screen, field)}"]
                if field.reason:
                    lines.append(f"- {_quoted(field.reason)}{about}: {wording.given_reason}")
                yield from reversed(lines) if screen.instrument.reason_first else lines
    if screen.instrument.reason_first and any(field.reason for field in screen.fields):
        yield wording.reason_before
    if len(screen.fields) > 1:
        yield wording.each


def _values(screen: Screen, field: Field) -> str:
    criterion: Criterion = field.criterion
    lines = expected(criterion.scale, screen.words)
    if criterion.scale.kind == "choice":
        return " | ".join(map(_quoted, lines))
    first, *rest = lines
    return screen.words.either.format(first, _quoted(rest[0])) if rest else first


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _material(screen: Screen, key: str) -> list[str]:
    wording, opened, closed = screen.words, f":\n<text-{key}>\n", f"\n</text-{key}>"
    blocks: list[str] = []
    any_marked = False
    if screen.question:
        blocks.append(f"{wording.question}{opened}{screen.question}{closed}")
    if screen.reference:
        blocks.append(f"{wording.reference}{opened}{screen.reference}{closed}")
    for name, answer in zip(screen.headings, screen.answers, strict=True):
        if answer.reasoning:
            blocks.append(f"{name}: {wording.reasoning}{opened}{answer.reasoning}{closed}")
            name = f"{name}: {wording.final}"
        marked = len(answer.pieces) > 1 or any(p.span is not None for p in answer.pieces)
        any_marked = any_marked or marked
        blocks.append(f"{name}{opened}{_marked(answer, key) if marked else answer.text}{closed}")
        if answer.sources:
            sources = "\n".join(answer.sources)
            blocks.append(f"{wording.sources}{opened}{sources}{closed}")
    instructions = (
        [wording.material.format(f"<text-{key}>", f"</text-{key}>")]
        if screen.question or screen.answers
        else []
    )
    if any_marked:
        alone = screen.instrument.present == "sentence"
        sentence = wording.marked_one if alone else wording.marked
        instructions.append(sentence.format(f"<s1-{key}>", f"</s1-{key}>"))
    return [*instructions, *blocks, wording.now]


def _marked(answer: Shown, key: str) -> str:
    return "".join(
        p.text if p.span is None else f"<s{p.span + 1}-{key}>{p.text}</s{p.span + 1}-{key}>"
        for p in answer.pieces
    )


def _key(screen: Screen, task: str) -> str:
    """A key that no answer's author could know and that occurs in no text of the screen."""
    texts = [screen.question, screen.reference]
    for answer in screen.answers:
        texts += [answer.text, answer.reasoning, *answer.sources]
    full_text, n = "\n".join(texts).lower(), 0
    while True:
        key = hashlib.sha256(f"konsil {n} {task}".encode()).hexdigest()[:12]
        if key not in full_text:
            return key
        n += 1
