"""Thoughts in every form that servers leave in the text; none of them reaches a response."""

from __future__ import annotations

import pytest

from konsil.collect.running.verdicts import part_thoughts

HARMONY = "<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>insulin"


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("insulin", "insulin"),
        ("<think>secret</think>\n\ninsulin", "insulin"),
        ("Okay. secret.\n</think>\n\ninsulin", "insulin"),
        ("<think>secret</think>more secret</think>insulin", "insulin"),
        ("<think>secret", ""),
        ("secret</think>insulin<think>secret again", "insulin"),
        ("<thinking>secret</thinking>insulin", "insulin"),
        ("<Thought>secret</Thought>\ninsulin", "insulin"),
        ("<seed:think>secret</seed:think>insulin", "insulin"),
        ("[THINK]secret[/THINK]insulin", "insulin"),
        ("◁think▷secret◁/think▷insulin", "insulin"),
        (
            "<|begin_of_thought|>secret<|end_of_thought|><|begin_of_solution|>insulin<|end_of_solution|>",
            "insulin",
        ),
        (HARMONY, "insulin"),
        (HARMONY + "<|return|>", "insulin"),
        ("<|start|>assistant" + HARMONY, "insulin"),
        ("<|channel|>analysis<|message|>secret", ""),
        (
            "<|channel|>commentary to=f <|constrain|>json<|message|>secret<|call|>" + HARMONY,
            "insulin",
        ),
        ("analysisWe know secret.assistantfinalinsulin", "insulin"),
        ("analysiswe know secret.assistantfinalinsulin", "insulin"),
        ("<unused94>thought\nsecret<unused95>insulin", "insulin"),
        ("<|channel>thought\nsecret<channel|>insulin", "insulin"),
        ("<|channel>thought\nsecret", ""),
        ("secret </think >\ninsulin", "insulin"),
        ("<mm:think>secret</mm:think>insulin", "insulin"),
        ("<inner_thoughts>secret</inner_thoughts>insulin", "insulin"),
        (
            "analysis of blood by the assistant, finally insulin",
            "analysis of blood by the assistant, finally insulin",
        ),
        ("<plan>secret</plan>insulin", "insulin"),
        (
            "In the analysis of blood one thinks of insulin",
            "In the analysis of blood one thinks of insulin",
        ),
        ('{"a1": "no </think> here"}', '{"a1": "no </think> here"}'),
        ("pH < 7.3 and </b>", "pH < 7.3 and </b>"),
    ],
)
def test_what_stands_between_marks_is_no_response(text: str, response: str) -> None:
    reasoning, found = part_thoughts(text, [("<plan>", "</plan>")])
    assert found == response
    assert ("secret" in reasoning) == ("secret" in text)
    assert part_thoughts(found, [("<plan>", "</plan>")]) == (
        "",
        found,
    ), "what is parted once is parted"


def test_marks_of_ones_own_are_no_marks_elsewhere() -> None:
    assert part_thoughts("<plan>a</plan>b") == ("", "<plan>a</plan>b")
