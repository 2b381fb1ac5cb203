"""The studio's pages: which address shows what, and what a form changes.

Pages are forms that the server makes (Jinja): they work without scripts, are read aloud well, and
are tested without a browser. Starlette and uvicorn are small, need no build and nothing from the
net. NiceGUI and Shiny bring a framework of scripts along, FastAPI is for interfaces of data, and
htmx would replace eighty lines of ours.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from synthdp.cli.studio.guard import MAX_FORM, Guard, form_key, is_form_key
from synthdp.cli.studio.project import ChangedElsewhereError, Studio, Visit
from synthdp.cli.studio.step_budget import budget_view, expected_view, save_budget
from synthdp.cli.studio.step_columns import columns_view, said_of_form, save_columns
from synthdp.cli.studio.step_end import (
    PAGES,
    look_view,
    page_path,
    project_archive,
    published_file,
    save_look,
    take_view,
)
from synthdp.cli.studio.step_people import people_view, save_people
from synthdp.cli.studio.step_run import run_view, save_run
from synthdp.cli.studio.step_table import save_table_step, table_view
from synthdp.cli.studio.texts import Texts, languages, preferred
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.report.rendering.page import TEMPLATES as REPORT_TEMPLATES
from synthdp.report.rendering.page import rendered

TEMPLATES = Path(__file__).parent / "templates"
"""Where the pages' own templates lie."""

_FRAMED = {
    "content-security-policy": "sandbox allow-scripts; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
}
"""A page of a release has a policy of its own, is shown in a frame, and can ask the studio nothing."""

_LANGUAGE = "synthdp-studio-language"
"""The cookie of the language that was chosen."""

Shown: TypeAlias = Callable[[Visit], dict[str, Any]]
"""What a page shows."""


STEPS: Mapping[str, tuple[Shown, Callable[[Visit], str]]] = {
    "table": (table_view, save_table_step),
    "columns": (columns_view, save_columns),
    "people": (people_view, save_people),
    "budget": (budget_view, save_budget),
    "run": (run_view, save_run),
    "look": (look_view, save_look),
    "take": (take_view, lambda _: "/take"),
}
"""The walk: what each page shows, and what becomes of its forms."""

PARTS: Mapping[str, tuple[str, Shown]] = {
    "/columns/said": ("said.html", said_of_form),
    "/budget/expected": ("expected.html", expected_view),
    "/run/progress": ("progress.html", run_view),
}
"""Parts of pages that are asked for while something is typed, or runs."""


def studio_app(studio: Studio, *, port: int) -> ASGIApp:
    """The application that shows a project, behind its guard."""

    def route(path: str, *methods: str, answer: Callable[[Visit], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            return await _answered(studio, request, answer)

        return Route(path, endpoint, methods=methods)

    def step(visit: Visit, *, name: str) -> Response:
        return (_saved if visit.is_sent else _page)(visit, name)

    routes = [
        *(route(f"/{name}", "GET", "POST", answer=partial(step, name=name)) for name in STEPS),
        route("/table/upload", "POST", answer=partial(_saved, name="table")),
        *(route(path, "GET", "POST", answer=partial(_part, part=path)) for path in PARTS),
        route("/", "GET", answer=_home),
        route("/language", "POST", answer=_in_language),
        route("/look/page", "GET", answer=_framed),
        route("/take/file", "GET", answer=_download),
        route("/take/project.zip", "GET", answer=_archive),
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
    if is_sent:
        try:
            given = await request.form(max_fields=100_000, max_part_size=MAX_FORM)
        except (HTTPException, MultiPartException):
            return _plain("The form cannot be read.", 400)
        except OSError:
            return _plain("The file cannot be stored; make room on the disk.", 507)
        if not is_form_key(given.get("key"), studio.token):
            return _plain("This form is of another page, or old; open the page again.", 403)
    form = {name: given.getlist(name) for name in given}
    texts = Texts(_language(request))

    def locked() -> Response:
        with studio.lock:
            try:
                project = studio.folder.load()
                visit = Visit(studio=studio, project=project, texts=texts, form=form)
                return answer(replace(visit, is_sent=is_sent))
            except SynthdpError as error:
                return _plain(str(error), 422)

    try:
        return await run_in_threadpool(locked)
    except Exception as error:  # its text may hold data
        return _plain(f"Internal error ({type(error).__name__}).", 500)
    finally:
        await request.close()


def _home(visit: Visit) -> Response:
    return RedirectResponse(f"/{[*STEPS, 'take'][visit.project.walked]}", 303)


def _page(visit: Visit, name: str, *, problem: str = "", status: int = 200) -> Response:
    """A page of the walk; what was refused is shown with the reason, and stays typed."""
    number = [*STEPS].index(name)
    if number > visit.project.walked:
        return _home(visit)
    view = {
        "step": name,
        "number": number,
        "steps": [*STEPS],
        "project": visit.project,
        "name": visit.folder.path.resolve().name,
        "refused": problem,
        "may_look": visit.studio.may_look,
    }
    shown, _ = STEPS[name]
    return _rendered(visit, f"{name}.html", view | shown(visit), status)


def _part(visit: Visit, part: str) -> Response:
    template, view = PARTS[part]
    return _rendered(visit, template, view(visit))


def _rendered(visit: Visit, template: str, view: Mapping[str, Any], status: int = 200) -> Response:
    common = {
        "t": visit.texts,
        "languages": languages(),
        "key": form_key(visit.studio.token),
        "version": visit.project.version,
    }
    page = rendered(template, {**common, **view}, folder=TEMPLATES, extra="studio")
    return HTMLResponse(page, status)


def _saved(visit: Visit, name: str) -> Response:
    """What a form says is saved, and its page shown anew; or nothing is, and the page says why."""
    try:
        return RedirectResponse(STEPS[name][1](visit), 303)
    except ChangedElsewhereError:
        problem, status, visit = visit.texts("changed_elsewhere"), 409, replace(visit, form={})
    except SynthdpError as error:
        problem, status = str(error), 422
    visit = replace(visit, project=visit.folder.load())
    return _page(visit, name, problem=problem, status=status)


def _in_language(visit: Visit) -> Response:
    language, step = visit.text("language"), visit.text("step")
    answer = RedirectResponse(f"/{step}" if step in STEPS else "/", 303)
    if language in languages():
        answer.set_cookie(_LANGUAGE, language, httponly=True, samesite="strict")
    return answer


def _framed(visit: Visit) -> Response:
    tab = visit.text("tab")
    if tab not in PAGES or not page_path(visit, tab).exists():
        raise ParameterError("there is no such page yet")
    return FileResponse(page_path(visit, tab), headers=_FRAMED, media_type="text/html")


def _download(visit: Visit) -> Response:
    path = published_file(visit, visit.text("name"))
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")


def _archive(visit: Visit) -> Response:
    headers = {"content-disposition": 'attachment; filename="project.zip"'}
    return Response(project_archive(visit), media_type="application/zip", headers=headers)


def _language(request: Request) -> str:
    chosen = request.cookies.get(_LANGUAGE, "")
    accepted = request.headers.get("accept-language", "")
    return chosen if chosen in languages() else preferred(accepted)


def _style() -> str:
    """The styles of reports, and what the studio adds."""
    folders = (REPORT_TEMPLATES / "style.css", TEMPLATES / "studio.css")
    return "\n".join(path.read_text(encoding="utf-8") for path in folders)


def _plain(text: str, status: int) -> Response:
    return Response(f"{text}\n", status, media_type="text/plain")
