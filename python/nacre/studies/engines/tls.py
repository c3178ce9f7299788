"""TLS certificates for a Dask cluster, including the certificate authority."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from nacre.errors import invalid

Place: TypeAlias = str | os.PathLike[str]
Files: TypeAlias = tuple[Place | None, Place | None, Place | None]
"""CA certificate, client certificate, and key, as given by the user."""

SCHEME = "tls://"
_NAMES = ("--tls-ca", "--tls-cert", "--tls-key")


class Tls(NamedTuple):
    """Three PEM files: CA certificate of the cluster, client certificate, and private key."""

    ca: Path
    certificate: Path
    key: Path

    def security(self) -> Any:
        """Returns the certificates as a Dask security object."""
        import distributed

        return distributed.Security(  # type: ignore[no-untyped-call]
            require_encryption=True,
            tls_ca_file=str(self.ca),
            tls_client_cert=str(self.certificate),
            tls_client_key=str(self.key),
        )


def tls_of(
    address: str | None, ca: Place | None, certificate: Place | None, key: Place | None
) -> Tls | None:
    """Returns the certificate files, or None if the user gave none.

    Raises `ConfigError` if files are missing or unusable, or if the address does not use TLS.
    """
    given = (ca, certificate, key)
    if ca is None or certificate is None or key is None:
        if given == (None, None, None):
            return None
        missing = [name for name, place in zip(_NAMES, given, strict=True) if place is None]
        hint = f"give {', '.join(_NAMES)} together"
        raise invalid("missing-setting", missing, "it is missing", hint=hint)
    if address is None:
        problem = "a temporary cluster generates its own keys"
        raise invalid("conflicting-settings", _NAMES[0], problem, hint="give --address, too")
    if not address.startswith(SCHEME):
        problem, hint = "certificates are for TLS only", f"such an address starts with {SCHEME}"
        raise invalid("conflicting-settings", "--address", problem, given=address, hint=hint)
    tls = Tls(Path(ca), Path(certificate), Path(key))
    _check(tls)
    return tls


def _check(tls: Tls) -> None:
    for name, place in zip(_NAMES, tls, strict=True):
        # Reject pipes, because a cluster reads the files more than once.
        if place.exists() and not (place.is_file() or place.is_dir()):
            problem, hint = "it is a pipe, a socket or a device", "give PEM files"
            raise invalid("not-a-file", name, problem, given=str(place), hint=hint)
    try:
        context = ssl.create_default_context(cafile=tls.ca)
    except OSError as error:
        raise _unusable(_NAMES[0], tls.ca, error, "authorities") from None
    for name, place in zip(_NAMES[1:], tls[1:], strict=True):
        try:
            place.open("rb").close()
        except OSError as error:
            raise _unusable(name, place, error, "") from None
    try:
        # Reject a key with a passphrase, because a worker cannot ask for it.
        context.load_cert_chain(tls.certificate, tls.key, password=lambda: "")
    except OSError as error:
        raise _unusable(_NAMES[1], tls.certificate, error, "a certificate and its key") from None


def _unusable(name: str, place: Path, error: OSError, holds: str) -> Exception:
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "unreadable").lower().replace("_", " ")
        problem, hint = f"no {holds.removeprefix('a ')} in it: {reason}", "give PEM files"
    else:
        problem, hint = f"it cannot be read: {error.strerror}", ""
    return invalid("invalid-certificate", name, problem, given=str(place), hint=hint)
