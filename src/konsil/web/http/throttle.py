"""So many tries a minute and no more; held in memory, since no address is ever written down."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import deque


class Throttle:
    """Lets each caller through `max_tries` times in `seconds`.

    Whoever goes on trying is kept out; with `is_lasting` False, tries beyond the limit do not
    count.
    """

    def __init__(self, max_tries: int, seconds: float, *, is_lasting: bool = True) -> None:
        self._most, self._seconds, self._is_lasting = max_tries, seconds, is_lasting
        self._tries: dict[bytes, deque[float]] = {}
        self._lock = threading.Lock()
        # A fresh key for each start: what is in memory cannot be matched with addresses afterwards.
        self._key = secrets.token_bytes(16)

    def allows(self, caller: str) -> bool:
        """Count one try of a caller and say whether it is still within the limit."""
        now = time.monotonic()
        name = hashlib.blake2b(caller.encode(), key=self._key, digest_size=8).digest()
        with self._lock:
            for other in [n for n, tries in self._tries.items() if tries[-1] < now - self._seconds]:
                del self._tries[other]
            tries = self._tries.setdefault(name, deque(maxlen=self._most + 1))
            tries.append(now)
            is_within = sum(t > now - self._seconds for t in tries) <= self._most
            if not is_within and not self._is_lasting:
                tries.pop()
            return is_within
