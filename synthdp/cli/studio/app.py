"""The studio's pages: which address shows what, and what a form changes.

Pages are forms that the server makes (Jinja): they work without scripts, are read aloud well, and
are tested without a browser. Starlette and uvicorn are small, need no build and nothing from the
net. NiceGUI and Shiny bring a framework of scripts along, FastAPI is for interfaces of data, and
htmx would replace eighty lines of ours.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from synthdp.cli.studio.guard import MAX_FORM, Guard, form_key, is_form_key
from synthdp.cli.studio.projects import ChangedElsewhereError
from synthdp.cli.studio.step_budget import budget_view, expected_view, save_budget
from synthdp.cli.studio.step_columns import columns_view, said_of_form, save_columns
from synthdp.cli.studio.step_look import PAGES, look_view, page_path, save_look
from synthdp.cli.studio.step_people import people_view, save_people
from synthdp.cli.studio.step_run import run_view, save_run
from synthdp.cli.studio.step_table import save_table_step, table_view
from synthdp.cli.studio.step_take import project_archive, published_file, take_view
from synthdp.cli.studio.texts import Texts, languages, preferred
from synthdp.cli.studio.visits import Studio, Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.report.rendering.page import TEMPLATES as REPORT_TEMPLATES
from synthdp.report.rendering.page import rendered

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
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

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
"""What answers requests to an address."""


@final
class Step(NamedTuple):
    """One page of the walk: its name, what it shows, and what becomes of its forms."""

    name: str
    view: Shown
    save: Callable[[Visit], str]


def _keep(_: Visit) -> str:
    """The last page has no form."""
    return "/take"


STEPS = (
    Step("table", table_view, save_table_step),
    Step("columns", columns_view, save_columns),
    Step("people", people_view, save_people),
    Step("budget", budget_view, save_budget),
    Step("run", run_view, save_run),
    Step("look", look_view, save_look),
    Step("take", take_view, _keep),
)
"""The walk."""

PARTS: Mapping[str, tuple[str, Shown]] = {
    "/columns/said": ("said.html", said_of_form),
    "/budget/expected": ("expected.html", expected_view),
    "/run/progress": ("progress.html", run_view),
}
"""Parts of pages that are asked for while something is typed, or runs."""


def studio_app(studio: Studio, *, port: int) -> ASGIApp:
    """The application that shows a project, behind its guard."""
    pages = _Pages(studio)
    routes = [
        Route(f"/{each.name}", pages.of_step(each), methods=["GET", "POST"]) for each in STEPS
    ]
    routes += [Route("/table/upload", pages.of_step(STEPS[0]), methods=["POST"])]
    routes += [
        Route(
            path, pages.given(partial(_part, template=template, view=view)), methods=["GET", "POST"]
        )
        for path, (template, view) in PARTS.items()
    ]
    routes += [
        Route("/", pages.given(_home)),
        Route("/language", pages.given(_in_language), methods=["POST"]),
        Route("/look/page", pages.given(_framed)),
        Route("/take/file", pages.given(_download)),
        Route("/take/project.zip", pages.given(_archive)),
        Route("/studio.js", lambda _: FileResponse(TEMPLATES / "studio.js")),
        Route("/studio.css", lambda _: Response(_style(), media_type="text/css")),
    ]
    return Guard(Starlette(routes=routes), token=studio.token, port=port)


@final
class _Pages:
    """Answers requests in threads, one after the other, and never with a value of an error."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def given(self, answer: Callable[[Visit], Response]) -> Endpoint:
        """What answers requests by what they send."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, answer)

        return endpoint

    def of_step(self, step: Step) -> Endpoint:
        """What shows a step, and saves its forms."""

        async def endpoint(request: Request) -> Response:
            answer = _saved if request.method == "POST" else _page
            return await self._answered(request, lambda visit: answer(visit, step))

        return endpoint

    async def _answered(self, request: Request, answer: Callable[[Visit], Response]) -> Response:
        form: Mapping[str, Any] = request.query_params
        if request.method == "POST":
            try:
                form = await request.form(max_fields=100_000, max_part_size=MAX_FORM)
            except (HTTPException, MultiPartException):
                return _plain("The form cannot be read.", 400)
            except OSError:
                return _plain("The file cannot be stored; make room on the disk.", 507)
            if not is_form_key(form.get("key"), self._studio.token):
                return _plain("This form is of another page, or old; open the page again.", 403)
        texts = Texts(_language(request))
        try:
            return await run_in_threadpool(self._locked, texts, form, answer)
        except Exception as error:  # its text may hold data
            return _plain(f"Internal error ({type(error).__name__}).", 500)
        finally:
            await request.close()

    def _locked(
        self, texts: Texts, form: Mapping[str, Any], answer: Callable[[Visit], Response]
    ) -> Response:
        with self._studio.lock:
            try:
                project = self._studio.folder.load()
                visit = Visit(studio=self._studio, project=project, texts=texts, form=form)
                return answer(visit)
            except SynthdpError as error:
                return _plain(str(error), 422)


def _home(visit: Visit) -> Response:
    step = STEPS[min(visit.project.walked, len(STEPS) - 1)]
    return RedirectResponse(f"/{step.name}", 303)


def _page(visit: Visit, step: Step, *, problem: str = "", status: int = 200) -> Response:
    """A page of the walk; what was refused is shown with the reason, and stays typed."""
    number = STEPS.index(step)
    if number > visit.project.walked:
        return _home(visit)
    view = {
        "step": step.name,
        "number": number,
        "steps": [each.name for each in STEPS],
        "project": visit.project,
        "name": visit.folder.path.resolve().name,
        "refused": problem,
        "may_look": visit.studio.may_look,
        **_common(visit),
        **step.view(visit),
    }
    return HTMLResponse(_rendered(f"{step.name}.html", view), status)


def _part(visit: Visit, template: str, view: Shown) -> Response:
    return HTMLResponse(_rendered(template, _common(visit) | view(visit)))


def _common(visit: Visit) -> dict[str, Any]:
    return {
        "t": visit.texts,
        "languages": languages(),
        "key": form_key(visit.studio.token),
        "version": visit.project.version,
    }


def _saved(visit: Visit, step: Step) -> Response:
    """What a form says is saved, and its page shown anew; or nothing is, and the page says why."""
    try:
        return RedirectResponse(step.save(visit), 303)
    except ChangedElsewhereError:
        return _again(visit, step, visit.texts("changed_elsewhere"), 409)
    except SynthdpError as error:
        return _again(visit, step, str(error), 422)


def _again(visit: Visit, step: Step, problem: str, status: int) -> Response:
    studio, form = visit.studio, {} if status == 409 else visit.form
    project = studio.folder.load()
    visit = Visit(studio=studio, project=project, texts=visit.texts, form=form)
    return _page(visit, step, problem=problem, status=status)


def _in_language(visit: Visit) -> Response:
    language, step = visit.text("language"), visit.text("step")
    known = step in {each.name for each in STEPS}
    answer = RedirectResponse(f"/{step}" if known else "/", 303)
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
    name = 'attachment; filename="project.zip"'
    return Response(
        project_archive(visit), media_type="application/zip", headers={"content-disposition": name}
    )


def _language(request: Request) -> str:
    chosen = request.cookies.get(_LANGUAGE, "")
    accepted = request.headers.get("accept-language", "")
    return chosen if chosen in languages() else preferred(accepted)


def _style() -> str:
    """The styles of reports, and what the studio adds."""
    folders = (REPORT_TEMPLATES / "style.css", TEMPLATES / "studio.css")
    return "\n".join(path.read_text(encoding="utf-8") for path in folders)


def _rendered(template: str, view: Mapping[str, Any]) -> str:
    return rendered(template, view, folder=TEMPLATES, extra="studio")


def _plain(text: str, status: int) -> Response:
    return Response(f"{text}\n", status, media_type="text/plain")
