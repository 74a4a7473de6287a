"""The invented studies of the pictures, in English and German."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from take import SHOWN

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.plan.model.places import Places
from konsil.prepare import Preparation, Screening
from konsil.prepare.cases.marking import Masking
from konsil.prepare.questions.rewriting import Rewriting
from konsil.records import Answer, Citation, Item, Rater, Span, System
from konsil.study import Study
from konsil.study.definition.adjudication import Adjudication
from konsil.study.sections.calibration import Calibration
from konsil.study.sections.enrolment import Enrolment, Question
from konsil.study.sections.practice import Explanation

PAGES = {
    "landing": "Visitor without a link",
    "invitation": "A personal link",
    "consent": "Consent",
    "eligibility": "Eligibility",
    "profile": "Profile",
    "place": "Rater slot at sign-up",
    "own-link": "Personal link after sign-up",
    "practice": "Practice",
    "explained": "Practice, explained",
    "rating-several": "Rating: several answers to a question",
    "codebook": "Rating: codebook",
    "keys": "Rating: keyboard shortcuts",
    "problem": "Rating: reporting a problem",
    "offline": "Rating: offline",
    "rating-one": "Rating: one answer on seven criteria",
    "rating-pair": "Rating: two answers side by side",
    "rating-sentences": "Rating: sentence by sentence",
    "rating-survey": "A survey",
    "calibration": "Pilot phase: reasons",
    "ratings": "My ratings",
    "adjudications": "Adjudication: list of disagreements",
    "adjudication": "Adjudication: one question",
    "finished": "All tasks completed",
    "refusal": "Page not found",
    "kit-start": "Offline kit: start",
    "kit-task": "Offline kit: rating",
    "kit-end": "Offline kit: end",
    "office": "Dashboard: progress",
    "office-screening": "Curators: a pool of case reports",
    "office-screening-item": "Curators: screening of one case report",
    "office-cases": "Curators: cases to mark",
    "office-cases-mark": "Curators: marks in a case",
    "office-rewriting": "Dashboard: rewritten questions",
    "office-adjudication": "Dashboard: adjudication",
    "office-invitations": "Dashboard: invitations",
    "office-enrolment": "Dashboard: consent, eligibility, profiles",
    "office-pilot": "Dashboard: reasons in the pilot phase",
    "office-withdrawal": "Dashboard: withdrawal",
    "office-batches": "Dashboard: batches",
    "office-problems": "Dashboard: reported problems",
    "office-recruitment": "Dashboard: recruitment",
    "office-signs": "Dashboard: data-quality flags",
    "office-download": "Dashboard: download",
    "office-log": "Dashboard: audit log",
    "centre": "Study centre: all studies",
    "passkey": "An owner's passkey",
}
"""Page -> what it is."""
SYSTEMS = tuple(System(f"s{n}", f"f{n}") for n in range(1, 6))
RATERS = (Rater("r1", "panel"), Rater("r2", "panel"))
Material = tuple[tuple[Item, ...], tuple[Answer, ...]]

WORDS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "gallery.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class Said:
    """What the pictures of one language show."""

    language: str
    studies: Mapping[str, Study]
    material: Mapping[str, Material]
    eligible: Sequence[str]
    profiled: Sequence[str]
    grades: Sequence[str]
    sides: Sequence[str]
    agreed: str
    problem: str
    marked: Sequence[tuple[str, str]]
    rewritten: Sequence[str]
    recruited: Mapping[str, Sequence[str]]


def invented(language: str) -> Said:
    """Everything in one language."""
    w = WORDS[language]
    five = Scale(tuple(w["grades"].split("|")), level="ordinal", abstain=w["none"])
    right = Criterion(
        "right", w["right"], Scale((w["no"], w["yes"]), abstain=w["none"]), guidance=w["guide"]
    )
    hard = Criterion(
        "hard", w["hard"], Scale((w["easy"], w["medium"], w["difficult"]), level="ordinal"), "item"
    )
    several = Instrument(
        "several", (right, hard), w["book"], show_reference=True, language=language
    )
    one = Instrument("one", _many(w["criteria"], five, "answer"), w["book"], language=language)
    sides = Scale(tuple(w["sides"].split("|")), level="ordinal", abstain=w["none"])
    pair = Instrument(
        "pair", _many(w["better"], sides, "pair"), w["book"], unit="pair", language=language
    )
    harm = Criterion("risk", w["risk"], Scale((w["n"], w["y"]), abstain=w["none"]), "sentence")
    parts = Instrument(
        "sentences",
        (harm, *_many(w["criteria"], five, "answer")[:2]),
        unit="sentence",
        language=language,
    )
    load = Scale(kind="number", low=0, high=100)
    survey = Instrument(
        "survey",
        tuple(replace(c, guidance=w["zero"]) for c in _many(w["load"], load, "rater")),
        language=language,
    )
    practice = Instrument("practice", (right,), w["book"], show_reference=True, language=language)
    pilot = Instrument(
        "pilot",
        (Criterion("grade", w["criteria"].split("|")[0], five),),
        w["book"],
        language=language,
    )
    base = Study(w["title"], 3, language=language, systems=SYSTEMS, raters=RATERS)

    def study(instrument: Instrument, *plan: Allocation) -> Study:
        return replace(base, instruments=(instrument,), plan=plan)

    text, reference, said = SHOWN[language]
    spans = _spans(w["sentence"])
    questions = _answered(Item("q", text, reference, strata={"specialty": "m"}), said)
    practised = _answered(Item("p", text, reference, sets=("practice",)), (w["a"], w["b"]))
    works = _answered(Item("q", text, reference, sets=("core",)), said[:2])
    yes_no = Scale((w["y"], w["n"]))
    enrolment = Enrolment(
        consent=w["consent"],
        eligibility=(
            Question("licensed", w["licensed"], yes_no, admits=(w["y"],)),
            Question("author", w["author"], yes_no, admits=(w["n"],)),
        ),
        profile=(
            Question("specialty", w["specialty"], Scale((w["medicine"], w["surgery"], w["other"]))),
            Question("years", w["years"], Scale(kind="number", low=0, high=60)),
        ),
    )
    panel = Allocation("panel", "several")
    places = replace(
        study(several, panel), raters=(), places=(Places("panel", 8),), enrolment=enrolment
    )
    studies = {
        "places": places,
        "several": study(several, panel),
        "one": study(one, Allocation("panel", "one", show="each")),
        "pair": study(pair, Allocation("panel", "pair", show="pair")),
        "differing": replace(
            study(pair, Allocation("panel", "pair", show="pair")),
            adjudication=Adjudication("panel", tuple(c.id for c in pair.criteria[:2]), steps=2),
        ),
        "sentences": study(parts, Allocation("panel", "sentences", show="each")),
        "survey": study(survey, Allocation("panel", "survey")),
        "practice": replace(
            study(
                practice,
                Allocation("panel", "practice", items="practice", purpose="practice"),
                Allocation("panel", "practice", items="core"),
            ),
            explanations=(Explanation("p", "right", w["no"], w["why"], "s1"),),
        ),
        "cases": replace(
            study(one, Allocation("panel", "one", show="each")),
            prepare=Preparation(
                screen=Screening(
                    ("identifier",),
                    criteria=tuple(w["statements"].split("|")),
                    undecided="left out",
                ),
                mask=Masking(),
            ),
        ),
        "rewording": replace(
            study(one, Allocation("panel", "one", show="each")),
            prepare=Preparation(rewrite=Rewriting(model="fake:")),
        ),
        "pilot": replace(
            study(
                pilot,
                Allocation(
                    "panel", "pilot", show="each", per_rater=2, phase="pilot", purpose="pilot"
                ),
                Allocation("panel", "pilot", show="each", phase="main"),
            ),
            calibration=Calibration(steps=2),
        ),
    }
    cites = (Citation("Guideline on gastrointestinal bleeding", "https://example.org/guideline"),)
    case = Item("c", w["case"])
    single = ((case,), (Answer("c1", "c", "s1", w["reply"]),))
    material: dict[str, Material] = {
        "places": questions,
        "several": questions,
        "one": single,
        "pair": (
            (case,),
            (
                Answer("c1", "c", "s1", w["reply"], "", cites),
                Answer("c2", "c", "s2", w["second"], "", cites),
            ),
        ),
        "differing": (
            (case, *questions[0]),
            (
                Answer("c1", "c", "s1", w["reply"], "", cites),
                Answer("c2", "c", "s2", w["second"], "", cites),
                *questions[1][:2],
            ),
        ),
        "sentences": ((case,), (Answer("c1", "c", "s1", w["sentence"], sentences=spans),)),
        "survey": single,
        "cases": (_reports(w), ()),
        "rewording": (
            tuple(Item(f"q{n}", old) for n, (old, _) in enumerate(_worded(w), start=1)),
            (),
        ),
        "practice": (practised[0] + works[0], practised[1] + works[1]),
        "pilot": (
            (case,),
            (Answer("c1", "c", "s1", w["reply"]), Answer("c2", "c", "s2", w["second"])),
        ),
    }
    return Said(
        language,
        studies,
        material,
        (f"input[name='~1'][value='{w['y']}']", f"input[name='~2'][value='{w['n']}']"),
        (f"input[name='~3'][value='{w['medicine']}']",),
        five.labels,
        sides.labels,
        w["agreed"],
        w["problem"],
        tuple(
            (k, words) for k, _, words in (line.partition(": ") for line in w["marked"].split("|"))
        ),
        tuple(new for _, new in _worded(w)),
        {
            w["medicine"]: ("120", "60", "31", "28", "26", "21"),
            w["surgery"]: ("90", "40", "22", "20", "18", "12"),
        },
    )


def _many(questions: str, scale: Scale, scope: str) -> tuple[Criterion, ...]:
    return tuple(
        Criterion(f"c{n}", q, scale, scope) for n, q in enumerate(questions.split("|"), start=1)
    )  # type: ignore[arg-type]


def _worded(w: Mapping[str, str]) -> list[tuple[str, str]]:
    """Questions as they were asked, and in better words."""
    pairs = (line.partition(" => ") for line in w["rewritten"].split("|"))
    return [(old.strip(), new.strip()) for old, _, new in pairs]


def _reports(w: Mapping[str, str]) -> tuple[Item, ...]:
    """A pool of case reports, all of one patient or like."""
    aliases = tuple(w["also"].split("|"))
    report = [
        Item(
            "case-001",
            w["report"].strip(),
            w["diagnosis"],
            aliases,
            strata={"specialty": w["medicine"]},
        )
    ]
    ages = range(31, 91, 2)
    more = [
        Item(
            f"case-{n:03}",
            w["report"].strip().replace("52", str(age)).replace(w["named"], w["unnamed"]),
            w["diagnosis"],
            aliases,
        )
        for n, age in enumerate(ages, start=2)
    ]
    return (*report, *more)


def _answered(item: Item, said: Sequence[str]) -> Material:
    return (item,), tuple(
        Answer(f"{item.id}{s.id}", item.id, s.id, what)
        for s, what in zip(SYSTEMS, said, strict=False)
    )


def _spans(text: str) -> tuple[Span, ...]:
    found, start = [], 0
    for sentence in text.split(". "):
        end = start + len(sentence) + (0 if text.endswith(sentence) else 1)
        found.append(Span(start, end))
        start = end + 1
    return tuple(found)
