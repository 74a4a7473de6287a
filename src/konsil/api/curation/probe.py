"""How much masked cases still give away: a model guesses the diagnosis from each level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.api.curation.decision_tables import write_cells
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.preparing import PromptBatch, Replies, ask, subjects
from konsil.errors import PlanError, StudyError, option
from konsil.prepare.cases.marking import last_markings, narrative_of, versions
from konsil.prepare.cases.masking import LEVEL, LEVELS
from konsil.prepare.cases.naming import mentions, names_of
from konsil.prepare.draw.draw import to_mask
from konsil.prepare.questions.asking import Asking
from konsil.prepare.questions.prompts import guess_form, language_of, prompt_of
from konsil.records import Item
from konsil.stats.shares.shares import wilson
from konsil.study.sections.calling import model_problems

COLUMNS = ("case", "level", "diagnosis", "guess", "right")
"""The table of guesses, a row a version."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What the model named from one version."""

    case: str
    """The case's id."""
    level: str
    """The version's level."""
    diagnosis: str
    """The case's reference."""
    guess: str
    """What the model named."""
    right: bool
    """Whether that names the reference or one of its aliases."""


@dataclass(frozen=True, slots=True)
class Probed:
    """The guesses, and how the model was asked."""

    guesses: Sequence[Guess]
    """All readable ones, by case and level."""
    replies: Replies
    """The run, with what could not be read."""
    unmarked: int
    """Cases that nobody marked, which were left out."""


def probe(folder: Folder, model: str, options: Options | None = None) -> Probed:
    """Let a model guess the diagnosis of every marked case from each of its levels.

    The levels follow from the marks as they are now. A case without a reference has no right answer
    and is refused. What was asked before in the same words is not asked again; the calls have the
    budget, the log and the limits of all others.
    """
    options, study = options or Options(), folder.study
    where = folder.path / PROTOCOL
    if study.prepare is None or study.prepare.mask is None:
        raise StudyError(
            f"{where}: there is no [prepare.mask]; expected one that states how cases are masked"
        )
    for problem in model_problems(model, study.endpoints, option("model")):
        raise StudyError(problem)
    with folder.store() as store:
        with store.view() as view:
            items, events = tuple(view.each("items")), tuple(view.each("events"))
        cases, markings = to_mask(items, events), last_markings(events)
        marked = [
            c for c in cases if c.id in markings and markings[c.id][1].narrative == narrative_of(c)
        ]
        if not marked:
            raise PlanError(
                f"{where}: prepare.mask: no case is marked yet; run 'konsil mask' first"
            )
        nameless = [case.id for case in marked if not (case.reference or "").strip()]
        if nameless:
            raise PlanError(
                f"case {nameless[0]!r}: has no reference; expected the diagnosis that guesses"
                " are compared with"
            )
        version_by_id = {
            version.id: (case, version)
            for case in marked
            for version in versions(case, markings[case.id][1].marks, study.prepare.mask.removed)
        }
        asking = Asking(model=model)
        prompt = prompt_of(asking, "guess", language_of(asking, study.language))
        texts = subjects([(name, version.text) for name, (_, version) in version_by_id.items()])
        if not options.dry_run:
            note_study(store, study, now())
        replies = ask(
            study, store, asking, PromptBatch("guess", prompt, guess_form(), texts), options
        )
    guesses = [
        _guess(*version_by_id[name], str(reply["diagnosis"]))
        for name, reply in replies.replies.items()
    ]
    ordered = sorted(guesses, key=lambda guess: (guess.case, LEVELS.index(guess.level)))
    return Probed(ordered, replies, len(cases) - len(marked))


def _guess(case: Item, version: Item, named: str) -> Guess:
    names = names_of((case.reference or "", *case.aliases))
    right = any(mention.way != "part" for mention in mentions(named, names))
    return Guess(case.id, version.strata[LEVEL], case.reference or "", named, right)


def shares(guesses: Sequence[Guess]) -> dict[str, tuple[int, int, float, float]]:
    """Level -> right guesses, guesses, and the limits of the 95% CI of their share (Wilson)."""
    counts: Mapping[str, list[bool]] = {
        level: [g.right for g in guesses if g.level == level] for level in LEVELS
    }
    return {
        level: (  # type: ignore[misc]
            sum(right),
            len(right),
            *(float(limit) for limit in wilson(sum(right), len(right))),
        )
        for level, right in counts.items()
        if right
    }


def lines_of(probed: Probed) -> Iterator[str]:
    """The table of levels in a few lines."""
    for outcome, n in sorted(probed.replies.unreadable.items()):
        yield f"invalid reply ({outcome}): {n:,}"
    if probed.unmarked:
        yield f"excluded because not marked yet: {probed.unmarked:,} cases"
    if probed.replies.n_pending:
        pending = probed.replies.n_pending
        yield (
            f"{pending:,} versions have not been sent to the model yet; the proportions refer"
            " to the others"
        )
    for level, (k, n, low, high) in shares(probed.guesses).items():
        name = level if level == LEVELS[0] else f"level {level}"
        yield f"{name}: diagnosis guessed in {k / n:.0%} ({k}/{n}; 95% CI, {low:.0%} to {high:.0%})"
    if probed.guesses:
        yield (
            "another model or a person may guess more; a model may also have memorised a"
            " published case"
        )


def write_table(probed: Probed, path: Path) -> None:
    """Write the guesses, a row a version."""
    rows = [
        (g.case, g.level, g.diagnosis, g.guess, "yes" if g.right else "no") for g in probed.guesses
    ]
    write_cells(path, COLUMNS, rows)
