"""Random tables of ratings of fifteen shapes whose true reading is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

ENGLISH = {
    "unit": ["item", "case_id", "Question", "patient", "subject", "Scan no", "doc_id", "vignette"],
    "rater": ["rater", "annotator", "Reviewer", "physician_id", "judge", "coder", "expert name"],
    "label": ["label", "rating", "score", "Decision", "grade", "verdict", "assessment"],
    "criterion": ["criterion", "dimension", "axis", "metric"],
    "system": ["model", "system", "LLM", "assistant"],
    "group": ["Domain", "site", "difficulty", "topic", "source", "language"],
    "comment": ["comment", "remarks", "notes", "Reason"],
    "time": ["date", "created_at", "timestamp", "submit date"],
    "confidence": ["confidence", "certainty"],
    "sum": ["total", "mean score", "composite", "average"],
    "gold": ["gold", "reference", "consensus"],
    "repeat": ["round", "session"],
    "row": ["annotation_id", "uuid", "row"],
    "raters": [
        ["Anna", "Ben", "Clara", "David", "Emma"],
        ["Dr. Smith", "Dr. Jones", "Dr. Wood", "Dr. Hill", "Dr. Lee"],
        ["rater1", "rater2", "rater3", "rater4", "rater5"],
        ["R1", "R2", "R3", "R4", "R5"],
        ["A", "B", "C", "D", "E"],
        ["Reviewer A", "Reviewer B", "Reviewer C", "Reviewer D", "Reviewer E"],
    ],
    "criteria": [
        ["accuracy", "safety", "clarity", "tone"],
        ["Correctness", "Completeness", "Empathy", "Relevance"],
    ],
    "labels": [["yes", "no"], ["mild", "moderate", "severe"], ["correct", "partly", "wrong"]],
    "items": ["item_", "Q", "case "],
    "systems": [["gpt-4", "claude", "llama", "mistral"]],
}
GERMAN = ENGLISH | {
    "unit": ["Fall-Nr.", "Frage", "Patient", "Nummer", "Aufgabe", "Befund", "Antwort-ID"],
    "rater": ["Bewerter", "Gutachterin", "Arzt", "Prüfer", "Experte", "Ärztin"],
    "label": ["Bewertung", "Urteil", "Einstufung", "Punkte", "Entscheidung"],
    "criterion": ["Kriterium", "Aspekt", "Merkmal"],
    "system": ["Modell", "System", "Anbieter"],
    "group": ["Fach", "Klinik", "Thema", "Sprache", "Schwierigkeit", "Alter"],
    "comment": ["Kommentar", "Anmerkung", "Bemerkungen"],
    "time": ["Datum", "Zeit", "Erstellt am"],
    "confidence": ["Sicherheit der Angabe", "Gewissheit"],
    "sum": ["Summe", "Mittelwert", "Gesamtpunkte"],
    "gold": ["Referenz", "Konsens"],
    "repeat": ["Durchgang", "Runde"],
    "raters": [
        ["Hans", "Ida", "Jörg", "Karl", "Lea"],
        ["Dr. Groß", "Dr. Jäger", "Dr. Vogt", "Dr. Kern", "Dr. Lang"],
        ["Prüfer 1", "Prüfer 2", "Prüfer 3", "Prüfer 4", "Prüfer 5"],
        ["Frau Abel", "Herr Busch", "Frau Curth", "Herr Dorn", "Frau Ehm"],
    ],
    "criteria": [
        ["Richtigkeit", "Sicherheit", "Klarheit", "Ton"],
        ["Korrektheit", "Vollständigkeit", "Empathie", "Nutzen"],
    ],
    "labels": [["ja", "nein"], ["leicht", "mittel", "schwer"], ["richtig", "teilweise", "falsch"]],
    "items": ["Frage ", "Fall_", "Aufgabe "],
}
UNUSUAL = ENGLISH | {
    "unit": ["stimulus", "chunk", "Objekt", "exhibit"],
    "rater": ["panelist", "Kollege", "labeller", "Fachkraft"],
    "label": ["opinion", "mark", "Meinung", "level"],
    "criterion": ["facet", "Blickwinkel"],
    "system": ["candidate", "contestant", "variant"],
    "group": ["ward", "cohort", "Bereich"],
    "comment": ["free text", "Hinweis"],
    "time": ["when", "Tag"],
    "confidence": ["certain?", "how sure"],
    "sum": ["all together", "result"],
    "gold": ["key", "agreed"],
    "repeat": ["wave", "Termin"],
    "row": ["handle", "Kennung"],
    "raters": [
        ["Okafor", "Lindqvist", "Moreau", "Tanaka", "Rossi"],
        ["north", "south", "east", "west", "centre"],
    ],
    "criteria": [["depth", "risk", "wording", "scope"], ["Tiefe", "Risiko", "Aufbau", "Umfang"]],
    "labels": [["keep", "drop"], ["I", "II", "III"]],
    "items": ["st", "obj."],
    "systems": [["amber", "birch", "cedar", "dune"]],
}
KINDS = ("English", "German", "unusual", "nonsense")
WORDS = {"English": ENGLISH, "German": GERMAN, "unusual": UNUSUAL}

ASKED = frozenset(
    {"criteria", "systems", "repeats", "rows-to-combine", "lists", "wide, unit has rows"}
)
"""Shapes that are never computed without a statement."""


@dataclass
class Truth:
    """What a table truly is."""

    shape: str
    units: tuple[str, ...] = ()
    rater: str | None = None
    rated: frozenset[str] = frozenset()
    criterion: str | None = None
    is_rater_first: bool | None = None


@dataclass
class Maker:
    """Names, labels and columns of one random table."""

    seed: int
    kind: str
    draw: random.Random = field(init=False)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.words = WORDS.get(self.kind, ENGLISH)
        likert = [["1", "2", "3", "4", "5"], ["0", "1"], ["1", "2", "3"]]
        scales = [self.draw.choice(self.words["labels"]), *likert]
        self.scale: list[str] | None = self.draw.choice([*scales, None])
        self.n_units, self.n_raters = self.draw.randint(8, 40), self.draw.randint(2, 5)
        self.true_labels = [self.draw.randrange(5) for _ in range(self.n_units)]
        self.empty = self.draw.choice((0, 0, 0.1))
        prefix = self.draw.choice(("", "c", "id-"))
        self.ids = [f"{prefix}{n + 1}" for n in range(self.n_units)]

    def nonsense(self) -> str:
        syllables = range(self.draw.randint(2, 3))
        consonants, vowels = "bdfgklmnprstvz", "aeiou"
        text = "".join(self.draw.choice(consonants) + self.draw.choice(vowels) for _ in syllables)
        return text + self.draw.choice("xqlnr")

    def name(self, role: str) -> str:
        """A new name of a column."""
        free = [name for name in self.words[role] if name not in self.used]
        text = self.nonsense() if self.kind == "nonsense" or not free else self.draw.choice(free)
        self.used.add(text)
        return text

    def several(self, role: str, n: int) -> list[str]:
        """Several names of a kind."""
        if self.kind == "nonsense":
            return list(dict.fromkeys(self.nonsense() for _ in range(9)))[:n]
        return self.draw.choice(self.words[role])[:n]

    def rating(self, unit: int) -> str:
        """A rating near the unit's true label."""
        base = self.true_labels[unit]
        if self.scale is None:
            return f"{min(100, max(0, base * 15 + 20 + self.draw.gauss(0, 8))):.1f}"
        step = self.draw.choice((0, 0, 0, 1, -1))
        return self.scale[min(len(self.scale) - 1, max(0, base + step))]

    def cell(self, unit: int) -> str:
        """A rating, or an empty cell."""
        return "" if self.draw.random() < self.empty else self.rating(unit)


Columns = dict[str, list[str]]
Shape = Callable[[Maker], tuple[Columns, Truth]]


def _wide(
    maker: Maker, shape: str, names: list[str], unit_of: Sequence[int]
) -> tuple[Columns, Truth]:
    has_unit = maker.draw.random() < 0.8 or shape == "wide, unit has rows"
    unit = maker.name("unit")
    columns: Columns = {unit: [maker.ids[u] for u in unit_of]} if has_unit else {}
    columns |= {name: [maker.cell(u) for u in unit_of] for name in names}
    return columns, Truth(shape, (unit,) if has_unit else (), rated=frozenset(names))


def wide(maker: Maker) -> tuple[Columns, Truth]:
    names = maker.several("raters", maker.n_raters)
    return _wide(maker, "wide", names, range(maker.n_units))


def wide_with_repeated_units(maker: Maker) -> tuple[Columns, Truth]:
    names = maker.several("raters", maker.n_raters)
    return _wide(maker, "wide, unit has rows", names, [n // 2 for n in range(maker.n_units)])


def criteria(maker: Maker) -> tuple[Columns, Truth]:
    names = maker.several("criteria", max(2, min(maker.n_raters, 4)))
    return _wide(maker, "criteria", names, range(maker.n_units))


def systems(maker: Maker) -> tuple[Columns, Truth]:
    names = maker.several("systems", max(2, min(maker.n_raters, 4)))
    return _wide(maker, "systems", names, range(maker.n_units))


def rater_by_criterion(maker: Maker) -> tuple[Columns, Truth]:
    joint, is_rater_first = maker.draw.choice(("_", " - ", ": ")), maker.draw.random() < 0.5
    names = maker.several("criteria", maker.draw.randint(2, 3))
    pairs = [(r, c) for r in maker.several("raters", maker.n_raters) for c in names]
    parts = [pair if is_rater_first else pair[::-1] for pair in pairs]
    columns, truth = _wide(
        maker, "rater-by-criterion", [joint.join(p) for p in parts], range(maker.n_units)
    )
    truth.is_rater_first = is_rater_first
    return columns, truth


def raters_in_rows(maker: Maker) -> tuple[Columns, Truth]:
    n = min(maker.n_units, 20)
    prefix = maker.words["items"][0]
    names = [maker.nonsense() if maker.kind == "nonsense" else f"{prefix}{u + 1}" for u in range(n)]
    rater = maker.name("rater")
    people = [*maker.several("raters", 5), *(maker.nonsense() for _ in range(3))]
    people = people[: maker.draw.randint(3, 8)]
    columns = {rater: people} | {
        name: [maker.cell(u) for _ in people] for u, name in enumerate(names)
    }
    return columns, Truth("raters-in-rows", rater=rater, rated=frozenset(columns) - {rater})


def counts(maker: Maker) -> tuple[Columns, Truth]:
    labels = maker.several("labels", 3)
    n_raters = maker.draw.randint(5, 20)
    votes = [[maker.draw.choice(labels) for _ in range(n_raters)] for _ in range(maker.n_units)]
    columns = {label: [str(unit.count(label)) for unit in votes] for label in labels}
    unit = maker.name("unit")
    return {unit: maker.ids} | columns, Truth("counts", (unit,), rated=frozenset(labels))


def cross_table(maker: Maker) -> tuple[Columns, Truth]:
    labels = maker.several("labels", 3)
    corner = maker.draw.choice(("column 1", "rater 1 / rater 2", maker.nonsense()))
    cells = {label: [str(maker.draw.randint(0, 40)) for _ in labels] for label in labels}
    return {corner: labels} | cells, Truth("cross-table", rated=frozenset(labels))


def pairs(maker: Maker) -> tuple[Columns, Truth]:
    sides = maker.draw.choice((("model_a", "model_b"), ("system_1", "system_2"), ("left", "right")))
    if maker.kind in {"unusual", "nonsense"}:
        sides = maker.nonsense(), maker.nonsense()
    three, raters = maker.several("systems", 3), maker.several("raters", maker.n_raters)
    unit, rater, outcome = maker.name("unit"), maker.name("rater"), maker.name("label")
    rows = [
        (u, *maker.draw.sample(three, 2), r)
        for u in maker.ids
        for r in maker.draw.sample(raters, 2)
    ]
    columns = {
        unit: [row[0] for row in rows],
        sides[0]: [row[1] for row in rows],
        sides[1]: [row[2] for row in rows],
        rater: [row[3] for row in rows],
        outcome: [maker.draw.choice((row[1], row[2], "tie")) for row in rows],
    }
    return columns, Truth("pairs", (unit,), rater, frozenset((*sides, outcome)))


def lists(maker: Maker) -> tuple[Columns, Truth]:
    unit, label, parts = (
        maker.name("unit"),
        maker.name("label"),
        [maker.nonsense() for _ in range(4)],
    )
    cells = [";".join(maker.draw.sample(parts, maker.draw.randint(1, 3))) for _ in maker.ids]
    return {unit: maker.ids, label: cells}, Truth("lists", (unit,), rated=frozenset({label}))


def _long(
    maker: Maker, shape: str, labels: list[str], extra: tuple[str, list[str]] | None
) -> tuple[Columns, Truth]:
    unit, rater = maker.name("unit"), maker.name("rater")
    people, share = maker.several("raters", maker.n_raters), maker.draw.choice((1, 1, 0.8))
    rated = [(u, p) for u in range(maker.n_units) for p in people if maker.draw.random() < share]
    values = extra[1] if extra else [""]
    rows = [(u, p, value) for u, p in rated for value in values]
    if maker.draw.random() < 0.5:
        maker.draw.shuffle(rows)
    columns = {unit: [maker.ids[u] for u, _, _ in rows], rater: [p for _, p, _ in rows]}
    if extra and extra[0]:
        columns[extra[0]] = [value for _, _, value in rows]
    columns |= {label: [maker.rating(u) for u, _, _ in rows] for label in labels}
    return columns, Truth(shape, (unit,), rater, frozenset(labels))


def long(maker: Maker) -> tuple[Columns, Truth]:
    extra = None
    if maker.draw.random() < 0.4:
        extra = maker.name("system"), maker.several("systems", 3)
    columns, truth = _long(maker, "long", [maker.name("label")], extra)
    if extra:
        truth.units = (*truth.units, extra[0])
    return columns, truth


def long_criteria(maker: Maker) -> tuple[Columns, Truth]:
    return _long(maker, "long-criteria", maker.several("criteria", 3), None)


def long_by_criterion(maker: Maker) -> tuple[Columns, Truth]:
    extra = maker.name("criterion"), maker.several("criteria", 3)
    columns, truth = _long(maker, "long", [maker.name("label")], extra)
    truth.criterion = extra[0]
    return columns, truth


def repeats(maker: Maker) -> tuple[Columns, Truth]:
    return _long(maker, "repeats", [maker.name("label")], (maker.name("repeat"), ["1", "2"]))


def rows_to_combine(maker: Maker) -> tuple[Columns, Truth]:
    return _long(maker, "rows-to-combine", [maker.name("label")], ("", ["", ""]))


SHAPES: tuple[Shape, ...] = (
    *(wide, long, long_criteria, long_by_criterion, rater_by_criterion, raters_in_rows, counts),
    *(cross_table, pairs, criteria, systems, repeats, rows_to_combine, lists),
    wide_with_repeated_units,
)


def distract(maker: Maker, columns: Columns, truth: Truth) -> None:
    """Add up to three columns that are no ratings."""
    n = len(next(iter(columns.values())))
    units = columns[truth.units[0]] if truth.units else [str(row) for row in range(n)]

    def by_unit(values: Sequence[str]) -> list[str]:
        return [values[sum(map(ord, unit)) * 7 % len(values)] for unit in units]

    def some(values: Sequence[str]) -> list[str]:
        return [maker.draw.choice(values) for _ in range(n)]

    days = [f"2024-{m:02}-{d:02} 10:{d:02}" for m in range(1, 13) for d in range(1, 28)]
    texts = [
        f"The {maker.nonsense()} is {maker.nonsense()}, as in {maker.nonsense()}."
        for _ in range(99)
    ]
    sources: dict[str, Callable[[], list[str]]] = {
        "group": lambda: by_unit([maker.nonsense() for _ in range(3)]),
        "comment": lambda: some(("", "", "Very clear, no error.", "Quelle fehlt", "see above")),
        "time": lambda: some(days),
        "confidence": lambda: some("12345"),
        "sum": lambda: some([str(k) for k in range(2, 5 * maker.n_raters)]),
        "gold": lambda: by_unit(maker.scale or ["1", "2"]),
        "row": lambda: [f"{maker.seed}{row:03}" for row in range(n)],
        "text": lambda: by_unit(texts),
    }
    for _ in range(maker.draw.choice((0, 1, 2, 3))):
        what = maker.draw.choice(sorted(sources))
        if what == "gold" and maker.scale is None:
            continue
        columns[maker.nonsense() if what == "text" else maker.name(what)] = sources[what]()


def make(seed: int) -> tuple[pl.DataFrame, Truth, str]:
    """A table, its truth, and the kind of its names."""
    shape, kind = SHAPES[seed % len(SHAPES)], KINDS[seed // len(SHAPES) % len(KINDS)]
    maker = Maker(seed, kind)
    columns, truth = shape(maker)
    if truth.shape != "cross-table":
        distract(maker, columns, truth)
        names = list(columns)
        if maker.draw.random() < 0.6:
            maker.draw.shuffle(names)
        columns = {name: columns[name] for name in names}
    return pl.DataFrame(columns), truth, kind
