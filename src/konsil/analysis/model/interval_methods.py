"""What kind of interval or test a method is, by its message ids and never by its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from konsil.analysis.model.interval_registry import METHODS, Feature, IntervalMethod
from konsil.errors.message import TranslatableMessage

_UNKNOWN = IntervalMethod()


def features_of(method: str) -> frozenset[Feature]:
    """The features of a method and of the methods within it; none of a text without an id.

    >>> from konsil.errors.message import message
    >>> sorted(features_of(message("{n} draws", message_id="method.bootstrap", n=9)))
    ['bootstrap', 'cluster_by_name', 'resamples']
    """
    entries = (method_entry(name) for name in message_ids(method))
    return frozenset[Feature]().union(*(entry.features for entry in entries))


def message_ids(method: str) -> Iterator[str]:
    """The message ids of a method and of the methods within it, the outer one first."""
    if isinstance(method, TranslatableMessage):
        yield method.message_id
        for value in method.values.values():
            if isinstance(value, str):
                yield from message_ids(value)


def method_entry(name: str) -> IntervalMethod:
    """What is known of the method with a message id; nothing of another program's."""
    return METHODS.get(name, _UNKNOWN)


def sentences_on(methods: Collection[str]) -> list[TranslatableMessage]:
    """What the methods section states of these methods and those within them, each once.

    >>> from konsil.errors.message import message
    >>> wilson = message("Wilson", message_id="method.wilson")
    >>> sentences_on([message("{method}, cut", message_id="range.cut_below", method=wilson)] * 2)
    ['Proportions without clustering have Wilson CIs.']
    """
    names = {name for method in methods for name in message_ids(method)}
    sentences = [METHODS[name].sentence for name in METHODS if name in names]
    return list({s.message_id: s for s in sentences if s is not None}.values())


def has(method: str, feature: Feature) -> bool:
    """Whether a method, or one within it, has the feature."""
    return feature in features_of(method)


def leads(method: str, feature: Feature) -> bool:
    """Whether the feature is that of the method itself, whatever is added to its name.

    >>> from konsil.errors.message import message
    >>> wald = message("Wald", message_id="two_way.method")
    >>> cut = message("{method}, cut", message_id="range.cut_below", method=wald)
    >>> level = message("chance, {method}", message_id="method.chance_level", method=wald)
    >>> leads(cut, "wald_two_way"), leads(level, "wald_two_way")
    (True, False)
    """
    return feature in method_entry(name_of(within_wrappers(method))).features


def within_wrappers(method: str) -> str:
    """The method itself, without what is added to its name.

    >>> from konsil.errors.message import message
    >>> wald = message("Wald", message_id="two_way.method")
    >>> within_wrappers(message("{method}, cut", message_id="range.cut_below", method=wald))
    'Wald'
    """
    while "wrapper" in method_entry(name_of(method)).features:
        method = str_of(method, "method")
    return method


def str_of(method: str, gap: str) -> str:
    """What fills a gap of a method; empty where it has none."""
    value = method.values.get(gap, "") if isinstance(method, TranslatableMessage) else ""
    return value if isinstance(value, str) else ""


def name_of(method: str) -> str:
    """The message id of a method; empty for a text without one."""
    return method.message_id if isinstance(method, TranslatableMessage) else ""


def is_by_rater(method: str) -> bool:
    """Whether the raters are the clusters of a method that is named for its clusters.

    >>> from konsil.errors.message import message
    >>> is_by_rater(message("{cluster}-cluster Wald", message_id="method.wald", cluster="rater"))
    True
    """
    if not isinstance(method, TranslatableMessage):
        return False
    if method.message_id == "two_way.by_rater":
        return True
    if "cluster_by_name" in method_entry(method.message_id).features:
        return str_of(method, "cluster") == "rater"
    return any(is_by_rater(v) for v in method.values.values() if isinstance(v, str))
