"""konsil: evaluations of clinical language models by panels of experts and by LLM judges."""

from konsil.version import __version__

__all__ = ["__version__"]
