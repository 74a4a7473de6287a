"""The sentences of a power calculation in a preregistration text."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.errors.message import message
from konsil.report.material.overview import Material
from konsil.study.data.freezing import WithheldPower


@dataclass(frozen=True)
class PowerLine:
    """One row of a power calculation, as `konsil power --output` writes it."""

    analysis: str
    """The analysis."""
    of: str
    """Its group, and the group subtracted."""
    studies: int
    """Simulated studies."""
    width: float | None
    """The mean width of the CI; None where there is none."""
    power: float | None
    """The proportion of studies with p at or below 0.05; None where nothing is tested."""
    groups: tuple[tuple[str, str], ...] = ()
    """The columns of both groups with their values."""


def power_text(material: Material, line: PowerLine) -> str:
    """The power and the mean width of the CI of one analysis."""
    _, numbers = material.language.gettext, material.numbers
    name = f"{line.analysis} ({line.of})" if line.of else line.analysis
    facts = []
    if line.power is not None:
        facts.append(_("power %(power)s") % {"power": numbers.plain(line.power, 2)})
    if line.width is not None:
        facts.append(_("mean width of the CI %(width)s") % {"width": numbers.plain(line.width)})
    facts = facts or [_("not estimable")]
    return _("%(name)s, in %(n)s simulated studies: %(facts)s.") % {
        "name": name,
        "n": numbers.count(line.studies),
        "facts": ", ".join(facts),
    }


def withheld_text(material: Material, withheld: WithheldPower) -> str:
    """The number of lines that would name blinded systems, and the range of their power."""
    _, numbers = material.language.gettext, material.numbers
    limits = [numbers.plain(x, 2) for x in (withheld.low, withheld.high) if x is not None]
    if not limits:
        power = _("not estimable")
    elif len(set(limits)) == 1:
        power = _("power %(power)s") % {"power": limits[0]}
    else:
        power = _("power %(low)s to %(high)s") % {"low": limits[0], "high": limits[1]}
    return numbers.translated(
        message(
            "By system or judge, withheld while blinded, in {studies:,} simulated"
            " {studies|study|studies}: {n:,} {n|estimate|estimates}, {power}.",
            message_id="preregistration.withheld_power",
            studies=withheld.studies,
            n=withheld.estimates,
            power=power,
        )
    )
