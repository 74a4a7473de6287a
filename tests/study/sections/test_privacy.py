"""How long personal data are kept: what the protocol can state, and what is refused."""

from __future__ import annotations

import pytest

from konsil.errors import StudyError
from konsil.study import check, parse, study_digest
from konsil.study.sections.privacy import Privacy

HEAD = 'title = "t"\nseed = 1\n[privacy]\n'


def study(text: str):
    made = parse(HEAD + text, lambda name: name)
    check(made, "study.toml")
    return made


@pytest.mark.parametrize("text", ['retention = "2035-12-31"', "retention = 2035-12-31"])
def test_a_day_may_stand_with_or_without_quotation_marks(text: str) -> None:
    assert study(text).privacy == Privacy("2035-12-31")
    assert study_digest(study(text)) == study_digest(study('retention = "2035-12-31"'))


@pytest.mark.parametrize(
    "day", ["31.12.2035", "2035", "2035-12", "20351231", "2035-02-30", "ten years"]
)
def test_what_is_no_day_is_one_sentence(day: str) -> None:
    with pytest.raises(StudyError) as error:
        study(f'retention = "{day}"')
    assert (
        str(error.value)
        == f'study.toml: privacy.retention: {day!r} is not a date; expected one such as "2035-12-31"'
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("retention = 2035", "privacy.retention: expected a text, got 2035"),
        ("retention = 2035-12-31T12:00:00", "privacy.retention: expected a text"),
        ('ratings_after_erasure = "kept"', "privacy.ratings_after_erasure: .*'kept'.*keep"),
        ('retenton = "2035-12-31"', "retenton.*retention"),
    ],
)
def test_slips_are_named(text: str, says: str) -> None:
    with pytest.raises(StudyError, match=says):
        study(text)


def test_without_the_table_the_digest_is_what_it_was() -> None:
    bare = parse('title = "t"\nseed = 1\n', lambda name: name)
    assert bare.privacy is None
    assert study_digest(bare) != study_digest(study('retention = "2035-12-31"'))
