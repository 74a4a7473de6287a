"""A server of a rehearsal ends with the rehearsal, also where that one is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes of Windows end otherwise")
# The child's own child stands for the workers of a server; both tell that they run, and sleep as
# long as they may.
CHILD = """
import subprocess, sys, time
from konsil.rehearse.leash import end_with_parent
end_with_parent()
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)
print(worker.pid, flush=True)
time.sleep(600)
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, start_new_session=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_who_was_started_ends_with_who_is_killed(by: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, CHILD], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert int(parent.stdout.readline())
    parent.send_signal(by)
    parent.wait(60)
    # Child and worker inherited this pipe: it ends when the last of them has ended, and not before.
    assert parent.stdout.read() == b""
    parent.stdout.close()
