"""Time, tokens, costs and failures of the models' calls, by system and judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from konsil.errors.message import message
from konsil.records import Usage
from konsil.report.material.overview import Material, natural
from konsil.report.material.tables import Cell, Numbers, Table, table

KINDS = {
    "answer": message("System", message_id="usage.system"),
    "judge": message("LLM judge", message_id="usage.judge"),
}
"""Kind of a call -> what the tables call it."""

FAILURES = {
    "rate limit": message("Rate limit", message_id="usage.rate_limit"),
    "overloaded": message("Overloaded", message_id="usage.overloaded"),
    "server error": message("Server error", message_id="usage.server_error"),
    "no reply": message("No reply", message_id="usage.no_reply"),
    "request refused": message("Request refused", message_id="usage.request_refused"),
    "filtered": message("Content filter", message_id="usage.filtered"),
    "refused": message("Model refused", message_id="usage.refused"),
    "truncated": message("Truncated", message_id="usage.truncated"),
    "empty": message("Empty", message_id="usage.empty"),
    "not json": message("No JSON", message_id="usage.not_json"),
    "off schema": message("Not in the schema", message_id="usage.off_schema"),
    "ended otherwise": message("Ended otherwise", message_id="usage.ended_otherwise"),
    "expired": message("Expired in a batch", message_id="usage.expired"),
}
"""What goes wrong in a call -> its column, in the table's order."""

LEAST = 0.01
"""US dollars, the smallest amount that two decimals show."""


@dataclass(frozen=True)
class UsageSection:
    """The section on what the calls took."""

    title: str
    """Its heading."""
    sentence: str
    """How many calls there were."""
    tables: tuple[Table, ...]
    """Time, tokens and costs; then what went wrong."""


def usage(material: Material) -> UsageSection | None:
    """What the calls took; None where no model was called."""
    if not material.usage:
        return None
    numbers = material.numbers
    rows = sorted(material.usage, key=lambda entry: (entry.kind, natural(entry.who)))
    sentence = message(
        "{n:,} {n|call was|calls were} made for {works:,} {works|request|requests}; {failed:,}"
        " {failed|call|calls} gave no usable reply.",
        message_id="usage.sentence",
        n=sum(entry.calls for entry in rows),
        works=sum(entry.works for entry in rows),
        failed=sum(sum(entry.failures.values()) for entry in rows),
    )
    title = numbers.translated(
        message("Latency, tokens and costs of the models' calls", message_id="usage.title")
    )
    tables = (_usage_table(material, rows), _failed(material, rows))
    return UsageSection(title, numbers.translated(sentence), tuple(t for t in tables if t.rows))


def _usage_table(material: Material, rows: Sequence[Usage]) -> Table:
    numbers = material.numbers
    head = [
        message("Kind", message_id="usage.kind"),
        message("Name", message_id="usage.name"),
        message("Requests", message_id="usage.requests"),
        message("Calls", message_id="usage.calls"),
        message("Median latency (s)", message_id="usage.median"),
        message("90th percentile (s)", message_id="usage.ninth_decile"),
        message("Tokens in", message_id="usage.tokens_in"),
        message("Tokens out", message_id="usage.tokens_out"),
        message("From cache", message_id="usage.cached"),
    ]
    notes = [
        message(
            "Latency: seconds from a request to the end of its reply, of all calls with a reply."
            " Time spent waiting for rate limits and between repeated calls is not stored and is"
            " not part of it.",
            message_id="usage.about_latency",
        ),
        message(
            "Tokens are those that the endpoint reports; tokens from its cache are part of the"
            " tokens in. Blank: not reported.",
            message_id="usage.about_tokens",
        ),
    ]
    if material.is_blinded:
        notes.append(
            message(
                "Costs are withheld while the study is blinded: prices identify models.",
                message_id="usage.about_blinding",
            )
        )
    else:
        head += [
            message("Cost (US dollars)", message_id="usage.cost"),
            message("Estimated cost (US dollars)", message_id="usage.cost_estimated"),
        ]
        notes.append(
            message(
                (
                    "Cost: reported tokens times the price in the protocol or in konsil's"
                    " price list. Estimated cost: calls without reported tokens, by the length"
                    " of the texts, and interrupted calls, by their maximum possible cost."
                    " Blank: no such call with a price."
                ),
                message_id="usage.about_costs",
            )
        )
    body = [_row(entry, numbers, is_blinded=material.is_blinded) for entry in rows]
    caption = numbers.translated(
        message(
            "Calls of models: latency, tokens and costs by system and judge.",
            message_id="usage.caption",
        )
    )
    general = [numbers.translated(note) for note in notes]
    return table(
        material.caption(caption),
        [numbers.translated(text) for text in head],
        body,
        row_heads=2,
        general=general,
    )


def _row(entry: Usage, numbers: Numbers, *, is_blinded: bool) -> tuple[Cell, ...]:
    timing: tuple[str, ...] = ()
    if entry.is_played:
        timing = (
            numbers.translated(
                message(
                    "Scripted test endpoint: these are not the times of a language model.",
                    message_id="usage.played",
                )
            ),
        )
    counting: tuple[str, ...] = ()
    if entry.counted < entry.replies:
        uncounted = message(
            "{n:,} of {all:,} {all|reply has|replies have} no reported tokens.",
            message_id="usage.uncounted",
            n=entry.replies - entry.counted,
            all=entry.replies,
        )
        counting = (numbers.translated(uncounted),)
    cells = [
        Cell(numbers.translated(KINDS[entry.kind])),
        Cell(entry.who),
        Cell(numbers.count(entry.works), number=True),
        Cell(numbers.count(entry.calls), number=True),
        *(
            Cell("" if s is None else numbers.plain(s, 2), timing, number=True)
            for s in (entry.median, entry.slow)
        ),
        *(
            Cell(_count(n, numbers), counting, number=True)
            for n in (entry.tokens_in, entry.tokens_out)
        ),
        Cell(_count(entry.cached, numbers), number=True),
    ]
    if not is_blinded:
        pricing: tuple[str, ...] = ()
        if entry.unpriced:
            unpriced = message(
                "No price is known for {n:,} {n|reply|replies}.",
                message_id="usage.unpriced",
                n=entry.unpriced,
            )
            pricing = (numbers.translated(unpriced),)
        cells.append(Cell(_money(entry.cost, numbers), pricing, number=True))
        cells.append(Cell(_money(entry.cost_estimated, numbers), number=True))
    return tuple(cells)


def _count(n: int | None, numbers: Numbers) -> str:
    return "" if n is None else numbers.count(n)


def _money(dollars: float | None, numbers: Numbers) -> str:
    if dollars is None:
        return ""
    if 0 < dollars < LEAST:
        return f"< {numbers.plain(LEAST, 2)}"
    return numbers.plain(dollars, 2)


def _failed(material: Material, rows: Sequence[Usage]) -> Table:
    numbers = material.numbers
    failures = [name for name in FAILURES if any(entry.failures.get(name) for entry in rows)]
    failures += sorted({name for entry in rows for name in entry.failures} - FAILURES.keys())
    body = [
        (
            Cell(numbers.translated(KINDS[entry.kind])),
            Cell(entry.who),
            Cell(numbers.count(entry.calls), number=True),
            *(Cell(numbers.count(entry.failures.get(name, 0)), number=True) for name in failures),
        )
        for entry in rows
        if entry.failures
    ]
    head = [
        numbers.translated(message("Kind", message_id="usage.kind")),
        numbers.translated(message("Name", message_id="usage.name")),
        numbers.translated(message("Calls", message_id="usage.calls")),
        *(numbers.translated(FAILURES.get(name, name)) for name in failures),
    ]
    caption = numbers.translated(
        message("Calls without a usable reply, by cause.", message_id="usage.failures")
    )
    note = message(
        (
            "Every call counts, even if a repeated call succeeded. Rate limit: status 429;"
            " overloaded: 503 or 529; server error: other statuses from 500; request refused:"
            " other statuses from 400; no reply: interrupted connection, invalid body or"
            " timeout."
        ),
        message_id="usage.about_failures",
    )
    return table(
        material.caption(caption), head, body, row_heads=2, general=[numbers.translated(note)]
    )
