"""The rows of Real-POCQi's tables that are included, and their further columns.

The rules concern eligibility, origin, account status and theme.

The rules are those of the authors' public analysis code: users of the pilot, ratings of no
assignment, rows whose question, user or assignment is in no table, users outside the two arms or
with a test address do not enter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from konsil.records import Source
from konsil.sources.pocqi.pocqi_files import NEEDED, Row, Rows, Tables, arm_of

TEXTS = ("text", "question", "question_text")
"""What the column of the questions' texts may be called; the first that says something counts."""
READ_TOO = {
    "qa_assignments": {"completed_at"},
    "machineRatings": {
        "variant",
        "subversion",
        "error",
        "ts",
        "questionExternalKey",
        "slotAProvider",
        "slotBProvider",
    },
    "answer_lengths": {"question_id", "vendor", "provider_key"},
}
"""Table -> columns that are read where they are there, or repeat what another table has."""
LACKS = {
    "qa_answers": "every system of a slot is assumed to have answered",
    "answer_lengths": "analyses of length are not possible",
    "machineRatings": "LLM judges have no ratings",
}
"""Table -> what its absence means."""
_FEWEST, _OWN = 10, 0.9
"""A column with so many entries, of which this share differs, tells rows apart and groups
nothing."""


PILOT = "user of the pilot (prior_users)"
OUTSIDE = "user in an arm outside the experiment"
TEST = "user with a test address"
NO_USER = "no user"
UNKNOWN_USER = "user in no table of users"
UNKNOWN_QUESTION = "question in no table of questions"
"""Why a comparison is left out."""

TEST_ADDRESSES = ("eval.test", "example.com", "openevidence.com")
"""How the e-mail addresses of tests end."""
PERSONAL = ("email", "e_mail", "mail", "name", "first_name", "last_name", "phone", "npi")
"""Columns of people that are never stored."""
BENCHMARK = "healthbench"
"""The origin of questions whose `external_key` begins with it."""
STUDY_ORIGIN = "real-pocqi"
"""The origin of all other questions."""
STATUS = {"on oe": "user", "off oe": "non-user"}
"""Account status -> exposure."""
UNTAGGED, UNKNOWN = "untagged", "unknown"
"""What a question without a theme and a rater without an account status have, where others have
one."""


@dataclass
class Tally:
    """How many rows of one kind were read, kept and left out."""

    read: int = 0
    """Rows read."""
    stored: int = 0
    """Rows that became records."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> rows left out."""

    def data(self) -> dict[str, object]:
        """As plain data, for an event."""
        return {"read": self.read, "kept": self.stored, "left out": dict(self.left_out)}


def origins(tables: Tables, source: Source) -> dict[str, str]:
    """Question -> where it is from; empty where no column tells and `fixed` states nothing."""
    rows = tables.questions
    if "source" in rows.columns:
        return {row["id"]: row["source"] or source.fixed.get("source", "") for row in rows}
    if "external_key" in rows.columns:
        return {
            row["id"]: (
                BENCHMARK
                if row["external_key"].casefold().startswith(f"{BENCHMARK}-")
                else STUDY_ORIGIN
            )
            for row in rows
        }
    fixed = source.fixed.get("source")
    return {row["id"]: fixed for row in rows} if fixed else {}


def themes(tables: Tables) -> dict[str, str]:
    """Question -> its theme; empty where no table has themes."""
    if "theme" in tables.questions.columns:
        return {row["id"]: row["theme"] or UNTAGGED for row in tables.questions}
    if tables.themes.table is None:
        return {}
    tagged = {row["id"]: row["primary_question_type"] for row in tables.themes}
    return {row["id"]: tagged.get(row["id"]) or UNTAGGED for row in tables.questions}


def exposures(tables: Tables) -> dict[str, str]:
    """User -> whether with an account; empty where no table tells.

    A registration is found by the user's address, which is used here and stored nowhere.
    """
    if "exposure" in tables.users.columns:
        return {row["id"]: row["exposure"] or UNKNOWN for row in tables.users}
    if tables.recruitment.table is None:
        return {}
    status = {row["email"].casefold(): row["status"] for row in tables.recruitment if row["email"]}
    by_user = {}
    for row in tables.users:
        state = next((status[a] for a in (row["id"].casefold(), _address(row)) if a in status), "")
        by_user[row["id"]] = STATUS.get(state.casefold(), state or UNKNOWN)
    return by_user


def ineligible(tables: Tables) -> dict[str, str]:
    """User -> why nothing of theirs enters; those who are eligible are absent."""
    pilot = {row["id"] for row in tables.prior}
    reasons = dict.fromkeys(pilot, PILOT)
    for row in tables.users:
        if row["id"] in pilot:
            continue
        if not arm_of(row["subversion"]):
            reasons[row["id"]] = OUTSIDE
        elif _address(row).endswith(TEST_ADDRESSES):
            reasons[row["id"]] = TEST
    return reasons


def excluded(
    row: Row, users: Mapping[str, Row], questions: Mapping[str, object], out: Mapping[str, str]
) -> str:
    """Why an assignment does not enter; empty where it does."""
    user = row["user_id"]
    if not user:
        return NO_USER
    if user in out:
        return out[user]
    if user not in users:
        return UNKNOWN_USER
    return "" if row["question_id"] in questions else UNKNOWN_QUESTION


def personal(rows: Rows) -> tuple[str, ...]:
    """The columns of a table that name people or their addresses."""
    return tuple(
        c for c in rows.columns if c.casefold().replace("-", "_").replace(" ", "_") in PERSONAL
    )


def _address(row: Row) -> str:
    return row.get("email", "").casefold()


@dataclass(frozen=True)
class Strata:
    """The strata of one table's rows."""

    names: Mapping[str, str]
    """Column -> stratum, of those that are kept."""
    by_rule: Mapping[str, Mapping[str, str]]
    """Stratum -> row's id -> value, of those that a rule gives; empty mapping: nothing tells."""
    alone: tuple[str, ...] = ()
    """Columns left out, because nearly every row has an entry of its own there."""

    def of(self, row: Row) -> dict[str, str]:
        """A row's strata."""
        ruled = {
            name: values[row["id"]]
            for name, values in self.by_rule.items()
            if values.get(row["id"])
        }
        return {name: row[c] for c, name in self.names.items() if row.get(c)} | ruled


def texts(source: Source) -> tuple[str, ...]:
    """The columns that may hold a question's text."""
    return tuple(source.columns.get("text") or TEXTS)


def strata(
    rows: Rows, excluded: Collection[str], by_rule: Mapping[str, Mapping[str, str]], source: Source
) -> Strata:
    """The columns that the source names, else all that group.

    Those that a rule gives are its own.
    """
    meant = {"specialty", *source.strata}
    names, alone = {}, []
    for column in rows.columns:
        if column in excluded or column in by_rule or column in personal(rows):
            continue
        if source.strata and column not in source.strata:
            continue
        values = [row[column] for row in rows if row[column]]
        if (
            column not in meant
            and len(values) >= _FEWEST
            and len(set(values)) >= _OWN * len(values)
        ):
            alone.append(column)
        else:
            names[column] = column
    return Strata(names, by_rule, tuple(alone))


def notes(tables: Tables, of_items: Strata, of_raters: Strata, source: Source) -> Iterator[str]:
    """Notes on the tables that need attention: one sentence each."""
    for rows, groups in ((tables.questions, of_items), (tables.users, of_raters)):
        for name, values in groups.by_rule.items():
            if not values:
                yield (
                    f"{rows.name}: there is no column {name!r}, so analyses by {name} are not"
                    " possible; if it has another name, write"
                    f' columns = {{ {name} = "..." }} in the study\'s [[sources]]'
                    + (
                        ', or fixed = { source = "..." } where all questions are of one source'
                        * (name == "source")
                    )
                )
        further = [n for n in groups.names.values() if n != "specialty"]
        if further:
            yield f"{rows.name}: further columns are characteristics: {', '.join(further)}"
        if groups.alone:
            yield (
                f"{rows.name}: not used as characteristics because nearly every row has a"
                f" different value: {', '.join(groups.alone)}; to use any of them, list all"
                " characteristics under strata"
            )
    if not any(row.get(name) for row in tables.questions for name in texts(source)):
        yield (
            f"{tables.questions.name}: no question has a text; expected one in a column"
            f" {' or '.join(texts(source))}"
        )
    for name, rows in tables.by_name().items():
        unread = [c for c in rows.columns if c not in {*NEEDED[name], *READ_TOO.get(name, ())}]
        if unread and rows not in (
            tables.questions,
            tables.users,
            tables.recruitment,
            tables.themes,
        ):
            yield f"{rows.name}: not read: {', '.join(unread)}"
        if (
            name == "machineRatings"
            and rows.rows
            and not {"variant", "subversion"} & {*rows.columns}
        ):
            yield (
                f"{rows.name}: there is no column 'variant' or 'subversion', so LLM judges are"
                " assigned to the text arm"
            )
        if rows.table is None and name in LACKS:
            yield f"there is no table {name}, so {LACKS[name]}"
