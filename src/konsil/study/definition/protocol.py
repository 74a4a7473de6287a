"""The protocol as data, and its digest."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from konsil.analysis import Analysis, CompositeScore, Derived, Exclusions, Inference, Resampling
from konsil.analysis.model.composite.definition import with_scores
from konsil.errors import Problem, StudyError, nearest
from konsil.instrument import Instrument, digest_of
from konsil.plan import Allocation
from konsil.plan.draw.injections import Injections
from konsil.plan.model.places import Places, added_places, placeholder_raters
from konsil.prepare import Preparation
from konsil.records import Event, Rater, Source, System, Task
from konsil.study.definition.adjudication import Adjudication
from konsil.study.definition.interim import Interim
from konsil.study.definition.publication import Publication
from konsil.study.sections.calibration import Calibration
from konsil.study.sections.calling import Endpoint, Judge, settings_of
from konsil.study.sections.decode import decode, lists_of, toml_data
from konsil.study.sections.enrolment import Enrolment
from konsil.study.sections.helping import with_prompts
from konsil.study.sections.line_numbers import syntax_position, without_position
from konsil.study.sections.practice import Explanation
from konsil.study.sections.privacy import Privacy
from konsil.study.sections.programs import Program
from konsil.study.sections.slips import hint
from konsil.study.sections.table_layout import FigureLayout, TableLayout

LONE_PANEL = "raters"
"""The panel of all raters where the protocol lists none."""

SameFamily = Literal["forbid", "flag", "allow"]

SCHEMA = 1
"""The newest form of study.toml that this version reads."""


@dataclass(frozen=True, slots=True)
class Study:
    """One whole protocol."""

    title: str
    """The study's title."""
    seed: int
    """All randomness comes from it."""
    schema: int = SCHEMA
    """The form of this file."""
    description: str = ""
    """What is evaluated and why, in a paragraph for the report."""
    language: str = "en"
    """The language of the report, one of those that `konsil.locale` has."""
    licence: str = ""
    """The licence of released data, an SPDX identifier."""
    publication: Publication | None = None
    """What a release states about itself for catalogues of data; None: nothing but title, licence
    and description."""
    simulated: bool = False
    """Whether the ratings are simulated; every page of the report then says so."""
    retrospective: bool = False
    """Whether the ratings existed when the analyses were specified; then no analysis is
    prespecified, and the report says so."""
    blinded: bool = False
    """Whether systems are letters in every analysis until the plan of analyses is frozen and the
    study unblinded."""
    reasons_for_changes: bool = False
    """Whether a rating that was handed in is changed on the pages only with a reason, which the
    audit log keeps."""
    sample_items: int = 3
    """How many items the report shows in full, with their answers."""
    instruments: tuple[Instrument, ...] = ()
    """How it is rated."""
    judges_of_same_family: SameFamily = "forbid"
    """Whether a judge may be of the family of a system that it judges."""
    systems: tuple[System, ...] = ()
    """Who answers."""
    endpoints: tuple[Endpoint, ...] = ()
    """Where models are served."""
    judges: tuple[Judge, ...] = ()
    """Which models speak for the raters of kind llm."""
    programs: tuple[Program, ...] = ()
    """Which raters are programs, and what they look for."""
    raters: tuple[Rater, ...] = ()
    """Who rates."""
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names for several panels as one, for analyses: name -> panels."""
    places: tuple[Places, ...] = ()
    """Places of panels that people take by signing up."""
    enrolment: Enrolment | None = None
    """What comes before somebody's first task; None: nothing."""
    privacy: Privacy | None = None
    """How long personal data are kept, and what an erasure erases; None: the defaults."""
    calibration: Calibration | None = None
    """What follows the pilot; None: nothing."""
    adjudication: Adjudication | None = None
    """Which disagreements raters look at together once they have rated; None: none."""
    interim: Interim | None = None
    """Interim analyses while ratings are collected; None: none."""
    sources: tuple[Source, ...] = ()
    """Where items, answers and ratings come from."""
    prepare: Preparation | None = None
    """Which items are rated; None: all."""
    plan: tuple[Allocation, ...] = ()
    """Who rates what."""
    injections: Injections | None = None
    """Control tasks of judges with instructions embedded in answers; None: there are none."""
    explanations: tuple[Explanation, ...] = ()
    """What practice tasks explain after they were handed in."""
    derived: tuple[Derived, ...] = ()
    """Columns made from the ratings."""
    scores: tuple[CompositeScore, ...] = ()
    """Numbers made of a rater's labels on several criteria, for analyses."""
    analyses: tuple[Analysis, ...] = ()
    """Which numbers are asked for."""
    tables: tuple[TableLayout, ...] = ()
    """Tables of the report, each with the estimates of several analyses."""
    figures: tuple[FigureLayout, ...] = ()
    """Figures of the report, each with the estimates of several analyses."""
    resampling: Resampling = field(default_factory=Resampling)
    """How sure they are."""
    inference: Inference = field(default_factory=Inference)
    """Whom intervals and tests are about."""
    exclusions: Exclusions = field(default_factory=Exclusions)
    """What stays out."""

    def instrument(self, instrument_id: str) -> Instrument | None:
        """The instrument of this id, or None."""
        return next((i for i in self.instruments if i.id == instrument_id), None)

    def instrument_of(self, task: Task) -> Instrument:
        """The instrument of a task; a StudyError names one that the protocol does not have."""
        instrument = self.instrument(task.instrument)
        if instrument is None:
            hint = nearest(task.instrument, [i.id for i in self.instruments])
            raise StudyError(
                f"task {task.id!r}: there is no instrument {task.instrument!r}; {hint}"
            )
        return instrument

    def scored_instruments(self) -> tuple[Instrument, ...]:
        """The instruments, each with the scores made of its criteria as further criteria."""
        return with_scores(self.instruments, self.scores)

    def everybody(self, events: Iterable[Event] = ()) -> tuple[Rater, ...]:
        """The raters, and a stand-in for each place that people sign up for.

        `events` may have added places.
        """
        places = (*self.places, *added_places(events))
        return (*self.raters, *placeholder_raters(places, self.raters)) if places else self.raters

    def panels(self) -> dict[str, tuple[Rater, ...]]:
        """Panel -> its raters, in the protocol's order.

        A place that people sign up for has a stand-in.
        """
        raters_by_panel: dict[str, list[Rater]] = {}
        for rater in self.everybody():
            raters_by_panel.setdefault(rater.panel, []).append(rater)
        return {panel: tuple(raters) for panel, raters in raters_by_panel.items()}

    def panels_of_ratings(self) -> list[str]:
        """The panels of the protocol's raters, and those of unknown raters in its files."""
        unknown = (source.unknown_raters for source in self.sources if source.unknown_raters)
        return [*dict.fromkeys([*self.panels(), *unknown])]

    def panel_names(self) -> list[str]:
        """The valid names of an analysis' raters: the panels and the names of several."""
        return [*(self.panels_of_ratings() or [LONE_PANEL]), *self.together]

    def members(self, panel: str) -> tuple[Rater, ...]:
        """The raters of a panel, or of all panels that the name stands for in `together`.

        None of an unknown name.
        """
        panels = self.panels()
        return tuple(r for name in self.together.get(panel, (panel,)) for r in panels.get(name, ()))


def parse(text: str, read_text: Callable[[str], str], name: str = "study.toml") -> Study:
    """Read a protocol.

    `read_text` gives the text of a file that it names (codebooks), and raises OSError if absent.

    A codebook that ends in .md is the name of a file; anything else is the codebook itself.
    """

    def error_of(error: tomllib.TOMLDecodeError) -> StudyError:
        sentence = (
            f"not valid TOML: {without_position(error)}{hint(text, error, set(lists_of(Study)))}"
        )
        problem = Problem(sentence, name, *syntax_position(text, error))
        return StudyError(str(problem), (problem,))

    data = toml_data(text, name, error_of)
    _known_schema(data, name)
    privacy = data.get("privacy")
    if isinstance(privacy, dict) and type(day := privacy.get("retention")) is date:
        # A day without quotation marks is as clear as one with them.
        privacy["retention"] = day.isoformat()
    study = decode(Study, data, name)
    instruments = tuple(
        dataclasses.replace(
            i, codebook=_codebook(i.codebook, read_text, f"{name}: instruments[{n}].codebook")
        )
        for n, i in enumerate(study.instruments)
    )
    systems = tuple(
        # A system that is not called (a product, a person) may be described in words of its own.
        s if s.model is None else _prompts(s, read_text, f"{name}: systems[{n}].settings")
        for n, s in enumerate(study.systems)
    )
    enrolment = study.enrolment
    if enrolment is not None:
        consent = _codebook(enrolment.consent, read_text, f"{name}: enrolment.consent")
        enrolment = dataclasses.replace(enrolment, consent=consent)
    prepare = study.prepare
    if prepare is not None:
        prepare = with_prompts(
            prepare, lambda value, key: _codebook(value, read_text, f"{name}: prepare.{key}")
        )
    return dataclasses.replace(
        study, instruments=instruments, systems=systems, enrolment=enrolment, prepare=prepare
    )


def _known_schema(data: dict[str, object], name: str) -> None:
    """A study of a newer form is refused before its unknown keys are taken for misspellings."""
    schema = data.get("schema", SCHEMA)
    if type(schema) is int and schema > SCHEMA:
        raise StudyError(
            f"{name}: schema: this study has schema {schema}, this version supports schemas up"
            f" to {SCHEMA};"
            " install a newer konsil"
        )


def _prompts(system: System, read_text: Callable[[str], str], path: str) -> System:
    """The system with its prompts' texts in place of the file names.

    So the digest covers the texts.
    """
    settings = dict(system.settings)
    for key in ("system", "template"):
        value = settings.get(key)
        if isinstance(value, str):
            settings[key] = _codebook(value, read_text, f"{path}.{key}")
    examples = settings_of(settings, path).examples
    if examples:
        settings["examples"] = [
            {
                "text": _codebook(example.text, read_text, f"{path}.examples[{n}].text"),
                "answer": _codebook(example.answer, read_text, f"{path}.examples[{n}].answer"),
            }
            for n, example in enumerate(examples)
        ]
    return dataclasses.replace(system, settings=settings)


_PATH = re.compile(
    r"(?:\.{0,2}[/\\]|~[/\\]|[A-Za-z]:[/\\])\S*"
    r"|[^\n]{1,200}\.(?:md|markdown|txt|text|docx?|odt|rtf|pdf|html?|rst|tex)",
    re.IGNORECASE,
)


def _is_like_a_path(value: str, path: str) -> bool:
    """Whether a text of one line is probably the name of a file.

    Such a text begins like a path or ends like a document.

    A codebook is no single word either.
    """
    if "\n" in value or value.endswith(".md"):
        return False
    is_one_word = path.endswith(".codebook") and len(value.split()) == 1
    return is_one_word or _PATH.fullmatch(value.strip()) is not None


def _codebook(value: str, read_text: Callable[[str], str], path: str) -> str:
    if "\n" in value or not value.endswith(".md"):
        if _is_like_a_path(value, path):
            raise StudyError(
                f"{path}: {value[:80]!r} looks like the name of a file; expected a file that ends"
                " in .md, or the text itself, with a line break in it if it is as short as this"
            )
        return value
    try:
        return read_text(value)
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            raise StudyError(f"{path}: the file {value!r} is not UTF-8 text") from None
        raise StudyError(f"{path}: {value!r} cannot be the name of a file ({error})") from None
    except FileNotFoundError:
        raise StudyError(
            f"{path}: the file {value!r} does not exist in the study's folder"
        ) from None
    except OSError as error:
        raise StudyError(f"{path}: the file {value!r} cannot be read ({error.strerror})") from None


def study_digest(study: Study) -> str:
    """A digest of the whole protocol, codebooks included: what a pre-registration names.

    SHA-256 over the canonical JSON of what the study states; unchanged by comments, by the order of
    keys in study.toml and by saying what is the default anyway. What [publication] states is not
    part of it: a DOI is known only when the data are there.
    """
    return digest_of(dataclasses.replace(study, publication=None))
