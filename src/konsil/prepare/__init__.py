"""Items from what the world has, and items from items: all of it pure."""

from konsil.prepare.lexical import MATCH, lexical_matches, with_lexical_match
from konsil.prepare.sample import in_sets, sizes, stratified
from konsil.prepare.single import Filtered, single_cloze

__all__ = [
    "MATCH",
    "Filtered",
    "in_sets",
    "lexical_matches",
    "single_cloze",
    "sizes",
    "stratified",
    "with_lexical_match",
]
