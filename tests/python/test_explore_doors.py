"""Tests the access control of the explorer."""

from __future__ import annotations

import http.client
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from exploring import ENDLESS, HOST, Client, Server, client
from serving import until


@pytest.fixture(scope="module")
def inside(folder: Path) -> Iterator[Client]:
    with client(folder) as made:
        yield made


@pytest.mark.parametrize("token", ["", "Bearer ", "Bearer wrong", "sesame", "Bearer sesame2"])
def test_without_the_token_no_data_is_returned(inside: Client, token: str) -> None:
    answer = inside.get("/api/about", headers={"authorization": token})
    assert answer.status_code == 401
    assert "nacre explore printed" in answer.json()["error"]


def test_another_name_for_this_machine_is_rejected(inside: Client) -> None:
    for host in ("attacker.example:8000", "127.0.0.1:8001", "127.0.0.1", ""):
        assert inside.get("/design", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://attacker.example", "null", f"https://{HOST}"])
def test_pages_of_other_sites_are_rejected(inside: Client, origin: str) -> None:
    answer = inside.post("/api/runs", json={}, headers={"origin": origin})
    assert answer.status_code == 403
    assert inside.get("/api/about", headers={"origin": f"http://{HOST}"}).status_code == 200


def test_embedding_by_another_site_is_rejected_but_links_work(inside: Client) -> None:
    embedded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert inside.get("/static/main.js", headers=embedded).status_code == 403
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert inside.get("/design", headers=followed).status_code == 200
    assert inside.get("/api/about", headers=followed).status_code == 403


def test_pages_load_nothing_from_other_sites(inside: Client) -> None:
    headers = inside.get("/design").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/api/runs/..%2f..%2fetc",
        "/api/runs/..",
        "/api/runs/.hidden",
        "/api/runs/%00",
        "/api/runs/link",
        "/api/runs/link/report",
        "//etc/passwd",
    ],
)
def test_no_path_leaves_the_folder(inside: Client, path: str, tmp_path: Path) -> None:
    home = inside.explorer.folder.root / "runs"
    home.mkdir(exist_ok=True)
    if not (home / "link").is_symlink():
        (home / "link").symlink_to(tmp_path)
    answer = inside.get(path, follow_redirects=False)
    assert answer.status_code in (404, 400)


def test_a_request_body_must_be_a_json_object_of_limited_size(inside: Client) -> None:
    assert inside.post("/api/runs", content=b"{}").status_code == 422
    typed = {"content-type": "application/json"}
    for content in (b"[1]", b"{", b"[" * 100_000, b"\xff"):
        assert inside.post("/api/runs", content=content, headers=typed).status_code == 422
    large = inside.post("/api/runs", content=b" " * (2 << 20), headers=typed)
    assert large.status_code == 413
    assert inside.post("/api/runs", json={"tree": 3}).json()["problems"][0]["path"] == "tree"


def test_missing_items_are_reported(inside: Client) -> None:
    for path in ("/nothing", "/api/nothing", "/api/jobs/99", "/api/runs/ssd-1"):
        answer = inside.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]


def ask(server: Server, method: str, path: str, document: object = None) -> object:
    """Sends a request to a server. Returns the response."""
    connection = http.client.HTTPConnection(urlsplit(server.base).netloc, timeout=120)
    headers = {"authorization": f"Bearer {server.token}", "content-type": "application/json"}
    connection.request(method, path, json.dumps(document), headers)
    answer = connection.getresponse()
    found = answer.read()
    connection.close()
    assert answer.status == 200, found
    return json.loads(found)


def leave(server: Server, said: bytes) -> None:
    """Sends a request, and disconnects before the response."""
    with socket.create_connection(("127.0.0.1", urlsplit(server.base).port or 0)) as connection:
        connection.sendall(said)


def test_an_explorer_that_ends_keeps_finished_results(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        ask(server, "POST", "/api/runs", {"tree": ENDLESS})
        until(lambda: ask(server, "GET", "/api/jobs")[0]["done"] > 0)  # type: ignore[index]
        leave(server, b"\x16\x03 no request\r\n\r\n")
        head = f"PUT /api/traces/cut.csv HTTP/1.1\r\nHost: {urlsplit(server.base).netloc}\r\n"
        head += f"Authorization: Bearer {server.token}\r\nContent-Length: 1000\r\n\r\n"
        leave(server, f"{head}timestamp".encode())
        status, complaint = server.end(signal.SIGINT)
        assert (status, complaint) == (0, "")
    finally:
        server.close()
    record = json.loads((tmp_path / "explored" / "runs" / "endless-1" / "record.json").read_text())
    assert not record["complete"]
    assert list((tmp_path / "explored" / "traces").glob("*")) == []
    assert record["requests"]["completed"] > 0


def test_a_file_instead_of_a_folder_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    with pytest.raises(AssertionError, match="--out: results is a file"):
        Server(tmp_path, "--out", "results")


def test_an_unavailable_port_is_a_user_error(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        port = server.base.rpartition(":")[2]
        with pytest.raises(AssertionError, match="cannot listen on it: Address already in"):
            Server(tmp_path, "--port", port)
    finally:
        server.close()
