"""Which of a test's many sets of parameters are tried at every run, and which before a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def covering(parameters: Sequence[Mapping[str, int]], least: int = 0) -> list[int]:
    """The places of some sets of parameters, each given as the number of each parameter's value.

    One after the other those with most values that none before has, at equality the earlier, until
    every value of every parameter occurs: nothing is left untried, only most combinations are. A
    test of a single parameter has as many sets as values, so that all would be chosen: `least`, if
    it is not 0, is their number there and everywhere.
    """
    values = [frozenset(p.items()) for p in parameters]
    missing = frozenset().union(*values)
    chosen: list[int] = []
    while (len(chosen) < least) if least else missing:
        ahead = [place for place in range(len(values)) if place not in chosen]
        if not ahead:
            break
        best = max(ahead, key=lambda place: (len(values[place] & missing), -place))
        chosen.append(best)
        missing -= values[best]
    return sorted(chosen)
