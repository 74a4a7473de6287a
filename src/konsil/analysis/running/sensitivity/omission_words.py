"""What is omitted in turn, in words: a rater, an item, a case or a value of a characteristic.

Each has two messages, which are the same in English and two cases of a noun in other languages.
"""

from __future__ import annotations

from konsil.errors.message import TranslatableMessage, message


def omitted(column: str) -> TranslatableMessage:
    """What of a column is omitted, as the subject of a sentence.

    >>> omitted("rater"), omitted("site")
    ('rater', 'value of “site”')
    """
    if column == "rater":
        return message("rater", message_id="leave_out.rater")
    if column == "item":
        return message("item", message_id="leave_out.item")
    if column == "case":
        return message("case", message_id="leave_out.case")
    return message("value of “{column}”", message_id="leave_out.value", column=column)


def omission_of(column: str) -> TranslatableMessage:
    """The same after 'omission of'.

    >>> omission_of("rater"), omission_of("site")
    ('rater', 'value of “site”')
    """
    if column == "rater":
        return message("rater", message_id="leave_out.of_rater")
    if column == "item":
        return message("item", message_id="leave_out.of_item")
    if column == "case":
        return message("case", message_id="leave_out.of_case")
    return message("value of “{column}”", message_id="leave_out.of_value", column=column)
