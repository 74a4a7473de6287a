"""Many simulated raters at once, each in a thread with a browser of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from konsil.errors import KonsilError
from konsil.rehearse.browser_rater import rate_in_window
from konsil.rehearse.forms import Form
from konsil.rehearse.people import Outcome, Person, Say, Think
from konsil.rehearse.times import Times
from konsil.rehearse.visitor import Page, Visitor

Watch = Callable[[int], None]
"""Called with the number of pages handed in so far."""
WATCH_SECONDS = 0.2
"""How often that number is told."""
LOOK_SECONDS = 0.5
"""How often somebody who is done looks whether more has come."""
MOST_FORMS = 20
"""Pages in a row before the first task: more means that one leads to itself."""
MOST_REASONS = 2_000
"""Reasons in a row that are asked for after a pilot: more means that one leads to itself."""
REASON = "rehearsed"
"""What simulated raters write where labels of the pilot lie far apart."""


def work(
    people: list[Person],
    say: Say,
    think: Think = lambda _: 0.0,
    *,
    max_pages: int | None = None,
    stop: threading.Event | None = None,
    patience: float = 30.0,
    windows: int = 0,
    watch: Watch = lambda _: None,
) -> Outcome:
    """Let all raters rate all their tasks, or `max_pages` pages each, at the same time.

    The first `windows` raters rate in Chromium.

    Tasks that are added meanwhile (tie-breaks) are rated too: a rater without tasks looks again
    until no rater is at work. `watch` is called with the number of pages submitted, in the
    caller's thread, whenever it has grown.
    """
    began = time.perf_counter()
    shift = _Shift(
        say,
        think,
        max_pages,
        stop or threading.Event(),
        patience,
        Outcome(Times()),
        _Crew(len(people)),
    )
    threads = [
        threading.Thread(
            target=shift.rate_in_window if n < windows else shift.rate,
            args=(p,),
            name=p.rater,
            daemon=True,
        )
        for n, p in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    watch(0)
    n_pages = 0
    for thread in threads:
        while thread.is_alive():
            thread.join(WATCH_SECONDS)
            if (n_now := sum(list(shift.outcome.handed_in.values()))) > n_pages:
                watch(n_pages := n_now)
    shift.outcome.seconds = time.perf_counter() - began
    return shift.outcome


@dataclass(frozen=True)
class _Shift:
    """What everybody at work shares."""

    say: Say
    think: Think
    n_tasks: int | None
    stop: threading.Event
    patience: float
    outcome: Outcome
    crew: _Crew

    def _is_over(self, person: Person) -> bool:
        return self.stop.is_set() or self.outcome.handed_in.get(person.rater, 0) == self.n_tasks

    def rate(self, person: Person) -> None:
        """Rate over plain connections, until nobody is at work."""
        outcome, crew = self.outcome, self.crew
        visitor = Visitor(person.link, outcome.times, patience=self.patience)
        busy = True
        time.sleep(person.after)
        try:
            page = visitor.come()
            while not self._is_over(person):
                page = _explained(visitor, _before(visitor, page, person.about))
                if page.path.startswith("/task/"):
                    busy = busy or crew.rejoin()
                    page = _rate(visitor, page, self.say, self.think, outcome, person.rater)
                    continue
                busy = busy and crew.leave()
                if crew.idle():
                    break
                # A page that came between the last look and the end of all others' work is seen by
                # one more look.
                time.sleep(LOOK_SECONDS)
                page = visitor.go("/next", "look again")
        except (KonsilError, ValueError) as error:
            outcome.times.fault(f"{person.rater}: {error}")
        finally:
            if busy:
                crew.leave()
            visitor.leave()

    def rate_in_window(self, person: Person) -> None:
        """The same in a window of Chromium."""
        crew = self.crew
        busy = True

        def idle(nothing: bool) -> bool:
            nonlocal busy
            if busy == nothing:
                busy = crew.leave() if busy else crew.rejoin()
            return nothing and crew.idle()

        try:
            rate_in_window(
                person,
                self.say,
                self.think,
                self.outcome,
                idle=idle,
                until=lambda: self._is_over(person),
            )
        except KonsilError as error:
            self.outcome.times.fault(f"{person.rater}: {error}")
        finally:
            if busy:
                crew.leave()


class _Crew:
    """Who is still at work: only they can make new pages for those who are done."""

    def __init__(self, n: int) -> None:
        self._busy, self._looks, self._lock = n, 0, threading.Lock()
        self._of_thread = threading.local()

    def leave(self) -> bool:
        with self._lock:
            self._busy -= 1
            self._of_thread.quiet = False
        return False

    def rejoin(self) -> bool:
        with self._lock:
            self._busy += 1
        return True

    def idle(self) -> bool:
        """Whether nobody is at work, and was not at this thread's last look either."""
        with self._lock:
            before, self._of_thread.quiet = (
                getattr(self._of_thread, "quiet", False),
                self._busy == 0,
            )
            return before and self._busy == 0


def _before(visitor: Visitor, page: Page, about: Mapping[str, str]) -> Page:
    """Pass what comes before the first task, as somebody who agrees to everything."""
    for _ in range(MOST_FORMS):
        start = next(
            (p for p in ("/consent", "/eligibility", "/profile", "/place") if page.path == p), None
        )
        form = page.form(start) if start is not None else None
        if form is None:
            return page
        form_values = {
            name: about.get(name, offered[0] if offered else "")
            for name, offered in form.options.items()
        }
        form_values |= dict([b for b in form.buttons if b[0]][:1])
        page = visitor.send(form, form_values, "before")
    raise KonsilError(f"{page.path}: does not continue, whatever is replied")


def _explained(visitor: Visitor, page: Page) -> Page:
    """Write the reasons that are asked for after a pilot, read those of others, and go on."""
    has_written = False
    for _ in range(MOST_REASONS):
        form = page.form("/calibration") if page.path == "/calibration" else None
        if form is None:
            return visitor.go("/next") if has_written else page
        page, has_written = visitor.send(form, {"text": REASON}, "reason"), True
    raise KonsilError(f"{page.path}: requests reasons repeatedly")


def _rate(
    visitor: Visitor, page: Page, say: Say, think: Think, outcome: Outcome, rater: str
) -> Page:
    """Rate one page: think, choose, save at every choice, hand in, go on."""
    form = page.form("/task/")
    if form is None or "save" not in form.data:
        raise KonsilError(f"{page.path}: there is no form to rate in")
    if "closed" in form.data:
        # A practice that explains itself, or a batch that was closed meanwhile: to be read, and
        # then left.
        return visitor.go("/next")
    public = form.data["public"]
    form_values, seconds = say(public)
    filled_values = {name: value for name, value in form_values.items() if value}
    if unknown := sorted(set(filled_values) - set(form.options)):
        raise KonsilError(f"{page.path}: does not ask {unknown[0]!r}")
    share = seconds / (len(filled_values) + 1)
    rev = int(form.data.get("rev") or 0)
    for n, (name, value) in enumerate(filled_values.items(), start=1):
        time.sleep(think(share))
        change = visitor.change(name, value, rev)
        reply = visitor.save(form, [change], _seconds(n * share, share))
        if reply.get("closed"):
            return visitor.go("/next")
        if reply.get("refused") or reply.get("conflicts"):
            raise KonsilError(f"{page.path}: {name}: {value!r} was not saved")
        outcome.saved[public, name] = value
        rev = int(str(reply["rev"]))
    time.sleep(think(share))
    return _hand_in(visitor, form, form_values, seconds, outcome, rater)


def _hand_in(
    visitor: Visitor,
    form: Form,
    form_values: Mapping[str, str],
    seconds: float,
    outcome: Outcome,
    rater: str,
) -> Page:
    began = time.perf_counter()
    reply = visitor.submit(
        form, {n: v for n, v in form_values.items() if v}, _seconds(seconds, seconds)
    )
    if "go" not in reply:
        raise KonsilError(f"{form.action}: was rejected: {dict(reply)}")
    outcome.submitted[form.data["public"]] = form_values
    outcome.handed_in[rater] = outcome.handed_in.get(rater, 0) + 1
    page = visitor.go(str(reply["go"]))
    outcome.times.took("go on", time.perf_counter() - began, len(page.text.encode()))
    return page


def _seconds(wall: float, first: float) -> dict[str, str]:
    return {
        "wall": f"{wall:.3f}",
        "active": f"{wall:.3f}",
        "first_input": f"{min(first, wall):.3f}",
    }
