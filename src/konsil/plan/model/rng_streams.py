"""Independent streams of randomness and names that leak nothing.

Each is keyed by the study's seed and a purpose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def generator(seed: int, *key: str | int) -> np.random.Generator:
    """A generator of its own for (seed, key).

    Drawing more from one stream never changes another.
    """
    # `repr` keeps 1 and "1" apart, and shows where one part of the key ends.
    digest = hashlib.blake2b(repr((seed, *key)).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def token(seed: int, *key: str | int | None) -> str:
    """Sixteen hexadecimal digits for (seed, key): a name that says nothing of what it names."""
    return hashlib.blake2b(repr((seed, *key)).encode(), digest_size=8).hexdigest()


def tokens(seed: int, *key: str | int | None) -> Callable[..., str]:
    """`token` of keys that begin alike, in half the time.

    >>> tokens(1, "order", "r1")("i1", 2) == token(1, "order", "r1", "i1", 2)
    True
    """
    begun = hashlib.blake2b(repr((seed, *key, 0)).removesuffix(" 0)").encode(), digest_size=8)

    def token_of(*rest: str | int | None) -> str:
        digest = begun.copy()
        digest.update(f" {', '.join(map(repr, rest))})".encode())
        return digest.hexdigest()

    return token_of


def orders(rng: np.random.Generator, n: int, k: int) -> NDArray[np.int64]:
    """Counterbalanced orders of k things on n screens, shape (n, k).

    Blocks of k screens are the rows of a cyclic Latin square of a random permutation, rows
    shuffled: in every whole block each thing stands once in each position.
    """
    blocks = -(-n // k)
    base = np.tile(np.arange(k), (blocks, 1))
    things, rows = rng.permuted(base, axis=1), rng.permuted(base, axis=1)
    turned = (rows[:, :, None] + np.arange(k)) % k
    square = np.take_along_axis(np.broadcast_to(things[:, None, :], (blocks, k, k)), turned, axis=2)
    return np.asarray(square.reshape(blocks * k, k)[:n], dtype=np.int64)
