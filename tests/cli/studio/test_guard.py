"""Who may speak to the studio: attacks of other pages, other hosts and forged forms."""

import socket
import sys

import pytest
from helpers.cli_runs import invoke
from helpers.studio import TOKEN, key_and_version, posted, studio_client

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

PAGES = ["/", "/table", "/columns", "/run", "/look/page?tab=publish", "/take/project.zip"]
PAGES += ["/studio.js", "/studio.css", "/run/progress", "/take/file?name=release.synthdp"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "people.csv").write_text("town,age\nA,30\n")
    return tmp_path


@pytest.fixture
def client(place):
    return studio_client(place)[0]


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_shown_without_the_token(client, page):
    client.cookies.clear()
    assert client.get(page).status_code == 403
    assert client.get(page, params={"token": TOKEN + "x"}).status_code == 403
    assert client.get(page, headers={"cookie": "synthdp-studio-8123=x"}).status_code == 403
    assert client.get(page, headers={"cookie": "a=\x00;;=;"}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:8124", "localhost.evil:8123", ""]
)
def test_a_name_that_is_pointed_here_is_refused(client, host):
    assert client.get("/table", headers={"host": host}).status_code == 421
    assert client.post("/table", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8124", "https://127.0.0.1:8123"]
)
def test_another_page_can_neither_ask_nor_change(client, origin):
    assert client.get("/table", headers={"origin": origin}).status_code == 403
    page = client.get("/table").text
    sent = key_and_version(page) | {"action": "choose", "table": "people.csv"}
    assert client.post("/table", data=sent, headers={"origin": origin}).status_code == 403


def test_a_form_without_an_origin_is_refused(client):
    del client.headers["origin"]
    assert client.get("/table").status_code == 200
    assert client.post("/table", data={"action": "choose"}).status_code == 403


def test_what_a_browser_says_of_its_page_is_checked(client):
    for site in ("cross-site", "same-site"):
        assert client.get("/table", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/table", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    visit = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get(f"/?token={TOKEN}", headers=visit, follow_redirects=False).status_code == 303


@pytest.mark.parametrize("key", [None, "", "x" * 64, TOKEN])
def test_a_forged_form_changes_nothing(client, place, key):
    sent = {"version": "0", "action": "choose", "table": "people.csv"}
    sent |= {} if key is None else {"key": key}
    assert client.post("/table", data=sent).status_code == 403
    assert not (place / "people.studio").exists()


def test_the_cookie_is_for_this_server_alone(client):
    visit = client.get(f"/?token={TOKEN}", follow_redirects=False)
    assert "HttpOnly" in visit.headers["set-cookie"]
    assert "SameSite=strict" in visit.headers["set-cookie"]
    assert TOKEN not in visit.headers["location"]


def test_every_answer_says_what_a_page_may_do(client):
    for answer in (client.get("/table"), client.get("/studio.js"), client.get("/none")):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    page = client.get("/table").text
    assert "<script>" not in page
    assert " style=" not in page
    assert " onclick" not in page


@pytest.mark.parametrize(
    "name",
    [
        "../people.csv",
        "/etc/passwd",
        "people.studio/project.json",
        "..",
        "",
        "people.csv/../people.csv",
        "\x00",
    ],
)
def test_no_path_leads_out_of_the_folder(client, place, name):
    (place.parent / "secret.csv").write_text("secret\n1\n")
    answer = posted(client, "/table", action="choose", table=name)
    assert answer.status_code == 422
    assert "root:" not in answer.text
    source = f"duckdb:///../{name}"
    assert posted(client, "/table", action="database", source=source, name="t").status_code == 422
    for kind in ("/take/file", "/look/page"):
        asked = client.get(kind, params={"name": name, "tab": name})
        assert asked.status_code == 422


@pytest.mark.parametrize(
    "source",
    [
        "file:///etc/passwd",
        "sqlite:///x.db",
        "postgres",
        "postgres://a:word@h/d",
        "http://evil.example",
    ],
)
def test_no_other_address_is_opened(client, source):
    assert posted(client, "/table", action="database", source=source, name="t").status_code == 422


@pytest.mark.parametrize("name", ["../x.csv", "/tmp/x.csv", "..\\x.csv", "a/b/x.csv"])
def test_an_upload_stays_in_its_folder(client, place, name):
    page = client.get("/table").text
    sent = key_and_version(page) | {"action": "upload"}
    files = {"file": (name, b"town\nA\n")}
    answer = client.post("/table/upload", data=sent, files=files, follow_redirects=False)
    assert answer.status_code == 303
    assert {path.name for path in place.iterdir()} == {"people.csv", "people.studio", "x.csv"}
    assert not (place.parent / "x.csv").exists()
    assert not any(path.suffix == ".csv" for path in (place / "people.studio").iterdir())
    again = key_and_version(client.get("/table").text) | {"action": "upload"}
    files = {"file": ("people.csv", b"town\nA\n")}
    assert client.post("/table/upload", data=again, files=files).status_code == 422
    assert (place / "people.csv").read_text() == "town,age\nA,30\n"  # nothing is written over


@pytest.mark.parametrize("name", ["x.html", "project.json", ".csv", "x.csv\n", ""])
def test_what_is_no_table_is_not_taken(client, place, name):
    page = client.get("/table").text
    sent = key_and_version(page) | {"action": "upload"}
    answer = client.post("/table/upload", data=sent, files={"file": (name, b"x")})
    assert answer.status_code == 422
    assert not any((place / "people.studio").rglob("x*"))


def test_long_bodies_are_refused_before_they_are_read(client):
    far = {"content-length": str(1 << 40), "content-type": "application/x-www-form-urlencoded"}
    assert client.post("/table", content=b"x", headers=far).status_code == 413
    assert client.post("/table/upload", content=b"x", headers=far).status_code == 413
    endless = (part for part in [b"x"])
    assert client.post("/table", content=endless).status_code == 411


def test_an_error_that_nobody_foresaw_shows_only_its_kind(place, monkeypatch):
    client, studio = studio_client(place)

    def fails():
        raise ValueError("Zanzibar7731")

    monkeypatch.setattr(studio, "load", fails)
    answer = client.get("/table")
    assert (answer.status_code, answer.text) == (500, "Internal error (ValueError).\n")


def test_names_of_columns_are_texts_and_nothing_else(tmp_path):
    name = "<script>alert(1)</script>\"'{{ 7 * 7 }}"
    quoted = name.replace('"', '""')
    (tmp_path / "x.csv").write_text(f'"{quoted}",b\n1,2\n')
    client, _ = studio_client(tmp_path)
    posted(client, "/table", action="choose", table="x.csv")
    posted(
        client, "/table", action="dialect", delimiter=",", encoding="utf-8", mark=".", then="go_on"
    )
    sent = {
        "c0-0.kind": "integer",
        "c0-1.kind": "ignore",
        "c0-0.minimum": "<script>alert(2)</script>",
    }
    pages = [client.get("/table").text, client.get("/columns").text]
    pages += [posted(client, "/columns", action="go_on", **sent).text]
    key = key_and_version(pages[1])
    pages += [client.post("/columns/said", data=key | sent | {"column": name, "id": "c0-0"}).text]
    for page in pages:
        assert "<script>alert" not in page
        assert "49" not in page.partition("alert")[2][:40]
        assert "alert" in page


def test_it_listens_on_the_loopback_only_at_a_free_port_or_the_given_one(place, monkeypatch):
    uvicorn = pytest.importorskip("uvicorn")
    seen = []

    def run(_, sockets):
        (listening,) = sockets
        host, port = listening.getsockname()
        socket.create_connection((host, port), timeout=5).close()
        with pytest.raises(
            ConnectionRefusedError
        ):  # it would be answered if all addresses were listened on
            socket.create_connection(("127.0.0.2", port), timeout=5)
        seen.append((host, port))

    monkeypatch.setattr(uvicorn.Server, "run", run)
    words = ["studio", str(place / "people.csv"), "--no-browser", "--port"]
    ended = invoke(*words, "0")
    (host, port) = seen[0]
    assert host == "127.0.0.1"
    assert ended.out.decode().startswith(f"http://127.0.0.1:{port}/?token=")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = invoke(*words, str(taken.getsockname()[1]))
    assert refused.code != 0
    assert "give another, or 0" in refused.lines[-1]
    assert invoke(*words, "65536").code != 0
    assert len(seen) == 1


@pytest.mark.parametrize("more", [[], ["--no-browser"]])
def test_a_browser_is_opened_at_the_printed_address_unless_nobody_wants_it(
    place, monkeypatch, more
):
    uvicorn = pytest.importorskip("uvicorn")
    opened, started = [], []
    monkeypatch.setattr("subprocess.Popen", lambda words, **_: started.append(words))
    monkeypatch.setattr(uvicorn.Server, "run", lambda _, sockets: sockets[0].close())
    monkeypatch.setattr("webbrowser.open", opened.append)
    ended = invoke("studio", str(place / "people.csv"), "--port", "0", *more)
    assert opened == ([] if more else [ended.out.decode().strip()])
    # beside the questions loops are compiled, by a program that is told of no table
    assert started == [[sys.executable, "-m", "synthdp.cli.shared.first_compile"]]
