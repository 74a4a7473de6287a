"""Items from what the world has, and items from items: all of it pure."""

from konsil.prepare.draw import SAMPLING, Drawn, asked, draw, event_of, in_study, last_drawn, prepared
from konsil.prepare.lexical import MATCH, lexical_matches, with_lexical_match
from konsil.prepare.sample import in_sets, sizes, stratified
from konsil.prepare.screening import (
    KEEP,
    SCREENING,
    Finding,
    Recognise,
    Screened,
    Screening,
    last_screened,
    screen,
    screening_event,
)
from konsil.prepare.single import Filtered, single_cloze
from konsil.prepare.spec import SAMPLE_SET, Preparation, Sample, preparation_problems

__all__ = [
    "KEEP",
    "MATCH",
    "SAMPLE_SET",
    "SAMPLING",
    "SCREENING",
    "Drawn",
    "Filtered",
    "Finding",
    "Preparation",
    "Recognise",
    "Sample",
    "Screened",
    "Screening",
    "asked",
    "draw",
    "event_of",
    "in_sets",
    "in_study",
    "last_drawn",
    "last_screened",
    "lexical_matches",
    "preparation_problems",
    "prepared",
    "screen",
    "screening_event",
    "single_cloze",
    "sizes",
    "stratified",
    "with_lexical_match",
]
