"""The command that computes the agreement in a table whose ratings no study can hold."""

from __future__ import annotations

from collections.abc import Mapping

from konsil.analysis.roles.questions.arguments import arguments
from konsil.analysis.roles.reading import Role, Shape, TableReading
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.design.tables.loaded import Loaded
from konsil.records.request import flags_of, quoted
from konsil.records.source import settings_options


def command_of(loaded: Loaded) -> str:
    """The whole command, by the roles of the columns; empty where a study can hold the table."""
    as_read: Mapping[str, Role] = {"count": "rating", "item": "unit"}
    roles = {name: as_read.get(role, "unused") for name, role in loaded.roles.items()}
    counts, units = (
        tuple(name for name, of in roles.items() if of == role) for role in ("rating", "unit")
    )
    if len(counts) < 2:
        return ""
    is_crossed = "row_label" in loaded.roles.values()
    shape: Shape = "cross-table" if is_crossed else "counts"
    reading = TableReading(shape=shape, units=units, rated=counts, roles=roles)
    options = [
        *settings_options(loaded.table.settings),
        *flags_of(AgreementRequest, arguments(reading)),
    ]
    words = ["konsil", "agreement", quoted(loaded.chosen_as or loaded.table.name)]
    return " ".join([*words, *(" ".join([name, *map(quoted, of)]) for name, of in options)])
