"""The command that computes the numbers of a table whose ratings no study can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from konsil.analysis.roles.questions.arguments import arguments
from konsil.analysis.roles.reading import Role, Shape, TableReading
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.design.tables.loaded import Loaded
from konsil.records.request import flags_of, quoted
from konsil.records.source import settings_options


def command_of(loaded: Loaded) -> str:
    """The whole command, by the roles of the columns; empty where a study can hold the table."""
    file, of_file = quoted(loaded.chosen_as or loaded.table.name), loaded.table.settings
    if loaded.is_only_computed and not {*loaded.roles.values()} - {"unused"}:
        return _line("preference", file, settings_options(of_file))
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
    options = [*settings_options(of_file), *flags_of(AgreementRequest, arguments(reading))]
    return _line("agreement", file, options)


def _line(command: str, file: str, options: Sequence[tuple[str, Sequence[str]]]) -> str:
    words = (" ".join([name, *map(quoted, values)]) for name, values in options)
    return " ".join(["konsil", command, file, *words])
