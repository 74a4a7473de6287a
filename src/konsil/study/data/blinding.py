"""Blinding: a study and its records as shown to people who must not know the systems.

This is the only place that decides what is shown, for reports, notebooks, exports and the
coordinators' pages alike. Letters follow from a secret key of the study's database, so that nobody
who has the protocol can make them again.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import (
    NAME_COLUMNS,
    SINGLE_NAME_COLUMNS,
    statistic_of,
)
from konsil.analysis.model.options import WITHHELD, ShareOptions
from konsil.instrument import Criterion, Instrument, canonical
from konsil.plan import Allocation
from konsil.records import Answer, Event, Injected, Rater, Rating, System, Task, Usage
from konsil.study.definition.protocol import Study
from konsil.study.sections.table_layout import TableLayout, grouping_keys

OWN = "system"
"""The stratum of a judge that says which system it is itself."""


@dataclass(frozen=True)
class Letters:
    """The names and their replacements."""

    systems: Mapping[str, str]
    """System -> letter."""
    judges: Mapping[str, str]
    """Judge -> a name that does not reveal the model."""
    answers: Mapping[str, str]
    """Answer -> its item and the letter of its system."""
    key: bytes = dataclasses.field(repr=False)
    """The secret that the letters follow from."""

    def study(self, study: Study) -> Study:
        """The protocol with letters for systems and judges, without model families.

        Which systems share a family can tell who they are: of three, two may have one vendor.

        The texts of the plan and the analyses have the letters too.
        """
        return dataclasses.replace(
            study,
            # Sorted by letter: the order of the protocol would tell which letter is which system.
            systems=tuple(sorted((self._system(s) for s in study.systems), key=lambda s: s.id)),
            raters=tuple(self.rater(r) for r in study.raters),
            # Endpoints and settings of judges name models and vendors.
            endpoints=(),
            judges=(),
            explanations=tuple(
                sorted(
                    (
                        dataclasses.replace(e, system=self.systems.get(e.system, e.system))
                        for e in study.explanations
                    ),
                    key=lambda e: e.system,
                )
            ),
            plan=tuple(self._allocation(a) for a in study.plan),
            injections=(
                None
                if study.injections is None
                else dataclasses.replace(
                    study.injections, judges=tuple(map(self._judge, study.injections.judges))
                )
            ),
            analyses=tuple(self._analysis(a) for a in study.analyses),
            tables=tuple(self._table(t) for t in study.tables),
            exclusions=dataclasses.replace(
                study.exclusions,
                raters=tuple(self.judges.get(r, r) for r in study.exclusions.raters),
            ),
        )

    def answer(self, answer: Answer) -> Answer:
        """An answer without a name in it; its text stays as raters saw it."""
        return dataclasses.replace(
            answer, id=self.answers[answer.id], system=self.systems[answer.system]
        )

    def rater(self, rater: Rater) -> Rater:
        """A judge under another name; people as they are.

        A judge's own system is not told: that some letter has no judge would give away the one that
        cannot judge. Of its other characteristics, such as the vendor, only the columns stay: a
        value that one judge alone has would say which judge it is.
        """
        if rater.kind != "llm":
            return rater
        strata = dict.fromkeys((k for k in rater.strata if k != OWN), WITHHELD)
        return dataclasses.replace(rater, id=self.judges[rater.id], family="", strata=strata)

    def task(self, task: Task) -> Task:
        """A task with the letters of its answers and of its judge, its identifiers replaced.

        An identifier can be a digest of the names of systems, and a slot the place of a judge in
        the protocol: whoever has a list of names could try them all.
        """
        return dataclasses.replace(
            task,
            id=self.task_id(task.id),
            slot=self.slot(task.slot),
            repeat_of=self.task_id(task.repeat_of) if task.repeat_of else task.repeat_of,
            rater=self._judge(task.rater),
            answers=self._answers(task.answers),
        )

    def task_id(self, task: str) -> str:
        """The name of a task."""
        return self._token("task", task)

    def slot(self, slot: str) -> str:
        """The name of a slot of the plan."""
        return self._token("slot", slot)

    def _token(self, kind: str, name: str) -> str:
        return token_of(self.key, kind, name)

    def rating(self, rating: Rating, pairs: Mapping[str, Criterion]) -> Rating:
        """A rating likewise.

        A comparison stands in the order of its letters: that of the names would unmask them.

        `pairs` are the criteria about pairs of answers.
        """
        shown = dataclasses.replace(
            rating,
            task=self.task_id(rating.task),
            rater=self._judge(rating.rater),
            answers=self._answers(rating.answers),
        )
        if shown.criterion not in pairs:
            return shown
        answers, label = canonical(pairs[shown.criterion], shown.answers, shown.label)
        return dataclasses.replace(shown, answers=answers, label=label)

    def usage(self, used: Iterable[Usage]) -> tuple[Usage, ...]:
        """What the calls took, in the order of the letters.

        Without prices, which are known for each model by name; and without times where konsil plays
        some of the models: that theirs are missing would tell which.
        """
        usages = tuple(used)
        withheld: dict[str, Any] = {
            "cost": None,
            "cost_estimated": None,
            "unpriced": None,
            "is_played": False,
        }
        if any(entry.is_played for entry in usages):
            withheld |= {"median": None, "slow": None}
        shown = [
            dataclasses.replace(
                entry,
                who=(self.systems if entry.kind == "answer" else self.judges).get(entry.who, ""),
                **withheld,
            )
            for entry in usages
        ]
        return tuple(
            sorted(
                (entry for entry in shown if entry.who), key=lambda entry: (entry.kind, entry.who)
            )
        )

    def injected(self, pairs: Iterable[Injected]) -> tuple[Injected, ...]:
        """Labels with and without an injected instruction, in the order of their letters."""
        shown = [
            dataclasses.replace(
                pair,
                rater=self._judge(pair.rater),
                answer=self.answers.get(pair.answer, pair.answer),
            )
            for pair in pairs
        ]
        return tuple(
            sorted(shown, key=lambda pair: (pair.rater, pair.item, pair.answer, pair.kind))
        )

    def _judge(self, rater: str) -> str:
        return self.judges.get(rater, rater)

    def _answers(self, answers: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.answers.get(answer, answer) for answer in answers)

    def event(self, event: Event) -> Event:
        """What happened, wherever its particulars name a system, a judge or an answer."""
        return dataclasses.replace(
            event, data={self._name(k): self._with_letters(v) for k, v in event.data.items()}
        )

    def _with_letters(self, value: object) -> object:
        if isinstance(value, str):
            return self._name(value)
        if isinstance(value, Mapping):
            return {self._name(str(k)): self._with_letters(v) for k, v in value.items()}
        return [self._with_letters(v) for v in value] if isinstance(value, list | tuple) else value

    def _name(self, text: str) -> str:
        return self.systems.get(text) or self.judges.get(text) or self.answers.get(text, text)

    def _system(self, system: System) -> System:
        return System(self.systems[system.id], "")

    def _allocation(self, allocation: Allocation) -> Allocation:
        return dataclasses.replace(
            allocation,
            systems=tuple(sorted(self.systems[s] for s in allocation.systems)),
            weights=dict(sorted((self.systems[s], w) for s, w in allocation.weights.items())),
        )

    def _analysis(self, analysis: Analysis) -> Analysis:
        """An analysis with letters for names, in the order of the letters.

        The protocol's order would reveal which letter is which name; so would the one name of a
        reference, which is withheld (`NAME_COLUMNS`).
        """
        where = {
            column: (
                tuple(sorted({self._value(column, v) for v in values}))
                if column in NAME_COLUMNS
                else values
            )
            for column, values in analysis.where.items()
        }
        options = analysis.options
        if isinstance(options, ShareOptions) and NAME_COLUMNS.keys() & options.reference.keys():
            withheld = dict.fromkeys(options.reference, WITHHELD)
            options = dataclasses.replace(options, reference=withheld)
        return dataclasses.replace(analysis, where=where, options=options)

    def _value(self, column: str, value: str) -> str:
        """A value of a column that can name systems, judges or families.

        Families have no letters, and neither have several names in one value: both are withheld.
        """
        kind = NAME_COLUMNS[column]
        if column not in SINGLE_NAME_COLUMNS or kind == "family":
            return WITHHELD
        return (self.systems if kind == "system" else self.judges).get(value, value)

    def _table(self, layout: TableLayout) -> TableLayout:
        """A table with letters for the names of its difference, in the order of the letters.

        Without the difference where there are more than two: which two of them it compares would
        tell who is not one of them. Without it also where it is of families, which judges do not
        have while they are blinded, and where a value joins several names.
        """
        columns = [key for key in grouping_keys(layout) if key in NAME_COLUMNS]
        if any(key not in SINGLE_NAME_COLUMNS or key == "family" for key in columns):
            return dataclasses.replace(layout, difference=())
        for names in (self.systems, self.judges):
            if any(value in names for value in layout.difference):
                shown = sorted(names.get(value, value) for value in layout.difference)
                return dataclasses.replace(
                    layout, difference=tuple(shown) if len(names) == len(shown) else ()
                )
        return layout


def without_families(study: Study) -> tuple[str, ...]:
    """Names of the analyses that have no estimates while model families are withheld."""
    return tuple(
        analysis.name
        for analysis in study.analyses
        if any(NAME_COLUMNS.get(c) == "family" for c in (*analysis.where, *analysis.by))
        or statistic_of(analysis.statistic).group == "own"
    )


def pair_criteria(instruments: Iterable[Instrument]) -> dict[str, Criterion]:
    """The criteria about pairs of answers, by their identifiers."""
    return {c.id: c for i in instruments for c in i.criteria if c.scope == "pair"}


def token_of(key: bytes, kind: str, name: str) -> str:
    """The name of a task or a slot outside the study.

    It cannot be computed from names without the key.
    """
    return hashlib.blake2b(f"{kind}\n{name}".encode(), key=key, digest_size=8).hexdigest()


def letters(
    study: Study, raters: Iterable[Rater], answers: Iterable[Answer], key: bytes
) -> Letters:
    """Letters in an order that follows from a secret key alone."""
    all_answers = tuple(answers)
    declared, answering = [s.id for s in study.systems], {a.system for a in all_answers}
    # Those that answered come first, so that four systems are K to N whatever else a protocol
    # lists.
    systems = [*(s for s in declared if s in answering), *sorted(answering - {*declared})]
    others = [s for s in declared if s not in answering]
    judges = sorted({r.id for r in (*raters, *study.raters) if r.kind == "llm"})
    named = {
        s: _letter(n) for n, s in enumerate([*_shuffled(systems, key), *_shuffled(others, key)])
    }
    return Letters(
        named,
        {j: f"judge {n}" for n, j in enumerate(_shuffled(judges, key), start=1)},
        _answer_names(all_answers, named),
        key,
    )


def _answer_names(answers: Sequence[Answer], named: Mapping[str, str]) -> dict[str, str]:
    """'item:K'; a further answer of the same system to the same item has its number."""
    name_by_id: dict[str, str] = {}
    n_by_name: dict[str, int] = {}
    for answer in answers:
        name = f"{answer.item}:{named[answer.system]}"
        n_by_name[name] = n_by_name.get(name, 0) + 1
        name_by_id[answer.id] = name if n_by_name[name] == 1 else f"{name}:{n_by_name[name]}"
    return name_by_id


def _shuffled(names: Sequence[str], key: bytes) -> list[str]:
    """An order by keyed digests.

    Any order is equally likely, so that none tells anything of the names.
    """
    return sorted(names, key=lambda n: hashlib.blake2b(n.encode(), key=key, digest_size=8).digest())


_LETTERS = "KLMNPQRSTUVWXYZ"
"""None that could be taken for the side of a comparison, A or B, and no O, which looks like a
zero."""


def _letter(n: int) -> str:
    """K to Z, then K2, L2, ...

    >>> [_letter(n) for n in (0, 14, 15)]
    ['K', 'Z', 'K2']
    """
    return _LETTERS[n % len(_LETTERS)] + (str(n // len(_LETTERS) + 1) if n >= len(_LETTERS) else "")
