"""Calls of models: endpoints, sampling, prompts, and the model of each judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from konsil.errors import StudyError, nearest
from konsil.errors.message import message, placed
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Criterion, mirrored
from konsil.study.sections.decode import decode

FAKE = "fake"
"""The endpoint that needs no server and no entry under [[endpoints]]: scripted replies, for trials
and tests."""
LOCAL = "local"
"""The endpoint of models that konsil runs itself; an entry of this id under [[endpoints]] goes
first."""


Tool = Literal["web_search"]
Orders = Literal["one", "both"]
Inconsistent = Literal["missing", "tie"]
Combine = Literal["majority", "median", "expectation"]

LABEL_ALTERNATIVES = 5
"""Alternatives that are asked for with each token where a judge's confidence comes from
log-probabilities."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server of models, and how much may be asked of it at once."""

    id: str
    """Unique in the study; the word before the colon of a model."""
    url: str = ""
    """The address before /chat/completions, such as http://127.0.0.1:8080/v1; with a vendor its own
    where left out."""
    vendor: str = ""
    """A vendor that is called in its own way, such as anthropic or google; empty: as OpenAI's chat
    completions."""
    key_env: str = ""
    """The environment variable that holds the key; the key itself stands in no file. Empty: no key,
    or the one that a vendor's own library looks for."""
    concurrency: int = 16
    """Calls under way at once, at most; fewer while the server says that it is busy."""
    requests_per_minute: int | None = None
    """The server's limit of requests; left out: none."""
    tokens_per_minute: int | None = None
    """The server's limit of tokens; left out: none."""
    seconds: float = 120.0
    """How long one call may take, from sending it to the end of its reply."""
    tries: int = 6
    """How often a call is tried where the server fails; one that the server puts off as it is busy
    does not count."""
    patience: float = 86_400.0
    """Seconds that one question may be put off by a busy server, at most."""
    stop_after: int = 20
    """A model is called no more when so many of its first questions, one after another, ended in
    the same way without a usable reply; one that has given usable replies, when so many in a row
    got none at all. 0: never."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question and how it may be answered, shown to a system before the item's own question."""

    text: str
    """The question; a name that ends in .md is a file of the study's folder."""
    answer: str
    """The answer to it, with its sections where replies are to have some; a name that ends in .md
    is a file."""


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
    """How many alternatives to report with each token's log-probability; left out: none are asked
    for."""
    system: str = ""
    """The system prompt; a name that ends in .md is a file of the study's folder. Empty: none.
    Systems only."""
    template: str = "{text}"
    """The user prompt, in which {text} is the item's text; a name that ends in .md is a file.
    Systems only."""
    examples: tuple[Example, ...] = ()
    """Questions with answers that go before the item's own, in the same template. Systems only."""
    sections: tuple[str, ...] = ()
    """The headings under which a reply has its reasoning and its final response, in this order;
    empty: none are looked for, and all of a reply's text is the response. Systems only."""
    tools: tuple[Tool, ...] = ()
    """Tools of the endpoint that the model may use; where it does not offer one, the run stops.
    Systems only."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further parameters, sent as they stand."""
    thoughts: tuple[tuple[str, str], ...] = ()
    """Marks that open and close the model's thoughts in its text, beside those that konsil knows,
    such as `[["<plan>", "</plan>"]]`. What stands between them is kept as reasoning and is no part
    of an answer."""
    price_in: float | None = None
    """US dollars for a million tokens read, stated together with price_out; left out: by konsil's
    price list."""
    price_out: float | None = None
    """US dollars for a million tokens written; left out: by konsil's price list."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The model that speaks for a rater of kind llm."""

    rater: str
    """The rater's id."""
    model: str
    """ENDPOINT:NAME, the name as the endpoint calls the model."""
    settings: Settings = field(default_factory=Settings)
    """How it is asked; what it is asked is the instrument's."""
    votes: int = 1
    """How often each task is asked; the label is what more than half of the votes say."""
    orders: Orders = "one"
    """Whether a pair is shown in the plan's order, or in both orders, one call each."""
    inconsistent: Inconsistent = "missing"
    """What a pair becomes whose two orders contradict one another: no label, or the tie between
    them."""
    combine: Combine = "majority"
    """What the votes on an ordered scale come to: the label of more than half of them, the (lower)
    median, or the label nearest to their mean, weighted with the labels' probabilities where
    `logprobs` gives them. Labels without an order always need a majority, and numbers have the
    median."""
    logprobs: bool = False
    """Whether the confidence is the probability of the label, from the tokens'
    log-probabilities."""

    @property
    def ballots(self) -> int:
        """The most calls that one task takes."""
        return self.votes * (2 if self.orders == "both" else 1)


def settings_of(data: Mapping[str, object], where: str) -> Settings:
    """Read a system's settings strictly; `where` is their place in study.toml."""
    settings = decode(Settings, {"settings": dict(data)}["settings"], where)
    if "{text}" not in settings.template and not settings.template.endswith(".md"):
        raise StudyError(f"{where}.template: has no placeholder {{text}} for the item's text")
    for problem in settings_problems(settings, where):
        raise StudyError(problem)
    if settings.sections and (
        len(settings.sections) != 2
        or len({s.casefold().strip() for s in settings.sections} - {""}) < 2
    ):
        raise StudyError(
            f"{where}.sections: expected two different headings, of the reasoning and of the final"
            f" response, got {list(settings.sections)}"
        )
    return settings


def settings_problems(settings: Settings, where: str) -> Iterator[str]:
    """Say what is wrong with settings of any model, a system's or a judge's."""
    stated = {"price_in": settings.price_in, "price_out": settings.price_out}
    missing = [name for name, price in stated.items() if price is None]
    if len(missing) == 1:
        yield (
            f"{where}.{missing[0]}: missing; the price of tokens read and that of tokens written"
            " are stated together (0 where one of them costs nothing)"
        )
    for name, price in stated.items():
        if price is not None and price < 0:
            yield f"{where}.{name}: expected 0 or more, got {price:g}"
    if settings.max_tokens is not None and settings.max_tokens < 1:
        yield f"{where}.max_tokens: expected 1 or more, got {settings.max_tokens}"
    if any(not mark.strip() for pair in settings.thoughts for mark in pair):
        yield f"{where}.thoughts: expected pairs of an opening and a closing mark, got an empty one"


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
    endpoint_ids = [e.id for e in endpoints]
    if endpoint == FAKE:
        return
    if ":" not in model or not name:
        yield (
            f"{where}: {model!r} is not ENDPOINT:NAME, such as '{LOCAL}:smollm2' or"
            f" '{FAKE}:right=0.7'"
        )
    elif endpoint not in (*endpoint_ids, LOCAL):
        hint = nearest(endpoint, [*endpoint_ids, FAKE, LOCAL])
        yield placed(where, unknown_name("endpoint", endpoint, hint))


def endpoint_problems(endpoint: Endpoint, where: str) -> Iterator[str]:
    """Say what is wrong with an endpoint."""
    if endpoint.id == FAKE or ":" in endpoint.id:
        yield (
            f"{where}.id: {endpoint.id!r} cannot name an endpoint; {FAKE!r} is reserved and ':'"
            " is a separator"
        )
    if not endpoint.url and not endpoint.vendor:
        fact = message(
            "missing; an endpoint has a url, or a vendor such as 'anthropic'",
            message_id="check.no_url",
        )
        yield placed(f"{where}.url", fact)
    elif endpoint.url and not endpoint.url.startswith(("http://", "https://")):
        fact = message(
            "{url!r} is not an address; expected one such as http://127.0.0.1:8080/v1",
            message_id="check.no_address",
            url=endpoint.url,
        )
        yield placed(f"{where}.url", fact)
    if "@" in endpoint.url.partition("://")[2].partition("/")[0]:
        fact = message(
            "contains a password; name the environment variable that holds the key in key_env",
            message_id="check.password",
        )
        yield placed(f"{where}.url", fact)
    for name in (
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "seconds",
        "tries",
        "patience",
    ):
        value = getattr(endpoint, name)
        if value is not None and value <= 0:
            yield f"{where}.{name}: expected more than 0, got {value:g}"
    if endpoint.stop_after < 0:
        yield f"{where}.stop_after: expected 0 (never) or more, got {endpoint.stop_after}"


def _combine_problems(judge: Judge, criteria: Sequence[Criterion], where: str) -> Iterator[str]:
    if judge.combine == "majority":
        return
    if judge.votes == 1 and not (judge.combine == "expectation" and judge.logprobs):
        needs = "votes above 1" + (" or logprobs = true" if judge.combine == "expectation" else "")
        yield (
            f"{where}.combine: {judge.combine!r} needs several votes or probabilities; state"
            f" {needs}"
        )
    if not any(c.scale.kind == "choice" and c.scale.level != "nominal" for c in criteria):
        yield (
            f"{where}.combine: no instrument of {judge.rater!r} has a scale with an order; leave"
            " it out"
        )


def judge_problems(judge: Judge, criteria: Sequence[Criterion], where: str) -> Iterator[str]:
    """Say what is wrong with how a judge is asked.

    `criteria` are those of the instruments that it rates on.
    """
    if judge.votes < 1:
        yield f"{where}.votes: expected 1 or more, got {judge.votes}"
    if judge.votes > 1 and judge.settings.temperature == 0:
        yield (
            f"{where}.votes: {judge.votes} votes at temperature 0 are identical; state a"
            " temperature above 0"
        )
    yield from settings_problems(judge.settings, f"{where}.settings")
    for key in ("system", "template", "examples", "sections"):
        if getattr(judge.settings, key) != getattr(Settings(), key):
            yield (
                f"{where}.settings.{key}: applies to systems only; for a judge, write it into"
                " the role or the codebook of its instrument"
            )
    if judge.settings.tools:
        yield f"{where}.settings.tools: a judge has no tools; it reads what people read on the page"
    if judge.inconsistent != "missing" and judge.orders == "one":
        yield (
            f'{where}.inconsistent: without orders = "both" there is nothing that could be'
            " inconsistent"
        )
    yield from _combine_problems(judge, criteria, where)
    if judge.orders == "one":
        return
    pairs = [c for c in criteria if c.scope == "pair" and c.scale.kind != "text"]
    if not pairs:
        yield f"{where}.orders: no instrument of {judge.rater!r} compares pairs"
    for criterion in pairs:
        labels = criterion.scale.labels
        turned = [mirrored(criterion, label) for label in labels]
        if not labels or None in turned:
            yield (
                f"{where}.orders: the scale of {criterion.id!r} has no defined reverse; name"
                " the sides A and B, or give the labels in an order"
            )
        elif judge.inconsistent == "tie" and not any(
            a == b for a, b in zip(labels, turned, strict=True)
        ):
            yield f"{where}.inconsistent: the scale of {criterion.id!r} has no label for a tie"
