"""Writes real logs of Inspect with its mock model: run as a program, so that its event loop stays
out of the tests.

python inspect_runs.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    StopReason,
    UrlCitation,
    get_model,
)
from inspect_ai.scorer import includes, model_graded_qa
from inspect_ai.solver import generate, multiple_choice


def reply(content: str | list[Content], stop: StopReason = "stop") -> ModelOutput:
    # The usage keeps the mock from counting tokens, for which it would ask the network.
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    message = ChatMessageAssistant(content=content, model="mockllm/model", source="generate")
    choices = [ChatCompletionChoice(message=message, stop_reason=stop)]
    return ModelOutput(model="mockllm/model", choices=choices, usage=usage)


def says(*outputs: str | ModelOutput) -> Model:
    made = [reply(o) if isinstance(o, str) else o for o in outputs]
    return get_model("mockllm/model", custom_outputs=made, memoize=False)


def run(folder: Path, name: str, task: Task, model: Model, **more: object) -> None:
    made = folder / name
    (log,) = evaluate(  # type: ignore[call-arg]
        task,
        model=model,
        log_dir=str(made),
        display="none",
        max_samples=1,
        fail_on_error=False,
        **more,
    )
    assert log.status == "success", name


def questions(ids: Iterable[str]) -> MemoryDataset:
    return MemoryDataset(
        [
            Sample(f"Question {i}?", target=f"key {i}", id=i, metadata={"specialty": "cardiology"})
            for i in ids
        ]
    )


def main(folder: Path) -> None:
    thought: list[Content] = [
        ContentReasoning(reasoning="Consider the dose."),
        ContentText(
            text="Start low.",
            citations=[UrlCitation(title="Guideline", url="https://example.org/g")],
        ),
    ]
    turns = [
        ChatMessageSystem(content="You are a ward round."),
        ChatMessageUser(content="She is short of breath."),
        ChatMessageAssistant(content="Since when?"),
        ChatMessageUser(content="Since Monday."),
    ]
    plain = MemoryDataset(
        [
            Sample(
                "Which drug comes first?",
                target=["metformin", "Glucophage"],
                id="q1",
                metadata={"specialty": "endo", "text": "x"},
            ),
            Sample(turns, target="heart failure", id=2, metadata={"specialty": "cardio"}),
        ]
    )
    grader = says("GRADE: C", "GRADE: I", "GRADE: I", "GRADE: C")
    run(
        folder,
        "epochs",
        Task(dataset=plain, solver=generate(), scorer=[model_graded_qa(model=grader), includes()]),
        says("metformin", reply(thought), "insulin", "heart failure"),
        epochs=2,
    )
    outcomes = says(
        "fine",
        reply("half an ans", "max_tokens"),
        reply("", "stop"),
        reply("no", "content_filter"),
        reply("beyond", "model_length"),
        "kept",
    )
    run(
        folder,
        "outcomes",
        Task(dataset=questions("abcdef"), solver=generate(), message_limit=None),
        outcomes,
    )
    # Nothing is left to say for the second sample, which is an error; a limit of one message is
    # reached at once.
    run(folder, "errors", Task(dataset=questions("ab"), solver=generate()), says("only one"))
    run(
        folder,
        "limits",
        Task(dataset=questions("a"), solver=generate(), message_limit=1),
        says("never"),
    )
    run(
        folder,
        "json",
        Task(dataset=questions("ab"), solver=generate()),
        says("x", "y"),
        log_format="json",
        limit=1,
    )
    choice = Sample(
        "Which is a loop diuretic?", choices=["Amiloride", "Furosemide"], target="B", id="mc"
    )
    run(
        folder,
        "choices",
        Task(dataset=MemoryDataset([choice]), solver=multiple_choice()),
        says("ANSWER: B"),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
