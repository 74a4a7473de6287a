"""konsil letters: invitations and reminders by e-mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.terminal import Block, Note, show

if TYPE_CHECKING:
    from konsil.letters.bounces import Bounced
    from konsil.letters.due import Absence
    from konsil.letters.sending import Sent, ShownLetter

_WORDS = {
    "sent": "sent",
    "deferred": "not accepted now ({code}); it is sent again next time",
    "refused": "refused by the mail server ({code})",
}


@click.command(short_help="Send invitations and reminders to raters by e-mail.")
@on_folder
@click.option("--dry-run", is_flag=True, help="Show the letters and send none.")
@click.option("--send", is_flag=True, help="Send invitations, and reminders to all with tasks.")
@click.option("--due", is_flag=True, help="Send invitations, and reminders only when due.")
@click.option(
    "--bounces",
    type=click.Path(path_type=Path),
    metavar="MAILBOX",
    help="Read delivery failures from an mbox file or a Maildir folder.",
)
@acting("sends the letters")
@with_json
def command(
    folder: Path,
    database: str,
    dry_run: bool,
    send: bool,
    due: bool,
    bounces: Path | None,
    by: str,
) -> Printout:
    """Send letters to the raters of the study in FOLDER through the server of its mail.toml.

    Raters with an e-mail address and a valid link get an invitation, later reminders with the same
    link, at most one letter a day. Raters who have completed all tasks, have withdrawn or have a
    failing address get none.

    --due is for a timer: reminders are due on the days of remind_after_days.
    """
    from konsil.api import open_folder
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if bounces is not None:
        if dry_run or send or due:
            raise StudyError("--bounces: cannot be combined with --dry-run, --send and --due")
        from konsil.letters.bounces import read_bounces

        return _bounced(read_bounces(opened, bounces, by=by))
    if send and due:
        raise StudyError("--send and --due: expected one of them")
    if not (dry_run or send or due):
        raise StudyError("--dry-run, --send or --due: missing; --dry-run shows the letters")
    from konsil.letters.sending import send_letters, shown_letters

    if dry_run:
        return _shown(*shown_letters(opened, is_timed=due))
    return _sent(send_letters(opened, is_timed=due, by=by))


def _shown(letters: Sequence[ShownLetter], absences: Sequence[Absence]) -> Printout:
    def lines() -> Iterator[str]:
        for letter in letters:
            yield f"{letter.rater}: {letter.kind}"
            yield f"To: {show(letter.recipient)}"
            yield f"Subject: {show(letter.subject)}"
            yield Block(f"\n{letter.text}")
        yield from _absent(absences)
        yield f"{_number(len(letters))} would be sent; nothing sent"

    # Names and addresses are in no JSON, which programs store.
    record = [{"rater": letter.rater, "kind": letter.kind} for letter in letters]
    return Printout({"letters": record, "not_sent": absences}, list(lines()))


def _sent(sent: Sent) -> Printout:
    stop = (
        [Note(f"note: {sent.stop}: {_number(sent.n_waiting)} not sent; they are sent next time")]
        if sent.stop is not None and sent.n_sent
        else []
    )
    record = {
        "sent": sent.n_sent,
        "outcomes": sent.outcomes,
        "not_sent": sent.absences,
        "waiting": sent.n_waiting,
    }
    lines = [f"{o.rater}: {o.kind} {_WORDS[o.state].format(code=o.code)}" for o in sent.outcomes]
    lines += [*_absent(sent.absences), *stop, f"{_number(sent.n_sent)} sent"]
    return Printout(record, lines, _failure(sent))


def _failure(sent: Sent) -> Exception | None:
    """The error with which the command ends; none where letters were sent, or none was due."""
    from konsil.errors import KonsilError

    if sent.n_sent:
        return None
    if sent.stop is not None:
        waiting = f"{_number(sent.n_waiting)} not sent; run the command again later"
        return KonsilError(f"{sent.stop}: {waiting}")
    if sent.outcomes:
        return KonsilError("no letter was accepted by the mail server")
    return None


def _bounced(bounced: Bounced) -> Printout:
    lines = [f"{rater}: letters to the address fail" for rater in bounced.raters]
    lines += [
        f"{rater}: a policy of the receiving server, such as a spam filter, refused a letter"
        f" ({code}); the address is not marked"
        for rater, code in bounced.refused.items()
    ]
    lines.append(
        f"{bounced.n_messages:,} {'message' if bounced.n_messages == 1 else 'messages'}; permanent"
        f" delivery failures: {bounced.n_reports:,} reported, {bounced.n_matched:,} of letters of"
        f" this study, {len(bounced.raters):,} new"
    )
    record = {
        "failing": bounced.raters,
        "refused": bounced.refused,
        "messages": bounced.n_messages,
        "reports": bounced.n_reports,
        "matched": bounced.n_matched,
    }
    return Printout(record, lines)


def _absent(absences: Sequence[Absence]) -> Iterator[str]:
    for reason, n in sorted(Counter(absence.reason for absence in absences).items()):
        raters = [a.rater for a in absences if a.reason == reason]
        yield Note(
            f"no letter to {n:,} {'rater' if n == 1 else 'raters'}: {reason}"
            f" ({', '.join(raters[:_LISTED])}{', ...' if n > _LISTED else ''})"
        )


_LISTED = 5
"""Raters named in one line."""


def _number(n: int) -> str:
    return f"{n:,} {'letter' if n == 1 else 'letters'}"
