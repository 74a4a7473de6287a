"""One run at a time, in whatever way the other one ends."""

from __future__ import annotations

import subprocess
import sys

import pytest
import sqlalchemy as sa

from konsil.errors import StoreError
from konsil.store import Store
from konsil.store.calls import run_lock
from konsil.store.calls.run_lock import alone, sending_letters

AT = "2025-03-01T12:00:00Z"
HOLD = """
import sys
from konsil.store import Store
from konsil.store.calls.run_lock import alone
with Store.open(sys.argv[1]) as store, alone(store, "konsil judge", "2025-03-01T12:00:00Z"):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(where: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def wait_for(store: Store) -> None:
    # A server sees after a moment that the one who held the lock is gone.
    for _ in range(100):
        try:
            with alone(store, "konsil answer", AT):
                return
        except StoreError as error:
            last = error
            subprocess.run(["sleep", "0.05"], check=True)
    raise last


@pytest.mark.slow
def test_a_second_run_is_told_since_when_the_first_is_under_way(where: str, store: Store) -> None:
    process = holder(where)
    try:
        with pytest.raises(StoreError) as caught, alone(store, "konsil answer", AT):
            pytest.fail("two at once")
        said = str(caught.value)
        assert said.startswith(f"{store.name}: another run (konsil judge")
        assert "is under way since 20" in said
        if store.engine.dialect.name == "sqlite":
            assert f"process {process.pid}) is under way since {AT}; wait" in said
        store.audit("note", {}, AT)  # the lock is on runs, not on the database
    finally:
        process.communicate("")
    wait_for(store)


@pytest.mark.slow
def test_a_killed_run_leaves_no_lock(where: str, store: Store) -> None:
    process = holder(where)
    process.kill()
    process.communicate()
    wait_for(store)


def test_it_is_given_back_also_after_an_error_and_holds_within_one_process(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), alone(store, "one", AT):
        raise ZeroDivisionError
    with (
        alone(store, "one", AT),
        Store.open(store.engine.url.render_as_string(False)) as other,
        pytest.raises(StoreError, match="another run"),
        alone(other, "two", AT),
    ):
        pytest.fail("two at once")
    # One command after the other, as a script calls them.
    for _ in range(20):
        with alone(store, "again", AT):
            pass
    with alone(store, "three", AT):
        pass


def test_one_process_sends_letters_also_while_models_are_called(store: Store) -> None:
    refusal = pytest.raises(StoreError, match="letters are being sent by another process")
    with alone(store, "konsil judge", AT), sending_letters(store, AT), refusal:  # noqa: SIM117
        with sending_letters(store, AT):
            pytest.fail("two at once")
    with sending_letters(store, AT):
        pass


def test_a_process_without_a_name_that_sends_letters_is_named_by_what_it_holds(
    store: Store,
) -> None:
    """Another account's name is hidden, and one that has just begun has none yet."""
    if not run_lock.is_shared(store):
        return
    refusal = pytest.raises(StoreError, match="letters are being sent by another process")
    lock = sa.select(sa.func.pg_advisory_lock(run_lock._LETTERS_KEY))
    with store.engine.connect() as other:
        other.execute(lock)
        with refusal, sending_letters(store, AT):
            pytest.fail("two at once")
        other.invalidate()  # not back to the pool with the lock
