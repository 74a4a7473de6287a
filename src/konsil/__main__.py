"""The command line as a program: `konsil` and `python -m konsil`.

Ctrl+C ends it with "stopped" and exit code 130 at any moment, also while modules are imported.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

_STOPPED = 130
"""The exit code of a program that Ctrl+C ended."""


def main() -> None:
    """Run the command line; Ctrl+C raises KeyboardInterrupt only where it is handled."""
    before = signal.signal(signal.SIGINT, _stop)
    sys.unraisablehook = _deliver_again
    from konsil.cli import main as run

    try:
        signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:
        _stop()
    finally:
        # Nothing of the interpreter's own end handles an interrupt.
        signal.signal(signal.SIGINT, _stop)


def _stop(*_signal: object) -> NoReturn:
    """End at once: nothing has been opened yet, or everything has been closed."""
    os.write(2, b"stopped\n")
    os._exit(_STOPPED)


# Any: the class of a hook's argument exists for type checkers alone.
def _deliver_again(unraisable: Any) -> None:  # noqa: ANN401
    """Ctrl+C where Python cannot raise it, as in the import system's callbacks, comes again."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    import _thread
    import threading

    try:
        threading.Timer(0.01, _thread.interrupt_main).start()
    except RuntimeError:  # the interpreter ends already
        _stop()


if __name__ == "__main__":
    main()
