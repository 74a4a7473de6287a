"""The models of judges in a study's data: endpoints are shared, keys are refused."""

from __future__ import annotations

import tomllib

import pytest

from konsil.design.edits import edited
from konsil.design.models import JudgeModel, models_of, with_models
from konsil.errors import StudyError

DATA = {
    "raters": [
        {"id": "r1", "panel": "experts"},
        {"id": "j1", "panel": "judges", "kind": "llm"},
        {"id": "j2", "panel": "judges", "kind": "llm"},
    ]
}
HERE = JudgeModel("j1", "https://api.example.org/v1", "m-1", "EXAMPLE_KEY")


def test_judges_of_one_address_share_an_endpoint_and_are_read_back():
    other = JudgeModel("j2", HERE.url, "m-2:large", "EXAMPLE_KEY")
    study = with_models(DATA, [HERE, other])
    assert study["endpoints"] == [
        {"id": "api-example-org", "url": HERE.url, "key_env": "EXAMPLE_KEY"}
    ]
    assert [j["model"] for j in study["judges"]] == [
        "api-example-org:m-1",
        "api-example-org:m-2:large",
    ]
    assert models_of(study) == (HERE, other)
    assert with_models(study, models_of(study)) == study
    assert tomllib.loads(edited("", study)) == study


def test_another_key_is_another_endpoint_and_an_unused_one_goes():
    study = with_models(DATA, [HERE, JudgeModel("j2", HERE.url, "m-2", "OTHER_KEY")])
    assert [e["id"] for e in study["endpoints"]] == ["api-example-org", "api-example-org-2"]
    study["judges"][1]["votes"] = 3
    changed = with_models(study, [HERE, JudgeModel("j2", HERE.url, "m-3", "EXAMPLE_KEY")])
    assert [e["id"] for e in changed["endpoints"]] == ["api-example-org"]
    assert changed["judges"][1] == {"rater": "j2", "model": "api-example-org:m-3", "votes": 3}
    assert with_models(changed, [JudgeModel("j1"), JudgeModel("j2")]) == DATA


def test_what_the_file_states_in_its_own_way_stays():
    study = {
        **DATA,
        "endpoints": [
            {"id": "v", "vendor": "anthropic", "key_env": "K"},
            {"id": "spare", "url": "http://h/v1"},
        ],
        "judges": [{"rater": "j1", "model": "v:claude"}, {"rater": "j2", "model": "fake:x"}],
    }
    models = models_of(study)
    assert [(m.model, m.is_own) for m in models] == [("v:claude", True), ("fake:x", True)]
    assert with_models(study, models) == study


@pytest.mark.parametrize(
    "model",
    [
        JudgeModel("j1", "ftp://h/v1", "m"),
        JudgeModel("j1", "api.example.org/v1", "m"),
        JudgeModel("j1", "https://user:secret1@h/v1", "m"),
        JudgeModel("j1", "https://h/v1?key=secret1", "m"),
        JudgeModel("j1", "https://h/v1", ""),
        JudgeModel("j1", "https://h/v1", "m", "sk-secret1"),
        JudgeModel("j1", "https://h/v1", "m", "AIzaSysecret1"),
        JudgeModel("j1", "https://h/v1", "m", "AKIASECRET1EXAMPLE99"),
    ],
)
def test_what_is_no_address_or_no_variable_is_refused_and_not_repeated(model):
    with pytest.raises(StudyError) as refusal:
        with_models(DATA, [model])
    assert "secret1" not in str(refusal.value).casefold()
    assert "judges" not in DATA
