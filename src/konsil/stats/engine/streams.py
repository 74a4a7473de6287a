"""Counter-based streams of random numbers, which begin at any block without the ones before."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

CLUSTERS, PATTERNS, SIGNS, CHOICES, ORDERS, SHARES, WITHIN = 0, 1, 2, 3, 4, 5, 6
"""Top word of the Philox counter: draws of clusters, patterns, signs, choices, orders, and of
virtual blocks and within them never share random numbers."""


def stream_key(seed: int, name: str) -> int:
    """A stable 64-bit key from a seed and the name of what is drawn.

    The same pair gives the same key in every process and on every machine.

    >>> (
    ...     stream_key(1, "kappa") == stream_key(1, "kappa"),
    ...     stream_key(1, "kappa") == stream_key(2, "kappa"),
    ... )
    (True, False)
    """
    return int.from_bytes(
        hashlib.blake2b(f"{seed}\x00{name}".encode(), digest_size=8).digest(), "little"
    )


class Streams:
    """The random streams of one key and purpose: one generator, set to any block's start.

    Setting the state is much cheaper than a generator for every block and gives the same numbers.
    """

    def __init__(self, key: int, purpose: int) -> None:
        self._bits = np.random.Philox(key=0)
        self._state = self._bits.state
        self._state["state"] = {
            "counter": np.array([0, 0, 0, purpose], dtype=np.uint64),
            "key": np.array([key & 0xFFFFFFFFFFFFFFFF, 0], dtype=np.uint64),
        }
        self._generator = np.random.Generator(self._bits)

    def at(self, block: int, row: int = 0) -> np.random.Generator:
        """The generator at the start of a block's stream, or of a row's part of it."""
        self._state["state"]["key"][1] = block
        self._state["state"]["counter"][1] = row
        self._bits.state = self._state
        return self._generator


def uniform(generator: np.random.Generator, n: int, size: int) -> NDArray[np.uint32]:
    """`size` numbers below n, each exactly as likely, by multiplication and shift.

    The few words that would favour some numbers are redrawn.

    Source: Lemire (2019), Fast random integer generation in an interval. A number takes sixteen or
    thirty-two bits, because the random words are the larger part of a bootstrap's cost.
    """
    # Half the random words; with n up to 4,096 fewer than one in sixteen is drawn again.
    bits = 16 if n <= 4096 else 32
    words = generator.bit_generator.random_raw(-(-size * bits // 64))
    if bits == 16:
        products = words.view(np.uint16)[:size].astype(np.uint32)
    else:
        products = words.view(np.uint32)[:size].astype(np.uint64)
    products *= products.dtype.type(n)
    favoured = (1 << bits) % n
    again = (
        np.flatnonzero((products & products.dtype.type((1 << bits) - 1)) < favoured)
        if favoured
        else ()
    )
    products >>= products.dtype.type(bits)
    if len(again):
        products[again] = generator.integers(0, n, len(again))
    return products.astype(np.uint32, copy=False)
