"""Simulated raters who work through a study's pages over HTTP, as browsers would.

visitor     one browser: an invitation's link in, every request that a page of ours makes
forms       what a page asks, read from its HTML
replies     what simulated raters say to it (konsil.simulate)
window      one of them in a real browser, by its keyboard
panel       many of them at once
times       how long every kind of request took
server      a server in a process of its own
"""

from konsil.rehearse.browser_rater import browser_there
from konsil.rehearse.panel import work
from konsil.rehearse.people import Outcome, Think
from konsil.rehearse.replies import Replies
from konsil.rehearse.server import Server
from konsil.rehearse.times import Times
from konsil.rehearse.visitor import GoneError, Visitor

__all__ = [
    "GoneError",
    "Outcome",
    "Replies",
    "Server",
    "Think",
    "Times",
    "Visitor",
    "browser_there",
    "work",
]
