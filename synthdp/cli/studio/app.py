"""The studio's pages: which address shows what, and what a form changes.

Pages are forms that the server makes (Jinja): they work without scripts, are read aloud well, and
are tested without a browser. Starlette and uvicorn are small, need no build and nothing from the
net. NiceGUI and Shiny bring a framework of scripts along, FastAPI is for interfaces of data, and
htmx, which pip has only inside of packages for Django, would replace thirty lines of ours.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from synthdp.cli.projects.outcome import is_outdated
from synthdp.cli.projects.project import ProjectError
from synthdp.cli.projects.runs import ARCHIVES, published_file, release_page
from synthdp.cli.shared.jobs import DONE
from synthdp.cli.studio import step_budget as budget
from synthdp.cli.studio import step_columns as columns
from synthdp.cli.studio import step_people as people
from synthdp.cli.studio import step_run as run
from synthdp.cli.studio import step_table as table
from synthdp.cli.studio.guard import MAX_FORM, Guard, form_key, is_form_key
from synthdp.cli.studio.texts import USUAL, Texts, languages, preferred
from synthdp.cli.studio.visit import Studio, Visit
from synthdp.core.errors import SynthdpError
from synthdp.core.message_codes import error_code
from synthdp.release.certificate.meaning import FALSE_POSITIVES
from synthdp.report.rendering.page import TEMPLATES as REPORT_TEMPLATES
from synthdp.report.rendering.page import rendered
from synthdp.schema.questions import ANSWERED_KINDS

TEMPLATES = Path(__file__).parent / "templates"
"""Where the pages' own templates lie."""

PICO = Path(__file__).parent / "pico" / "pico.classless.min.css"
"""Pico CSS 2.1.1 as it was published, under the MIT licence: one file for forms without a build."""

_FRAMED = {"content-security-policy": "sandbox allow-scripts; frame-ancestors 'self'"}
"""A page of a release has a policy of its own, stands in a frame, and can ask the studio nothing."""

_CHOSEN, _COOKIE = "language", "synthdp-studio-language"
"""What a link calls the language that it asks for, and the cookie that keeps it."""

Shown: TypeAlias = Callable[[Visit], dict[str, Any]]
"""What a page shows."""

STEPS: Mapping[str, tuple[Shown, Callable[[Visit], str]]] = {
    "table": (table.table_view, table.save_table),
    "columns": (columns.columns_view, columns.save_columns),
    "people": (people.people_view, people.save_people),
    "budget": (budget.budget_view, budget.save_budget),
    "run": (run.run_view, run.save_run),
    "look": (run.look_view, run.save_look),
    "take": (run.take_view, lambda _: "/take"),
}
"""The walk: what each page shows, and what becomes of its forms."""

PARTS: Mapping[str, tuple[str, Shown]] = {
    "/columns/said": ("said.html", columns.said_of_form),
    "/budget/expected": ("expected.html", budget.expected_view),
    "/run/progress": ("progress.html", run.run_view),
}
"""Parts of pages that are asked for while something is typed, or runs."""


def studio_app(studio: Studio, *, port: int) -> ASGIApp:
    """The application that shows a project, behind its guard."""

    def route(path: str, *methods: str, answer: Callable[[Visit], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            return await _answered(studio, request, answer)

        return Route(path, endpoint, methods=methods)

    def step(visit: Visit, *, name: str) -> Response:
        return (_saved if visit.is_sent else _asked)(visit, name)

    routes = [
        *(route(f"/{name}", "GET", "POST", answer=partial(step, name=name)) for name in STEPS),
        route("/table/upload", "POST", answer=partial(_saved, name="table")),
        *(route(path, "GET", "POST", answer=partial(_part, part=path)) for path in PARTS),
        route("/", "GET", answer=_home),
        route("/look/page", "GET", answer=_framed),
        route("/take/file", "GET", answer=_download),
        *(
            route(f"/take/{name}.zip", "GET", answer=partial(_archive, name=name))
            for name in ARCHIVES
        ),
        Route("/studio.js", lambda _: FileResponse(TEMPLATES / "studio.js")),
        Route("/favicon.ico", lambda _: Response(status_code=204)),  # browsers ask for it unasked
        Route("/studio.css", lambda _: Response(_style(), media_type="text/css")),
    ]
    return Guard(Starlette(routes=routes), token=studio.token, port=port)


async def _answered(
    studio: Studio, request: Request, answer: Callable[[Visit], Response]
) -> Response:
    """An answer from a thread, one after the other, and never with a value of an error."""
    given: ImmutableMultiDict[str, Any] = request.query_params
    is_sent = request.method == "POST"
    accepted = request.headers.get("accept-language", "")
    chosen = (request.query_params.get(_CHOSEN, ""), request.cookies.get(_COOKIE, ""))
    texts = Texts(preferred([*chosen, *accepted.split(",")]))
    if is_sent:
        try:
            given = await request.form(max_fields=100_000, max_part_size=MAX_FORM)
        except OSError:
            return _plain("The file cannot be stored; make room on the disk.", 507)
        if not is_form_key(given.get("key"), studio.token):
            return _plain("This form is of another page, or old; open the page again.", 403)
    form = {name: given.getlist(name) for name in given}

    def locked() -> Response:
        with studio.lock:
            opened = studio.load()
            return answer(
                Visit(studio=studio, opened=opened, texts=texts, form=form, is_sent=is_sent)
            )

    try:
        answered = await run_in_threadpool(locked)
    except SynthdpError as error:
        answered = _plain(str(error), 422)
    except Exception as error:  # its text may hold data
        answered = _plain(f"Internal error ({type(error).__name__}).", 500)
    finally:
        await request.close()
    if _CHOSEN in request.query_params:
        answered.set_cookie(_COOKIE, texts.language, httponly=True, samesite="strict")
    return answered


def _home(visit: Visit) -> Response:
    """Where the walk stands: at a run that goes on, was paused or failed, else after the last step."""
    is_open = visit.project.run and visit.run.state != DONE
    return RedirectResponse(f"/{'run' if is_open else [*STEPS, 'take'][visit.project.walked]}", 303)


def _asked(visit: Visit, name: str) -> Response:
    """A page; after a form that was refused, once, with the reason and what was typed."""
    form, error = visit.studio.refused.pop(visit.text("refused"), (visit.form, None))
    return _page(replace(visit, form=form), name, error=error)


def _page(visit: Visit, name: str, *, error: SynthdpError | None = None) -> Response:
    """A page of the walk, with why something was refused."""
    number = [*STEPS].index(name)
    if number > visit.reached:
        return _home(visit)
    try:
        shown = STEPS[name][0](visit)
    except SynthdpError as missing:
        if name == "table":
            raise
        return _page(visit, "table", error=missing)  # such as a table that is not here
    said = f"{error or ''}"
    language = USUAL
    words = ""
    if isinstance(error, ProjectError):  # which says all in the reader's language
        said = visit.texts(f"no.{error.key}", **error.given)
        language = visit.texts.language
    elif error:
        words = visit.texts.named("error", error_code(error), "")
    view = {
        "step": name,
        "number": number,
        "steps": [*STEPS],
        "reached": visit.reached,
        "name": visit.studio.path.resolve().name,
        "refused": said,
        "refused_words": words,
        "is_typed": error is not None,
        "problem": "",
        "result": {},
        "refused_in": language,
        "may_look": visit.studio.may_look,
        "is_outdated": number >= 4 and is_outdated(visit.opened),
    }
    return _rendered(visit, f"{name}.html", view | shown, 422 if error else 200)


def _part(visit: Visit, part: str) -> Response:
    template, view = PARTS[part]
    return _rendered(visit, template, view(visit))


def _rendered(visit: Visit, template: str, view: Mapping[str, Any], status: int = 200) -> Response:
    common = {
        "t": visit.texts,
        "languages": languages(),
        "key": form_key(visit.studio.token),
        "project": visit.project,
        "sent": visit.texts_of,
        "text": visit.text,
        "wrong": 100 * FALSE_POSITIVES,
    }
    page = rendered(template, {**common, **view}, folder=TEMPLATES, extra="studio")
    return HTMLResponse(page, status)


def _saved(visit: Visit, name: str) -> Response:
    """What a form says is saved, or nothing is; then a page is asked for: nothing is sent twice."""
    try:
        address = STEPS[name][1](visit)
        leads = visit.text("leads")
        return RedirectResponse(f"/{leads}" if leads in STEPS else address, 303)
    except SynthdpError as error:
        number = secrets.token_hex(8)
        visit.studio.refused = {number: (visit.answers, error)}  # of others nobody looks any more
        return RedirectResponse(f"/{name}?refused={number}", 303)


def _framed(visit: Visit) -> Response:
    path = release_page(visit.of_release().opened, visit.text("tab"))
    return FileResponse(path, headers=_FRAMED, media_type="text/html")


def _download(visit: Visit) -> Response:
    path = published_file(visit.of_release().opened, visit.text("name"))
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")


def _archive(visit: Visit, *, name: str) -> Response:
    opened = visit.of_release().opened
    stem = Path(visit.studio.path.resolve().stem).stem
    called = quote(f"{stem}-{opened.run.name if name == 'release' else name}.zip")
    headers = {"content-disposition": f"attachment; filename*=utf-8''{called}"}
    content = ARCHIVES[name](opened)
    return Response(content, media_type="application/zip", headers=headers)


def _style() -> str:
    """Pico's styles and those of reports, what the studio adds, and what a column's kind shows."""
    files = (PICO, REPORT_TEMPLATES / "style.css", TEMPLATES / "studio.css")
    asked = (f".column:has([value={kind}]:checked) .q-{kind}" for kind in ANSWERED_KINDS)
    shown = f".column .q {{ display: none; }} {', '.join(asked)} {{ display: block; }}"
    shown += " .column:not(:has([value=own]:checked)) .own { display: none; }"
    texts = [path.read_text(encoding="utf-8") for path in files]
    return "\n".join([*texts, f"@supports selector(:has(*)) {{ {shown} }}"])


def _plain(text: str, status: int) -> Response:
    return Response(f"{text}\n", status, media_type="text/plain")
