"""Study: one whole protocol, frozen: what study.toml says; its digest."""

from konsil.analysis import Exclusions, Inference, Resampling
from konsil.study.definition.protocol import SCHEMA, Study, parse, study_digest
from konsil.study.rules.check import check
from konsil.study.sections.decode import decode

__all__ = [
    "SCHEMA",
    "Exclusions",
    "Inference",
    "Resampling",
    "Study",
    "check",
    "decode",
    "parse",
    "study_digest",
]
