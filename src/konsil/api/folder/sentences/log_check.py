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
            (
                "Audit log verified: {n:,} {n|entry|entries}; chain and records are intact."
                " The last hash is {hash}."
            ),
            message_id="log.whole",
            n=entries,
            hash=last,
        )
    return False, message(
        (
            "Verification of the audit log failed, so estimates may be based on altered"
            " records: {problem}{more}. For details, run 'konsil verify-log'."
        ),
        message_id="log.broken",
        problem=problems[0],
        more=f" (+ {len(problems) - 1})" if len(problems) > 1 else "",
    )
