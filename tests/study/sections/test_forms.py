"""What of a form may change once ratings exist."""

from __future__ import annotations

import json
from dataclasses import replace

from konsil.instrument import Criterion, Instrument, Scale
from konsil.study.sections.forms import difference, shape_of

FINE = Instrument(
    "fine", (Criterion("right", "?", Scale(("no", "yes")), "sentence"),), unit="sentence"
)
ALONE = replace(FINE, present="sentence")


def test_how_sentences_are_presented_is_more_than_wording() -> None:
    # As stored, and as forms of versions that knew one presentation only.
    then, now = (json.loads(json.dumps(shape_of(form))) for form in (FINE, ALONE))
    assert "present" not in then
    assert difference(then, FINE).faults == difference(now, ALONE).faults == ()
    assert difference(then, ALONE).faults == ("present is 'sentence' and was 'answer'",)
    assert difference(now, FINE).faults == ("present is 'answer' and was 'sentence'",)
