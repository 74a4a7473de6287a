"""A model that helps with the themes.

It gives key phrases for each question, a name for each theme, and one theme for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from konsil.api.folder.folder import Folder
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.preparing import PromptBatch, Replies, ask, subjects
from konsil.prepare import Embed, Themed, Theming, themes
from konsil.prepare.questions.asking import Step
from konsil.prepare.questions.clusters import telling_words
from konsil.prepare.questions.prompts import (
    language_of,
    listed,
    name_form,
    phrases_form,
    prompt_of,
    tag_form,
)
from konsil.records import Item
from konsil.store import Store

EXAMPLES = 12
"""Questions of a theme that the model sees when it names it."""
WORDS = 8
"""Words of a theme that it sees."""


@dataclass
class Helped:
    """What a model made of the themes so far."""

    themed: Themed | None = None
    """The themes; None where they wait for the model."""
    runs: list[Replies] = field(default_factory=list)
    """What was asked, in order."""

    @property
    def n_pending(self) -> int:
        """Number of questions and themes that the model has still to be asked about.

        It counts those of the step that stopped.
        """
        return self.runs[-1].n_pending if self.runs else 0


def with_model(
    folder: Folder,
    store: Store,
    spec: Theming,
    items: Sequence[Item],
    retained: Themed | None,
    embed: Callable[[], Embed],
    options: Options,
) -> Helped:
    """Find the themes with a model's help; what it said before is not asked again.

    Args:
        folder: the study's.
        store: its store, where the calls are kept.
        spec: which model, and how it is asked.
        items: the study's items.
        retained: the themes of an earlier run; None: none.
        embed: gives what makes vectors of texts, where it is needed.
        options: how much may be asked.
    """
    helped, language = Helped(), language_of(spec, folder.study.language)
    texts = {item.id: item.text for item in items}

    def request(
        step: Step, form: Mapping[str, object], inputs: Mapping[str, str], **places: str
    ) -> Replies:
        replies = ask(
            folder.study,
            store,
            spec,
            PromptBatch(step, prompt_of(spec, step, language, **places), form, inputs),
            options,
        )
        helped.runs.append(replies)
        return replies

    earlier_phrases = retained.phrases if retained is not None else {}
    replies = request(
        "phrases",
        phrases_form(),
        subjects([(i, text) for i, text in texts.items() if i not in earlier_phrases]),
    )
    if replies.n_pending:
        return helped
    phrases = {item: tuple(reply["phrases"]) for item, reply in replies.replies.items()}
    themed = themes(spec, items, embed(), retained, phrases=phrases)
    replies = request("names", name_form(), _theme_texts(themed, texts))
    if replies.n_pending:
        return helped
    themed = replace(
        themed,
        named={**themed.named, **{name: str(r["name"]) for name, r in replies.replies.items()}},
    )
    of_name: dict[str, str] = {}
    for name, called in sorted(
        themed.names().items(), key=lambda pair: (pair[1], pair[0])
    ):  # the same words each time
        of_name.setdefault(called, name)
    untagged = subjects(
        [(i, t) for i, t in texts.items() if i not in themed.tagged and i not in themed.moved]
    )
    replies = request("tags", tag_form(list(of_name)), untagged, themes=listed(list(of_name)))
    if replies.n_pending:
        return helped
    tagged = {item: of_name[str(reply["theme"])] for item, reply in replies.replies.items()}
    helped.themed = replace(themed, tagged={**themed.tagged, **tagged})
    return helped


def _theme_texts(themed: Themed, texts: Mapping[str, str]) -> dict[str, str]:
    """What the model sees of each theme that has no name yet."""
    words = telling_words(
        {name: [texts[i] for i in ids] for name, ids in themed.found.items()}, WORDS
    )
    return {
        name: f"{', '.join(words[name])}\n\n{listed([texts[i] for i in list(ids)[:EXAMPLES]])}"
        for name, ids in themed.found.items()
        if name not in themed.named and name not in themed.decided
    }
