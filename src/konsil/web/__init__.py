"""GETTING ratings from people: the rating pages, and the pages of those who run a study.

Who calls whom, from the network inwards; each module knows only what stands below it:

    serve       the server: a study's store and its options -> uvicorn
    discreet    faults of ours in the server's log, without anybody's values
    app         create_app: routes + guard + headers + errors -> one Starlette application
    routes      EVERY page in one table: path, methods, roles, endpoint. What is not in it does not
                exist guard       who is asking: cookie -> Visitor; roles, CSRF token, Origin; deny
                by default headers     content security policy and its like, on every response; no
                exceptions throttle    so many tries a minute, for doors door        endpoints:
                landing page, invitation (GET shows a button, POST lets in), signing out, language
                rating      endpoints of the rating page: the next task, a page, save, submit,
                later, a problem statics     endpoint: the style sheet and the module, under names
                that change with their content pages       templates + catalogue + context -> HTML
                response; the only place that renders a template language    gettext catalogues
                (locale/*.po), and which language a visitor reads desk        THE SERVICE, without
                HTTP: next, open, save, submit, defer, report; one transaction each ties        the
                tie-break that a submitted rating calls for joining     endpoints of what comes
                before: consent, eligibility, the profile, taking a place reception   what is said
                there, without HTTP: events and how somebody stands; placing: the places of the plan
                calibrating endpoints of what follows a pilot; pilot: who waits, where labels lie
                far apart, written reasons gates       the gates themselves, as functions of site
                and visitor way         what comes before the next task: a list of gates (consent,
                profile, surveys) that a page may join work        a rater's tasks and how far each
                is; what the plan says is remembered line        a rater's tasks in the order of
                work, as a pure function of rows form        what a form says: cleaned, and read by
                the one reader of replies sheet       a Screen and the values so far -> Sheet: what
                the template shows, and nothing else richtext    Markdown of models -> harmless
                HTML, sentences marked; rendered once and kept ahead       the same beside the
                requests, before anybody asks for it office      endpoints of those who run a study:
                progress, batches; `office()` renders their pages with the menu invitations,
                recruiting, troubles, flags, collected    endpoints: links, letters, withdrawal;
                recruitment; reported problems; signs of haste; downloads and the audit log
    admitting, piloted    endpoints: what was said before the first task; a pilot's reasons side by
    side screening   endpoints: a pool of items gone through before the study; pool: how each
    stands, and one decision more marking     endpoints: the cases that are marked, one case, one
    change; marks: what then holds, what is left over passages    texts with places marked in them,
    as runs for a template; the sections of a report kit         a rater's batch as one file without
    a server; kit_answers: what comes back, by the desk's own way rewording   endpoints: questions
    in a model's words beside their own, to accept, edit or refuse pace, signs, naming    how fast
    everybody is and when it ends; who stands out; which answers name a system: pure told
    days, times and numbers in the page's language site        Site: study, store, options and
    clock, handed to every endpoint as `request.app.state.site`

The database's side of it is konsil.store: `access` (invitations, visitors), `screens` (public
names, drafts, times), `renderings`, `happenings` (events), `people` (names and addresses),
`leaving` and `vacancies` (who leaves, who takes over), `pool` and `markings` (decisions and marks
before the study), `traces` (visits and revisions, for exports).

To add a page: write its endpoint in a module of its own (`def page(request) -> Response`,
synchronous, run in a thread), its template in templates/ (it extends layout.html), a row in
`routes.ROUTES` with the roles that may see it, its words in locale/de.po. What it does belongs into
a service without HTTP beside `desk`, so that tests and the rehearsal call it without a browser. A
page that everybody must pass before rating (consent, a survey) is also a gate in
`site.gates.GATES`. An unsafe method needs nothing more: the guard has checked its token and origin
already.

Blinding is structural: a template gets a Sheet, never a record; URLs have `screens.public`, never a
task's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from konsil.web.app.app import create_app
    from konsil.web.site.site import Options

__all__ = ["Options", "create_app"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load the application when it is asked for: the desk can be used without a server."""
    if name == "create_app":
        from konsil.web.app.app import create_app

        return create_app
    if name == "Options":
        from konsil.web.site.site import Options

        return Options
    raise AttributeError(f"module 'konsil.web' has no attribute {name!r}")
