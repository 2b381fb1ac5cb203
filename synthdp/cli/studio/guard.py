"""Who may speak to the studio: the browser of the person who started it, and no page elsewhere.

Any page that a browser shows can send requests to 127.0.0.1. So each request has to name this
server as its host (a name that somebody else's server points here is refused), come from a page of
this server, and bring the secret that stood in the address which was printed.
"""

import hmac
from hashlib import sha256
from typing import final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
"""The only address that the studio listens on."""

MAX_FORM = 8 << 20
"""Bytes of a form: many columns, or a long code book."""

MAX_UPLOAD = 2 << 30
"""Bytes of a table that is given in the page; larger ones lie in the folder beforehand."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, nothing inline is run, and no other page frames this one."""

HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
"""What every answer says, unless it says otherwise itself."""


@final
class Guard:
    """Refuses what does not come from the steward's own pages, before anything else is done.

    Parameters
    ----------
    app
        What answers the others.
    token
        The secret in the address.
    port
        Where the studio listens.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"synthdp-studio-{port}"
        self._hosts = (f"{LOOPBACK}:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; no socket is ever opened."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._refused(Request(scope)) or self._app)(scope, receive, with_headers)

    def _refused(self, request: Request) -> ASGIApp | None:
        """What is answered in place of the page; None if all is well."""
        headers = request.headers
        given = request.query_params.get("token")
        if headers.get("host") not in self._hosts:
            return _refusal(421, "This address is not the studio's; open the one that it printed.")
        is_read = request.method in ("GET", "HEAD")
        own = [f"http://{each}" for each in self._hosts]
        # Following the printed address from a mail or a terminal is a visit, not a request.
        is_visit = is_read and headers.get("sec-fetch-mode") == "navigate" and given is not None
        is_near = headers.get("sec-fetch-site", "none") in ("same-origin", "none") or is_visit
        if not is_near or headers.get("origin", own[0] if is_read else "") not in own:
            return _refusal(403, "This request comes from another page.")
        if is_read and request.scope["path"] == "/" and given is not None and self._is_token(given):
            visit = RedirectResponse("/", 303)
            visit.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            return visit
        if not self._is_token(request.cookies.get(self._cookie, "")):
            return _refusal(403, "Open the whole address that the studio printed, with its token.")
        return None if is_read else _refused_length(request)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def form_key(token: str) -> str:
    """What each form holds besides: no other page knows it, nor can it tell the token from it."""
    return hmac.new(token.encode(), b"form", sha256).hexdigest()


def is_form_key(given: object, token: str) -> bool:
    """Whether a form came from a page of this studio."""
    return isinstance(given, str) and hmac.compare_digest(given.encode(), form_key(token).encode())


def _refused_length(request: Request) -> ASGIApp | None:
    """Refuse a body whose length is not said, or which is too long, before it is read."""
    length = request.headers.get("content-length", "")
    most = MAX_UPLOAD if request.scope["path"] == "/table/upload" else MAX_FORM
    if not (length.isascii() and length.isdigit()):
        return _refusal(411, "The length of the form is not said.")
    if int(length) > most:
        return _refusal(413, f"That is too long; at most {most >> 20} MiB can be sent.")
    return None


def _refusal(status: int, why: str) -> ASGIApp:
    return PlainTextResponse(f"{why}\n", status, {"connection": "close"})
