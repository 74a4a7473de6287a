"""The audit log checked before numbers are told, and what the report says of it."""

from __future__ import annotations

from konsil.analysis.model.message import TranslatableMessage, message
from konsil.store import Store


def log_sentence(store: Store) -> tuple[bool, TranslatableMessage]:
    """Whether the audit log is verified, and the sentence of the methods that states so.

    The sentence has the last hash to deposit.
    """
    problems = store.verify_log()
    entries, last = store.log_head()
    if not problems:
        return True, message(
            "The audit log is whole: {n:,} {n|entry|entries}, and the records are those that they"
            " wrote. Its last hash is {hash}.",
            message_id="log.whole",
            n=entries,
            hash=last,
        )
    return False, message(
        "The audit log is not whole, so the numbers may rest on changed records: {problem}{more}."
        " Run 'konsil verify-log' to see all.",
        message_id="log.broken",
        problem=problems[0],
        more=f" (+ {len(problems) - 1})" if len(problems) > 1 else "",
    )
