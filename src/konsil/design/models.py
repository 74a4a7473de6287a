"""The language models of judges and of systems: address, name, and the variable with the key."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from konsil.design.edits import Data
from konsil.design.wording import identifier
from konsil.errors import StudyError
from konsil.errors.message import message

_ADDRESS = re.compile(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?(/[\w.~%:-]+)*/?")
"""Host, port and path; no name, password or query."""
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]{0,14}|(?=.*_)[A-Z_][A-Z0-9_]{0,99}")
"""Names of environment variables as they are commonly written; keys are none of them."""


@dataclass(frozen=True)
class JudgeModel:
    """The model of one judge, or of one system, as the set-up asks for it."""

    rater: str
    """The judge, or the system."""
    url: str = ""
    """The address before /chat/completions."""
    model: str = ""
    """Its name, as the server calls it."""
    key_env: str = ""
    """The environment variable that holds the key; never the key."""
    is_own: bool = False
    """Whether study.toml states it in a way that the set-up does not change."""


def without_secrets(model: JudgeModel) -> JudgeModel:
    """What was typed, without an address or a variable that could be a key."""
    url = model.url if is_address(model.url) else ""
    return replace(model, url=url, key_env=model.key_env if is_variable(model.key_env) else "")


def models_of(data: Data) -> tuple[JudgeModel, ...]:
    """The model of each judge of the study; without an address where none is stated."""
    judges = {str(j["rater"]): str(j["model"]) for j in data.get("judges", ())}
    raters = (str(r["id"]) for r in data.get("raters", ()) if r.get("kind") == "llm")
    return tuple(_model(data, rater, judges.get(rater, "")) for rater in raters)


def answering_models_of(data: Data) -> tuple[JudgeModel, ...]:
    """The model of each system whose answers are collected."""
    systems = (s for s in data.get("systems", ()) if s.get("model"))
    return tuple(_model(data, str(s["id"]), str(s["model"])) for s in systems)


def _model(data: Data, name: str, stated: str) -> JudgeModel:
    endpoint_id, _, model = stated.partition(":")
    endpoint: Data = next((e for e in data.get("endpoints", ()) if e["id"] == endpoint_id), {})
    is_own = bool(endpoint_id) and (not endpoint.get("url") or "vendor" in endpoint)
    url, key_env = str(endpoint.get("url", "")), str(endpoint.get("key_env", ""))
    return JudgeModel(name, url, stated if is_own else model, key_env, is_own)


def is_variable(text: str) -> bool:
    """Whether a text is the name of an environment variable, and cannot be a key.

    >>> is_variable("OPENAI_API_KEY"), is_variable("sk-12345"), is_variable("AKIAIOSFODNN7EXAMPLE")
    (True, False, False)
    """
    return _VARIABLE.fullmatch(text) is not None


def is_address(text: str) -> bool:
    """Whether a text is the address of a server, without anything that could have a key.

    >>> is_address("https://api.example.org/v1"), is_address("https://h/v1?key=k")
    (True, False)
    """
    return _ADDRESS.fullmatch(text) is not None


def check_model(model: JudgeModel) -> None:
    """Refuse an address or a variable that is none; what could be a key is not repeated."""
    if not is_address(model.url):
        raise StudyError(
            message(
                "judge {judge!r}: expected an address with a host and a path alone, such as"
                " https://api.example.org/v1",
                message_id="setup.address",
                judge=model.rater,
            )
        )
    if not model.model:
        raise StudyError(
            message(
                "judge {judge!r}: expected the name of a model, as the server calls it",
                message_id="setup.model_name",
                judge=model.rater,
            )
        )
    if model.key_env and not is_variable(model.key_env):
        raise StudyError(
            message(
                "judge {judge!r}: expected the name of an environment variable, such as"
                " OPENAI_API_KEY, and not the key itself",
                message_id="setup.variable",
                judge=model.rater,
            )
        )


def with_models(data: Data, models: Sequence[JudgeModel]) -> Data:
    """The study with these models of judges; judges keep their other settings."""
    study, names = _with_endpoints(data, models)
    judges: list[Data] = study.get("judges", [])
    listed = {model.rater for model in models if not model.is_own}
    judge_by_rater = {judge["rater"]: judge for judge in judges}
    judges = [judge for judge in judges if judge["rater"] not in listed]
    for rater, name in names.items():
        judges.append({**judge_by_rater.get(rater, {}), "rater": rater, "model": name})
    order = [rater["id"] for rater in study.get("raters", ())]
    judges.sort(key=lambda judge: order.index(judge["rater"]) if judge["rater"] in order else -1)
    return _without_unused(data, {**study, "judges": judges})


def with_answering_models(data: Data, models: Sequence[JudgeModel]) -> Data:
    """The study with these models as systems, beside those whose answers exist."""
    study, names = _with_endpoints(data, models)
    entry_by_id = {system["id"]: system for system in study.get("systems", ())}
    with_models = {model.rater for model in models if model.is_own}
    systems = [s for s in entry_by_id.values() if not s.get("model") or s["id"] in with_models]
    ids = {system["id"] for system in systems}
    for system, name in names.items():
        if system in ids:
            raise StudyError(
                message(
                    "system {system!r}: its answers exist; give the model another name",
                    message_id="setup.answers_exist",
                    system=system,
                )
            )
        systems.append({**entry_by_id.get(system, {}), "id": system, "model": name})
    return _without_unused(data, {**study, "systems": systems})


def _with_endpoints(data: Data, models: Sequence[JudgeModel]) -> tuple[Data, dict[str, str]]:
    """The study with the endpoints of models; judge or system -> its model.

    Models of one address and key share an endpoint.
    """
    stated = [model for model in models if not model.is_own and (model.url or model.model)]
    for model in stated:
        check_model(model)
    study = copy.deepcopy(data)
    endpoints: list[Data] = study.setdefault("endpoints", [])
    names = {m.rater: f"{_endpoint_id(endpoints, m)}:{m.model}" for m in stated}
    return study, names


def _without_unused(before: Data, study: Data) -> Data:
    """The study without empty lists, and without endpoints that no model uses any more."""

    def used(data: Data) -> set[str]:
        return {_endpoint_of(e) for e in (*data.get("judges", ()), *data.get("systems", ()))}

    unused = used(before) - used(study)
    study["endpoints"] = [e for e in study["endpoints"] if e["id"] not in unused]
    lists = ("endpoints", "judges", "systems")
    return {key: value for key, value in study.items() if value or key not in lists}


def _endpoint_of(entry: Data) -> str:
    return str(entry.get("model", "")).partition(":")[0]


def _endpoint_id(endpoints: list[Data], model: JudgeModel) -> str:
    """The endpoint of a model's address and key; a new one where there is none."""
    for endpoint in endpoints:
        same = (endpoint.get("url", ""), endpoint.get("key_env", "")) == (model.url, model.key_env)
        if same and "vendor" not in endpoint:
            return str(endpoint["id"])
    host = _ADDRESS.fullmatch(model.url)
    name = identifier(host[1] if host is not None else "", _ids(endpoints), fallback="models")
    key = {"key_env": model.key_env} if model.key_env else {}
    endpoints.append({"id": name, "url": model.url, **key})
    return name


def _ids(endpoints: Iterable[Data]) -> set[str]:
    return {str(endpoint["id"]) for endpoint in endpoints} | {"fake", "local"}


@dataclass(frozen=True)
class Trial:
    """What came of one call of a judge's model."""

    rater: str
    reply: str = ""
    fault: str = ""
    """Why there is no reply, in a sentence; empty where there is one."""
