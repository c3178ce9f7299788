"""Tests that only the run that starts a temporary Dask cluster can use it, and that studies can use
other clusters with certificates."""

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import distributed
import nacre
import pytest
from listening import listening
from nacre.base import toml
from nacre.errors import ConfigError
from nacre.studies.engines.cluster import _quiet
from nacre.studies.engines.local import cores
from nacre.studies.engines.own_cluster import LOOPBACK, start
from refusing import fails_with
from serving import NACRE

STUDY: dict[str, Any] = {
    "scenario": {
        "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 100},
        "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
    },
    "axis": [{"path": "stack.read", "values": ["1 us", "2 us", "3 us"]}],
}


class Running(NamedTuple):
    """The temporary cluster, and the sockets on which it listens."""

    address: str
    keys: Any
    doors: list[tuple[str, int]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Running]:
    before = set(listening())
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        address, keys = start(stack)
        client: Any = distributed.Client(  # type: ignore[no-untyped-call]
            address, security=keys, set_as_default=False
        )
        with client:
            client.wait_for_workers(cores(), timeout=60)
        yield Running(address, keys, [door for door in listening() if door not in before])


@pytest.fixture(scope="module")
def pems(cluster: Running, folder: Path) -> tuple[Path, Path, Path]:
    return _written(cluster.keys, folder)


def _written(keys: Any, folder: Path) -> tuple[Path, Path, Path]:
    files = (folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    texts = (keys.tls_ca_file, keys.tls_client_cert, keys.tls_client_key)
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


def test_a_temporary_cluster_listens_only_on_loopback(cluster: Running) -> None:
    assert {host for host, _ in cluster.doors} == {LOOPBACK}
    assert len(cluster.doors) == 1 + 2 * cores(), "the scheduler, workers and their nannies"


def test_clients_without_a_certificate_of_the_run_are_rejected(
    cluster: Running, tmp_path: Path
) -> None:
    strangers = [ssl.create_default_context(), ssl.create_default_context()]
    others = distributed.Security.temporary()  # type: ignore[no-untyped-call]
    _, certificate, key = _written(others, tmp_path)
    strangers[1].load_cert_chain(certificate, key)
    for port in [port for _, port in cluster.doors]:
        for stranger in strangers:
            stranger.check_hostname = False
            stranger.verify_mode = ssl.CERT_NONE
            with (
                socket.create_connection((LOOPBACK, port), timeout=120) as plain,
                pytest.raises(ssl.SSLError, match=r"alert (certificate required|unknown ca)"),
                stranger.wrap_socket(plain) as encrypted,
            ):
                encrypted.recv(1)


def test_our_certificates_are_sent_to_a_cluster_that_requires_them(
    cluster: Running, pems: tuple[Path, Path, Path]
) -> None:
    there = nacre.study(STUDY, engine="dask", address=cluster.address, tls=pems)
    assert there.table.equals(nacre.study(STUDY, workers=1).table)
    with pytest.raises(ConfigError, match=r"requires certificates, given tls://.*; give --tls-ca"):
        nacre.study(STUDY, engine="dask", address=cluster.address)


def test_unusable_certificates_are_reported_before_any_run(
    cluster: Running, pems: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    ca, certificate, key = pems
    other = tmp_path / "other.pem"
    other.write_text("not a certificate")
    missing = tmp_path / "missing.pem"
    for tls, told in {
        (ca, None, key): "--tls-cert: it is missing; give --tls-ca, --tls-cert, --tls-key together",
        (missing, certificate, key): "--tls-ca: it cannot be read: No such file",
        (ca, missing, key): "--tls-cert: it cannot be read: No such file",
        (ca, certificate, missing): "--tls-key: it cannot be read: No such file",
        (other, certificate, key): "--tls-ca: no authorities in it: no certificate",
        (ca, certificate, other): "--tls-cert: no certificate and its key in it: ",
    }.items():
        with pytest.raises(ConfigError, match=told):
            nacre.study(STUDY, engine="dask", address=cluster.address, tls=tls)
    for address, told in {
        None: "--tls-ca: a temporary cluster generates its own keys",
        "tcp://127.0.0.1:1": "--address: certificates are for TLS only, given tcp://",
    }.items():
        with pytest.raises(ConfigError, match=told):
            nacre.study(STUDY, engine="dask", address=address, tls=pems)
    with fails_with("conflicting-settings", ConfigError):
        nacre.study(STUDY, tls=pems)


def test_a_tls_cluster_without_certificates_is_rejected_in_one_line(tmp_path: Path) -> None:
    """Missing certificates are reported before a connection is attempted, so the test needs no
    server."""
    document = tmp_path / "study.toml"
    document.write_text(toml.document(STUDY))
    done = subprocess.run(
        [NACRE, "study", document, "--engine", "dask", "--address", "tls://127.0.0.1:9"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines() == [
        "error: --address: the cluster requires certificates, given tls://127.0.0.1:9;"
        " give --tls-ca, --tls-cert and --tls-key"
    ]
