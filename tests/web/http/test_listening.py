"""A service manager's socket: taken once, by the process that it is meant for, if it is one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap

import pytest

from konsil.web.http.listening import inherited_socket, listening

CHILD = textwrap.dedent(
    """
    import os, sys
    if len(sys.argv) > 2:
        os.dup2(int(sys.argv[2]), 3)
    from konsil.errors import KonsilError
    from konsil.web.http.listening import listening
    os.environ["LISTEN_PID"] = os.environ["PID"].replace("own", str(os.getpid()))
    try:
        place = listening("127.0.0.1", int(sys.argv[1]))
    except KonsilError as error:
        sys.exit(str(error))
    print(place.getsockname()[1], place.proto, os.get_inheritable(place.fileno()))
    print([name for name in os.environ if name.startswith("LISTEN_")])
    """
)


def child(passed: socket.socket | None, *, pid: str = "own", number: str = "1") -> tuple[str, str]:
    """What a process prints that gets this socket as its number 3.

    It gives the socket that number itself: in this process it may be the one through which a worker
    of pytest-xdist hears of its tests.
    """
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            CHILD,
            str(port),
            *([] if passed is None else [str(passed.fileno())]),
        ],
        env={**os.environ, "LISTEN_FDS": number, "PID": pid},
        pass_fds=[] if passed is None else [passed.fileno()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout.replace(str(port), "own port"), done.stderr.strip()


@pytest.mark.slow
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_socket_of_a_service_manager_is_taken(family: int) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as passed:
        out, err = child(passed)
        assert err == ""
        assert out == f"{passed.getsockname()[1]} {int(socket.IPPROTO_TCP)} False\n[]\n"


@pytest.mark.slow
def test_a_socket_for_another_process_is_left_alone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as passed:
        assert child(passed, pid="1")[0].startswith("own port ")


@pytest.mark.slow
def test_what_is_no_tcp_socket_is_refused() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as passed:
        assert child(passed)[1] == "LISTEN_FDS: the service manager's socket is not a TCP socket"
        assert child(passed, number="2")[1].startswith("LISTEN_FDS: expected one socket")
    assert child(None)[1] == "LISTEN_FDS: the service manager's socket is not a TCP socket"


@pytest.mark.parametrize(("process", "number"), [("", "1"), ("x", "1"), ("own", "0"), ("own", "")])
def test_nothing_is_inherited(monkeypatch: pytest.MonkeyPatch, process: str, number: str) -> None:
    monkeypatch.setenv("LISTEN_PID", process.replace("own", str(os.getpid())))
    monkeypatch.setenv("LISTEN_FDS", number)
    assert inherited_socket() is None
    with listening("127.0.0.1", 0) as place:
        assert place.getsockname()[0] == "127.0.0.1"
