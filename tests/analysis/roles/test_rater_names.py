"""What raters are called: in several languages, with accents, in any case."""

from __future__ import annotations

import random

import polars as pl
import pytest

from konsil.analysis.roles.names import fit, kinds
from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.reading import StatedRoles

CALLED = (
    *("Rater", "radiologist", "pathologist", "dermatologist", "nurse", "examiner", "grader"),
    *("labeler", "human", "Codierer", "Leser", "Pathologe", "Ärztin", "Avaliador", "anotador"),
    *("anotator", "annotateur", "évaluateur", "ÉVALUATEUR", "e\u0301valuateur", "Evaluador"),
    *("juez", "médico", "valutatore", "beoordelaar", "эксперт", "Эксперт", "标注者", "평가자"),
)


@pytest.mark.parametrize("word", CALLED)
def test_columns_named_for_raters_are_raters(word: str) -> None:
    rng = random.Random(1)
    ratings = {f"{word} {n}": [rng.choice("012") for _ in range(20)] for n in (1, 2, 3)}
    proposal = propose(pl.DataFrame({"id": [f"c{n}" for n in range(20)], **ratings}), StatedRoles())
    assert proposal.is_certain, proposal.unclear
    assert proposal.reading is not None
    assert (proposal.reading.shape, proposal.reading.rated) == ("wide", tuple(ratings))


@pytest.mark.parametrize("word", ["subject", "Patient", "student", "вопрос", "问题", "kategorie"])
def test_words_for_what_is_rated_name_no_rater(word: str) -> None:
    assert kinds(f"{word} 1")["rater"] == 0 == fit(word, "rater")
