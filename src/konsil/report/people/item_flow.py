"""The study flow of the items: from what was read to what was rated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from konsil.analysis.table.columns import rating_columns
from konsil.prepare import MATCH, Drawn, last_drawn, last_screened
from konsil.prepare.identifiers.duplicates import last_duplicates, within
from konsil.prepare.questions.rewriting import REHEARSAL, decisions, proposals
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table

READ = "preparation"
"""The kind of the events that say what was read, kept and dropped on the way from a file to
items."""

_Line = tuple[str, str, int]
"""Step, part of it (empty: all of it), number."""


def funnel(material: Material) -> Table | None:
    """What became of the items, step by step.

    None where none were read from a deck, drawn, reworded or put in sets.
    """
    _, numbers = material.language.gettext, material.numbers
    drawn = last_drawn(material.events)[1]
    lines = [*_read(material), *([] if drawn is None else _drawn(material, drawn))]
    lines += [*_duplicates(material, drawn), *_reworded(material)]
    if not lines:
        return None
    lines += _rated(material)
    rows = [
        (Cell(step), Cell(part), Cell(numbers.count(n), number=True)) for step, part, n in lines
    ]
    head = (_("Step"), _("Of these"), _("Number"))
    return table(material.caption(_("Flow of items through the study.")), head, rows, row_heads=2)


def _read(material: Material) -> Iterator[_Line]:
    _ = material.language.gettext
    reasons = exclusion_reasons(material)
    for event in sorted(
        (e for e in material.events if e.kind == READ), key=lambda e: (e.at, e.subject)
    ):
        yield (
            _("Notes read from %(file)s") % {"file": event.subject},
            "",
            _count(event.data.get("read")),
        )
        dropped = event.data.get("dropped")
        if isinstance(dropped, Mapping):
            counts = sorted(
                ((str(r), _count(n)) for r, n in dropped.items()),
                key=lambda pair: (-pair[1], pair[0]),
            )
            for reason, n in counts:
                yield _("Notes excluded"), reasons.get(reason, reason), n
        yield _("Notes retained as items"), "", _count(event.data.get("kept"))


def _drawn(material: Material, drawn: Drawn) -> Iterator[_Line]:
    _ = material.language.gettext
    reasons, values = exclusion_reasons(material), _values(material)
    yield _("Items"), "", drawn.pool
    # A rehearsal draws by pretended answers, and its systems have answered nothing.
    answered = drawn.answered if any(answer.text for answer in material.answers) else {}
    for system, n in answered.items():
        yield _("Items answered by"), system, n
    for reason, n in sorted(drawn.lost.items()):
        yield _("Items excluded"), reasons.get(reason, reason), n
    screened = last_screened(material.events)[1]
    if screened is not None and (
        alone := sum(i not in screened.decided for i in screened.by_model)
    ):
        yield _("Items excluded"), _("of these flagged by a model only"), alone
    name = _("Verbatim match with the reference") if drawn.by == MATCH else drawn.by
    for value, n in sorted(drawn.found.items()):
        yield name, values.get(value, value) if drawn.by == MATCH else value, n
    step = _("Items sampled") if drawn.sample else _("Items retained")
    yield step, "", drawn.size
    for value, n in sorted(drawn.short.items()):
        yield _("Items fewer than requested"), value, n
    by_match = Counter[str]()
    for parts in drawn.drawn.values():
        by_match.update({match: len(ids) for match, ids in parts.items() if match})
    for match, n in sorted(by_match.items()):
        yield step, _("verbatim match: %(value)s") % {"value": values.get(match, match)}, n
    for set_name, parts in sorted(drawn.drawn.items()):
        if set_name:
            yield _("Items in the set"), set_name, sum(map(len, parts.values()))
    ids = {item for parts in drawn.drawn.values() for group in parts.values() for item in group}
    versions = sum(item.case in ids and item.id not in ids for item in material.items)
    if versions:
        yield _("Versions of these cases, which are items from here on"), "", versions


def _duplicates(material: Material, drawn: Drawn | None) -> Iterator[_Line]:
    """Counts of items that ask what another item asks.

    Of the items that were drawn, or of all where none was.
    """
    _ = material.language.gettext
    duplicates = last_duplicates(material.events)[1]
    if duplicates is None:
        return
    ids = {item.id for item in material.items}
    if drawn is not None:
        ids = {item for parts in drawn.drawn.values() for group in parts.values() for item in group}
    n_items, n_groups = within(duplicates, ids)
    yield _("Items in groups of duplicates"), "", n_items
    yield _("Items in groups of duplicates"), _("groups"), n_groups


def _reworded(material: Material) -> Iterator[_Line]:
    """What people decided on the wordings that a model proposed, of the items in the study."""
    _ = material.language.gettext
    texts = {item.id: item.text for item in material.items}
    proposed = {i: p for i, p in proposals(material.events).items() if i in texts}
    decided = {
        i: decision
        for i, decision in decisions(material.events).items()
        if i in texts and decision.by != REHEARSAL
    }
    if not proposed and not decided:
        return
    yield _("Items rewritten by a model"), "", len(proposed)
    verdicts = Counter[str](decision.verdict for decision in decided.values())
    for verdict, label in (
        ("accept", _("accepted")),
        ("edit", _("edited by people")),
        ("keep", _("original wording retained")),
    ):
        if verdicts[verdict]:
            yield _("Reviewers' decisions on rewritten questions"), label, verdicts[verdict]
    same = sum(i not in decided and decision.text == texts[i] for i, decision in proposed.items())
    if same:
        yield _("Wording unchanged by the model"), "", same


def _rated(material: Material) -> Iterator[_Line]:
    _ = material.language.gettext
    panel_of = {rater.id: rater.panel for rater in material.raters}
    rated: dict[str, set[str]] = {}
    for rater, item in (
        rating_columns(material.ratings).select("rater", "item").unique().drop_nulls().iter_rows()
    ):
        rated.setdefault(panel_of.get(rater, ""), set()).add(item)
    for panel in material.panels():
        if panel in rated:
            yield _("Items rated by"), panel, len(rated[panel])


def _values(material: Material) -> dict[str, str]:
    _ = material.language.gettext
    return {"yes": _("yes"), "no": _("no")}


def exclusion_reasons(material: Material) -> dict[str, str]:
    """Why an item was excluded, as events have it -> the words for it."""
    _ = material.language.gettext
    return {
        "not a cloze note": _("not a cloze note"),
        "no deletion": _("no deletion"),
        "broken deletion": _("broken deletion"),
        "several deletions": _("several deletions"),
        "empty deletion": _("empty deletion"),
        "media needed": _("media needed"),
        "nothing beside the gap": _("no text except the gap"),
        "identifier not unique": _("identifier not unique"),
        "repeat of a note": _("repeat of a note"),
        "duplicate": _("duplicate of another item"),
        "identifier": _("possible identifier"),
        "follow-up": _("follow-up turn"),
        "other language": _("other language"),
        "nobody decided": _("no decision"),
        "no question for a decision": _("no question for a decision"),
        "not answered by all systems": _("not answered by all systems"),
        f"{MATCH} not known": _("no reference to match"),
    }


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
