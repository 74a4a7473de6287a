"""What the program says of sentences that rule a diagnosis out or mean something else."""

from __future__ import annotations

import pytest
from naming_sentences import FIRST, HELD_OUT

from konsil.collect.jobs.programs import named
from konsil.records import Item


def verdicts(item: Item, text: str) -> tuple[bool, bool]:
    """Whether the program finds the diagnosis in it as a reasoning, and as a final response."""
    return named(item, text, ruled_out=True) is not None, named(item, text) is not None


@pytest.mark.parametrize(("item", "text", "gold"), FIRST)
def test_the_sentences_that_the_rules_were_made_with(
    item: Item, text: str, gold: tuple[bool, bool]
) -> None:
    assert verdicts(item, text) == gold


def test_sentences_that_no_rule_was_made_with() -> None:
    """Stated in docs/howto-study.md; a change of a rule that moves these numbers moves them there,
    too."""
    pairs = [(verdicts(item, text), gold) for item, text, gold in HELD_OUT]
    assert len(pairs) == 46
    assert sum(v[0] == g[0] for v, g in pairs) == 46
    assert sum(v[1] == g[1] for v, g in pairs) == 45


def test_what_a_sentence_rules_out_is_its_own() -> None:
    """The next sentence, and what follows a contrast, are read by themselves."""
    item = Item("i", "?", "gout")
    assert named(item, "No evidence of sepsis. Gout is likely.") is not None
    assert named(item, "Sepsis was ruled out, but gout was not.") is not None
    assert named(item, "Gout was ruled out. Still, gout cannot be excluded.") is not None
    assert named(item, "Gout was ruled out. No sign of gout.") is None
