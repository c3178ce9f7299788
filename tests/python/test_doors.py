"""Tests that commands listen only on the addresses that docs/security.md lists."""

from __future__ import annotations

import signal
import stat
import subprocess
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from exploring import Server as Explorer
from listening import listening, sockets
from nacre.base import toml
from serving import NACRE, Server, scenario, until

STUDY = {
    "scenario": {
        "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 10**12},
        "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
    },
    "axis": [{"path": "stack.read", "values": ["1 us", "2 us"]}],
}


def test_a_server_listens_on_unix_sockets_next_to_its_image(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        assert server.process is not None
        assert listening(server.process.pid) == []
        served, control = Path(f"{server.image}.sock"), Path(f"{server.image}.ctl")
        assert sockets(server.process.pid) == {served, control}
        assert stat.S_IMODE(control.stat().st_mode) == 0o600
    finally:
        server.close()


def test_a_server_listens_only_on_the_given_ports(tmp_path: Path) -> None:
    ports = ("--listen", "tcp:127.0.0.1:0", "--metrics", "tcp:127.0.0.1:0", "--timing", "none")
    server = Server(tmp_path, *ports, "--export", f"other={scenario(tmp_path)}:other.img")
    try:
        assert server.process is not None
        hosts = [host for host, _ in listening(server.process.pid)]
        assert hosts == ["127.0.0.1", "127.0.0.1"]
        assert sockets(server.process.pid) == {Path(f"{server.image}.ctl")}
    finally:
        server.close()


def test_metrics_are_not_served_under_the_name_of_another_site(tmp_path: Path) -> None:
    ports = ("--metrics", "tcp:127.0.0.1:0", "--timing", "none")
    server = Server(tmp_path, *ports)
    try:
        address = urlsplit(server.metrics).netloc
        port = address.rpartition(":")[2]
        named = {address: 200, f"localhost:{port}": 200, f"evil.example:{port}": 403, "": 403}
        for host, status in named.items():
            connection = HTTPConnection(address, timeout=120)
            connection.request("GET", "/metrics", headers={"Host": host})
            answer = connection.getresponse()
            assert answer.status == status, host
            assert (b"nacre_" in answer.read()) == (status == 200)
            connection.close()
    finally:
        server.close()


def test_a_server_without_encryption_is_local(tmp_path: Path) -> None:
    command = [str(NACRE), "serve", str(scenario(tmp_path)), "a.img", "--listen", "tcp:0.0.0.0:0"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2, done.stdout
    assert "is reachable from other machines" in done.stderr


def test_a_local_study_does_not_listen(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(toml.document(STUDY))
    process = subprocess.Popen([NACRE, "study", file], cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        until(lambda: len(psutil.Process(process.pid).children(recursive=True)) >= 1)
        assert listening(process.pid) == []
        assert sockets(process.pid) == set()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_the_explorer_listens_only_on_a_local_port(tmp_path: Path) -> None:
    explorer = Explorer(tmp_path)
    try:
        port = int(explorer.base.rpartition(":")[2])
        assert listening(explorer.process.pid) == [("127.0.0.1", port)]
        assert sockets(explorer.process.pid) == set()
    finally:
        explorer.close()
