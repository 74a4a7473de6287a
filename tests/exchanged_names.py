"""What the studies have in common whose systems exchange their names."""

from __future__ import annotations

NAMES = ("alpha-canary", "beta-canary", "canary-gamma", "zeta canary")
"""What systems are called, by turns: first and last in the alphabet, with and without a space."""
MINTED = ("id", "task", "slot", "repeat_of")
"""Columns of identifiers that follow from the key."""
FORMS = """[[instruments]]
id = "answers"
codebook = "Is it right?"
[[instruments.criteria]]
id = "correct"
question = "Correct?"
scale = { labels = ["no", "yes"], abstain = "unsure" }
[[instruments]]
id = "pairs"
unit = "pair"
codebook = "Which is better?"
[[instruments.criteria]]
id = "better"
question = "Which?"
scope = "pair"
scale = { labels = ["A", "same", "B"], level = "ordinal" }
"""
"""One form for single answers, one for pairs."""
SHARES = """[[analyses]]
name = "share"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
by = ["system"]
"""
"""The share of right answers of each system."""
