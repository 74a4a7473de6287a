"""Study: one whole protocol, frozen: what study.toml says; its digest."""

from konsil.study.check import check
from konsil.study.decode import decode
from konsil.study.protocol import SCHEMA, Exclusions, Resampling, Study, parse, study_digest

__all__ = ["SCHEMA", "Exclusions", "Resampling", "Study", "check", "decode", "parse", "study_digest"]
