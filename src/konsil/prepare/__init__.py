"""Items from what the world has, and items from items: all of it pure."""

from konsil.prepare.draw.draw import (
    SAMPLING,
    Drawn,
    draw,
    event_of,
    in_study,
    last_drawn,
    prepared,
    request_digest,
)
from konsil.prepare.draw.lexical import MATCH, lexical_matches, with_lexical_match
from konsil.prepare.draw.sample import in_sets, sizes, stratified
from konsil.prepare.draw.spec import SAMPLE_SET, Preparation, Sample, preparation_problems
from konsil.prepare.questions.deciding import DECISION, KEEP, Decision, decision_event, decisions
from konsil.prepare.questions.screening import (
    SCREENING,
    Finding,
    Recognise,
    Screened,
    Screening,
    decided_of,
    first_finding,
    last_screened,
    screen,
    screening_event,
    with_decisions,
)
from konsil.prepare.questions.themes import (
    DROP,
    THEME,
    Embed,
    Themed,
    Theming,
    last_themed,
    themes,
    theming_event,
)
from konsil.prepare.text.sentences import sentences
from konsil.prepare.text.single import Filtered, single_cloze

__all__ = [
    "DECISION",
    "DROP",
    "KEEP",
    "MATCH",
    "SAMPLE_SET",
    "SAMPLING",
    "SCREENING",
    "THEME",
    "Decision",
    "Drawn",
    "Embed",
    "Filtered",
    "Finding",
    "Preparation",
    "Recognise",
    "Sample",
    "Screened",
    "Screening",
    "Themed",
    "Theming",
    "decided_of",
    "decision_event",
    "decisions",
    "draw",
    "event_of",
    "first_finding",
    "in_sets",
    "in_study",
    "last_drawn",
    "last_screened",
    "last_themed",
    "lexical_matches",
    "preparation_problems",
    "prepared",
    "request_digest",
    "screen",
    "screening_event",
    "sentences",
    "single_cloze",
    "sizes",
    "stratified",
    "themes",
    "theming_event",
    "with_decisions",
    "with_lexical_match",
]
