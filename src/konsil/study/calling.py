"""How models are called: endpoints, sampling, prompts, and which model speaks for which judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from konsil.errors import StudyError, nearest
from konsil.study.decode import decode

FAKE = "fake"
"""The endpoint that needs no server and no entry under [[endpoints]]: scripted replies, for trials and tests."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server of models, and how much may be asked of it at once."""

    id: str
    """Unique in the study; the word before the colon of a model."""
    url: str
    """The address before /chat/completions, such as http://127.0.0.1:8080/v1."""
    key_env: str = ""
    """The environment variable that holds the key; the key itself stands in no file. Empty: no key."""
    concurrency: int = 16
    """Calls under way at once, at most; fewer while the server says that it is busy."""
    requests_per_minute: int | None = None
    """The server's limit of requests; left out: none."""
    tokens_per_minute: int | None = None
    """The server's limit of tokens; left out: none."""
    seconds: float = 120.0
    """How long one call may take, from sending it to the end of its reply."""
    tries: int = 6
    """How often a call is tried where the server is busy or fails."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is asked. What is left out is not sent, and the server's own default holds."""

    temperature: float | None = None
    """Sampling temperature."""
    top_p: float | None = None
    """Share of the probability that tokens are drawn from."""
    max_tokens: int | None = None
    """The longest reply; what is longer is truncated, which is counted and is no answer."""
    seed: int | None = None
    """The seed of sampling, where the server takes one."""
    logprobs: int | None = None
    """How many alternatives to report with each token's log-probability; left out: none are asked for."""
    system: str = ""
    """The system prompt; a name that ends in .md is a file of the study's folder. Empty: none. Systems only."""
    template: str = "{text}"
    """The user prompt, in which {text} is the item's text; a name that ends in .md is a file. Systems only."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further parameters, sent as they stand."""
    price_in: float | None = None
    """US dollars for a million tokens read; left out: by the price list that comes with konsil."""
    price_out: float | None = None
    """US dollars for a million tokens written; left out: by the price list that comes with konsil."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The model that speaks for a rater of kind llm."""

    rater: str
    """The rater's id."""
    model: str
    """ENDPOINT:NAME, the name as the endpoint calls the model."""
    settings: Settings = field(default_factory=Settings)
    """How it is asked; what it is asked is the instrument's."""


def settings_of(data: Mapping[str, object], where: str) -> Settings:
    """Read a system's settings strictly; `where` is their place in study.toml."""
    found = decode(Settings, {"settings": dict(data)}["settings"], where)
    if "{text}" not in found.template and not found.template.endswith(".md"):
        raise StudyError(f"{where}.template: has no place {{text}} for the item's text")
    return found


def split_model(model: str) -> tuple[str, str]:
    """Split ENDPOINT:NAME; the name may have colons of its own.

    >>> split_model("local:qwen2.5:7b")
    ('local', 'qwen2.5:7b')
    """
    endpoint, _, name = model.partition(":")
    return endpoint, name


def model_problems(model: str, endpoints: tuple[Endpoint, ...], where: str) -> Iterator[str]:
    """Say what is wrong with the name of a model that is to be called."""
    endpoint, name = split_model(model)
    known = [e.id for e in endpoints]
    if endpoint == FAKE:
        return
    if ":" not in model or not name:
        yield f"{where}: {model!r} is not ENDPOINT:NAME, such as 'local:llama-3.1-8b' or '{FAKE}:right=0.7'"
    elif endpoint not in known:
        yield f"{where}: there is no endpoint {endpoint!r}; {nearest(endpoint, [*known, FAKE])}"


def endpoint_problems(endpoint: Endpoint, where: str) -> Iterator[str]:
    """Say what is wrong with an endpoint."""
    if endpoint.id == FAKE or ":" in endpoint.id:
        yield f"{where}.id: {endpoint.id!r} cannot name an endpoint; {FAKE!r} is konsil's own and ':' divides"
    if not endpoint.url.startswith(("http://", "https://")):
        yield f"{where}.url: {endpoint.url!r} is not an address; expected one such as http://127.0.0.1:8080/v1"
    if "@" in endpoint.url.partition("://")[2].partition("/")[0]:
        yield f"{where}.url: holds a password; name the environment variable that holds the key in key_env"
    for name in ("concurrency", "requests_per_minute", "tokens_per_minute", "seconds", "tries"):
        value = getattr(endpoint, name)
        if value is not None and value <= 0:
            yield f"{where}.{name}: expected more than 0, got {value:g}"
