"""Study: one whole protocol, frozen: what study.toml says; its digest."""

from konsil.analysis import Exclusions, Inference, Resampling
from konsil.study.check import check
from konsil.study.decode import decode
from konsil.study.protocol import SCHEMA, Study, parse, study_digest

__all__ = ["SCHEMA", "Exclusions", "Inference", "Resampling", "Study", "check", "decode", "parse", "study_digest"]
