"""So many tries a minute and no more; held in memory, since no address is ever written down."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import deque


class Throttle:
    """Lets each caller through `max_tries` times in `seconds`."""

    def __init__(self, max_tries: int, seconds: float) -> None:
        self._most, self._seconds = max_tries, seconds
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
            return sum(t > now - self._seconds for t in tries) <= self._most
