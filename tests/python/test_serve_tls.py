"""Tests encrypted connections with generated certificates."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from nbd_client import GO, Client, OptionError
from serving import NACRE, Server, needs, run, scenario


def authority(folder: Path, name: str) -> tuple[Path, Path]:
    """Creates a self-signed CA. Returns the paths of its certificate and its key."""
    openssl = needs("openssl", "openssl")
    certificate, key = folder / f"{name}-cert.pem", folder / f"{name}-key.pem"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    where: list[str | Path] = ["-keyout", key, "-out", certificate, "-subj", f"/CN={name}"]
    run([openssl, "req", "-x509", *made, *where])
    return certificate, key


def signed(folder: Path, name: str, by: tuple[Path, Path]) -> None:
    """Creates a certificate for this machine, signed by a CA: `NAME-cert.pem` and
    `NAME-key.pem`."""
    openssl = needs("openssl", "openssl")
    request, extensions = folder / f"{name}.csr", folder / f"{name}.ext"
    extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    made: list[str | Path] = [
        "-keyout",
        folder / f"{name}-key.pem",
        "-out",
        request,
        "-subj",
        "/CN=localhost",
    ]
    run([openssl, "req", *key, *made])
    ca: list[str | Path] = [
        "-CA",
        by[0],
        "-CAkey",
        by[1],
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        extensions,
    ]
    run([openssl, "x509", "-req", "-in", request, "-out", folder / f"{name}-cert.pem", *ca])


@pytest.fixture(scope="module")
def certificates(folder: Path) -> Path:
    """Creates a folder of certificates with the names that nbdkit, QEMU, and libnbd use. Also
    creates a client certificate of a foreign CA."""
    own = authority(folder, "ca")
    signed(folder, "server", own)
    signed(folder, "client", own)
    stranger = folder / "stranger"
    stranger.mkdir()
    other = authority(stranger, "other")
    signed(stranger, "client", other)
    (stranger / "ca-cert.pem").write_bytes((folder / "ca-cert.pem").read_bytes())
    return folder


def listen(server: Server, folder: Path) -> str:
    """Returns a URI with which libnbd uses the certificates in a folder."""
    separator = "&" if "?" in server.uri else "?"
    return f"{server.uri}{separator}tls-certificates={folder}"


def test_clients_with_a_certificate_copy_over_tls(certificates: Path, tmp_path: Path) -> None:
    nbdinfo, nbdcopy = needs("nbdinfo", "libnbd-bin"), needs("nbdcopy", "libnbd-bin")
    server = Server(
        tmp_path, "--timing", "none", "--tls", str(certificates), "--listen", "tcp:127.0.0.1:0"
    )
    try:
        assert server.uri.startswith("nbds://127.0.0.1:")
        uri = listen(server, certificates).replace("127.0.0.1", "localhost")
        assert "TLS" in run([nbdinfo, uri]).splitlines()[0]
        data = bytes(range(256)) * 4096 * 8
        (tmp_path / "data").write_bytes(data)
        run([nbdcopy, tmp_path / "data", uri])
        run([nbdcopy, uri, tmp_path / "back"])
        with (tmp_path / "back").open("rb") as back:
            assert back.read(len(data)) == data
        for other in (certificates / "stranger", tmp_path):
            done = subprocess.run(
                [nbdinfo, listen(server, other)], capture_output=True, timeout=120, check=False
            )
            assert done.returncode != 0, "a stranger was let in"
        run([nbdinfo, uri])
    finally:
        server.close()


def test_qemu_reads_and_writes_a_timed_device_over_tls(certificates: Path, tmp_path: Path) -> None:
    qemu = needs("qemu-io", "qemu-utils")
    device = scenario(tmp_path, latency="1 ms")
    server = Server(
        tmp_path, "--tls", str(certificates), "--listen", "tcp:127.0.0.1:0", device=device
    )
    try:
        port = server.uri.rsplit(":", 1)[1].split("/")[0]
        objects = f"tls-creds-x509,id=tls0,dir={certificates},endpoint=client"
        image = f"driver=nbd,host=localhost,port={port},export=disk"
        image += ",tls-creds=tls0,tls-hostname=localhost"
        steps = ["write -P 5 0 1M", "flush", "read -P 5 0 1M", "aio_read 0 64k", "aio_read 64k 64k"]
        commands = [part for step in steps for part in ("-c", step)]
        said = run([qemu, "--object", objects, "--image-opts", *commands, image])
        assert "failed" not in said, said
    finally:
        server.close()


def test_several_devices_are_served_over_tls_each_by_its_name(
    certificates: Path, tmp_path: Path
) -> None:
    nbdinfo, nbdcopy = needs("nbdinfo", "libnbd-bin"), needs("nbdcopy", "libnbd-bin")
    other = tmp_path / "other"
    other.mkdir()
    second = scenario(other, mib=8, latency="20 us")
    server = Server(
        tmp_path,
        *("--tls", str(certificates), "--listen", "tcp:127.0.0.1:0"),
        *("--export", f"second={second}:{other / 'second.img'}"),
    )
    try:
        first, uri = (
            f"{uri.replace('127.0.0.1', 'localhost')}?tls-certificates={certificates}"
            for uri in server.uris
        )
        said = run([nbdinfo, "--list", first])
        assert 'export="disk"' in said
        assert 'export="second"' in said
        data = bytes(range(256)) * 4096
        (tmp_path / "data").write_bytes(data)
        run([nbdcopy, tmp_path / "data", uri])
        for place, expected in ((uri, data), (first, bytes(len(data)))):
            run([nbdcopy, place, tmp_path / "back"])
            with (tmp_path / "back").open("rb") as back:
                assert back.read(len(data)) == expected
        unknown = subprocess.run(
            [nbdinfo, uri.replace("/second", "/third")],
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert unknown.returncode != 0
    finally:
        server.close()


def test_a_client_without_encryption_receives_no_data(certificates: Path, tmp_path: Path) -> None:
    server = Server(tmp_path, "--timing", "none", "--tls", str(certificates))
    try:
        plain = server.uri.replace("nbds+unix", "nbd+unix")
        with pytest.raises(OptionError) as refused:
            Client(plain)
        assert refused.value.kind == 1 << 31 | 5
        client = Client(plain, structured=False, go=False)
        with pytest.raises(OptionError):
            client.option(GO, bytes(6))
        with pytest.raises(OptionError):
            client.exports()
        client.close()
    finally:
        server.close()


def test_remote_addresses_require_certificates(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="--tls"):
        Server(tmp_path, "--timing", "none", "--listen", "tcp:0.0.0.0:0")


def test_a_folder_without_certificates_is_named(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"server-cert\.pem"):
        Server(tmp_path, "--timing", "none", "--tls", str(tmp_path))


def test_clients_are_rejected_if_their_authority_cannot_be_read(
    certificates: Path, tmp_path: Path
) -> None:
    for leads_to in ("nowhere", "ca-cert.pem", ""):
        folder = tmp_path / (leads_to or "folder")
        folder.mkdir()
        for name in ("server-cert.pem", "server-key.pem"):
            (folder / name).write_bytes((certificates / name).read_bytes())
        authority_of_clients = folder / "ca-cert.pem"
        if leads_to:
            authority_of_clients.symlink_to(leads_to)
        else:
            authority_of_clients.mkdir()
        options = ["--tls", str(folder), "--listen", "tcp:127.0.0.1:0", "--timing", "none"]
        image = folder / "disk.img"
        command = [str(NACRE), "serve", str(scenario(folder)), str(image), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 2, done.stdout
        assert f"tls: {authority_of_clients}: " in done.stderr
        assert not image.exists()


def test_certificates_must_be_files_not_pipes(tmp_path: Path) -> None:
    for name in ("server-cert.pem", "server-key.pem", "ca-cert.pem"):
        folder = tmp_path / name
        folder.mkdir()
        signed(folder, "server", authority(folder, "ca"))
        (folder / name).unlink()
        os.mkfifo(folder / name)
        image = str(tmp_path / "a.img")
        command = [str(NACRE), "serve", str(scenario(tmp_path)), image, "--tls", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 2, done.stdout
        assert f"{name}: it is not a file" in done.stderr
    assert not (tmp_path / "a.img").exists()
