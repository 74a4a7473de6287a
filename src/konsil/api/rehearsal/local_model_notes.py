"""The report's notes on the small model that konsil installs, wherever it answered or judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from konsil.api.folder.folder import Folder
from konsil.collect.local.shipped_model import SHIPPED
from konsil.study.sections.calling import LOCAL

if TYPE_CHECKING:
    from konsil.report import Section


def about_the_model(folder: Folder) -> tuple[Section, ...]:
    """What a report must say of the small model, wherever it answered or judged."""
    from konsil.report import Section

    study = folder.study
    name = f"{LOCAL}:{SHIPPED.id}"
    judges = [j.rater for j in study.judges if j.model == name]
    if not judges and all(s.model != name for s in study.systems):
        return ()
    if any(e.id == LOCAL for e in study.endpoints):
        return ()
    paragraphs = [
        "SmolLM2-135M-Instruct is a real but very small language model (135 million parameters,"
        " English only). It demonstrates calls of models and the evaluation of an LLM judge. It"
        " answers few questions correctly, and its ratings are not a valid assessment of the"
        " answers."
    ]
    with folder.store() as store:
        ratings = store.ratings()
    for rater in judges:
        label_counts = Counter(
            r.label or "abstained" for r in ratings if r.rater == rater and r.answers
        )
        if not label_counts:
            continue
        label, n = label_counts.most_common(1)[0]
        counts = ", ".join(
            f"{label_name!r} {times}" for label_name, times in label_counts.most_common()
        )
        paragraphs.append(
            f"As the judge {rater} it gave {n} of {label_counts.total()} answers the same label,"
            f" {label!r}"
            f" ({counts}). A judge that labels nearly everything alike agrees with a panel as often"
            " as that label is common, which is why agreement beyond chance is what counts."
        )
    return (Section(title="About the small model", paragraphs=tuple(paragraphs)),)
