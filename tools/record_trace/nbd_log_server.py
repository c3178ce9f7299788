"""An NBD server that logs every request.

It serves one sparse image file on a Unix socket, with fixed newstyle negotiation and simple
replies. For each request, it writes one CSV line:

    timestamp_us,op,offset,length

`timestamp_us` is the time in microseconds at which the header of the request was read, relative to
the start of the log. The clock is monotonic. `op` is read, write, flush, or trim. A flush has
offset and length 0. WRITE_ZEROES is logged as a trim if the client allows a hole, otherwise as a
write.

The signal USR1 starts an empty log, USR2 stops and closes the log, and TERM or INT ends the server.
With --paused, the server logs nothing until USR1.

Without --fsync, the reply to a flush is immediate. The image is a temporary file, and the log
should show the order and spacing of requests, not the speed of the host's disk.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO, Final

NBD_MAGIC: Final = 0x4E42444D41474943
OPTION_MAGIC: Final = 0x49484156454F5054
OPTION_REPLY_MAGIC: Final = 0x0003E889045565A9
REQUEST_MAGIC: Final = 0x25609513
SIMPLE_REPLY_MAGIC: Final = 0x67446698

FLAG_FIXED_NEWSTYLE: Final = 1
FLAG_NO_ZEROES: Final = 2

OPT_EXPORT_NAME: Final = 1
OPT_ABORT: Final = 2
OPT_LIST: Final = 3
OPT_INFO: Final = 6
OPT_GO: Final = 7

REP_ACK: Final = 1
REP_SERVER: Final = 2
REP_INFO: Final = 3
REP_ERR_UNSUPPORTED: Final = 0x80000001
REP_ERR_INVALID: Final = 0x80000003
REP_ERR_UNKNOWN: Final = 0x80000006

INFO_EXPORT: Final = 0
INFO_BLOCK_SIZE: Final = 3

CMD_READ: Final = 0
CMD_WRITE: Final = 1
CMD_DISCONNECT: Final = 2
CMD_FLUSH: Final = 3
CMD_TRIM: Final = 4
CMD_WRITE_ZEROES: Final = 6
CMD_FLAG_NO_HOLE: Final = 2

# The flags mean: has flags, flush, trim, write zeroes, several connections may share the export.
TRANSMISSION_FLAGS: Final = 1 | 4 | 32 | 64 | 256

MAX_OPTION_LENGTH: Final = 64 * 1024
MAX_PAYLOAD: Final = 32 * 1024 * 1024
LINES_PER_WRITE: Final = 8192

FALLOC_FL_KEEP_SIZE: Final = 1
FALLOC_FL_PUNCH_HOLE: Final = 2


class ProtocolError(Exception):
    """The client violated the protocol."""


class RequestLog:
    """A CSV file of requests. Lines are buffered before they are written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._file: BinaryIO | None = None
        self._start_ns = 0

    def start(self) -> None:
        """Starts an empty log at time zero."""
        with self._lock:
            self._close()
            self._file = self._path.open("wb", buffering=0)
            self._file.write(b"timestamp_us,op,offset,length\n")
            self._start_ns = time.monotonic_ns()

    def stop(self) -> None:
        """Writes buffered lines, and closes the file."""
        with self._lock:
            self._close()

    def add(self, op: str, offset: int, length: int) -> None:
        """Logs one request, which arrives now."""
        # Read the clock while the lock is held, so that times are in order.
        with self._lock:
            if self._file is None:
                return
            now_us = (time.monotonic_ns() - self._start_ns) // 1000
            self._lines.append(f"{now_us},{op},{offset},{length}\n")
            if len(self._lines) >= LINES_PER_WRITE:
                self._write_lines(self._file)

    def _write_lines(self, file: BinaryIO) -> None:
        file.write("".join(self._lines).encode("ascii"))
        self._lines.clear()

    def _close(self) -> None:
        if self._file is not None:
            self._write_lines(self._file)
            self._file.close()
            self._file = None


class Image:
    """The image of the disk, which is a sparse file."""

    def __init__(self, path: Path, size: int, *, fsync: bool) -> None:
        self.size = size
        self._fsync = fsync
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._fd, size)
        libc = ctypes.CDLL(None, use_errno=True)
        self._fallocate = libc.fallocate
        self._fallocate.argtypes = [
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int64,
            ctypes.c_int64,
        ]
        self._fallocate.restype = ctypes.c_int

    def read(self, offset: int, length: int) -> bytes:
        """Reads `length` bytes at an offset."""
        data = os.pread(self._fd, length, offset)
        if len(data) != length:
            raise OSError(errno.EIO, "short read of the image")
        return data

    def write(self, offset: int, data: bytes) -> None:
        """Writes bytes at an offset."""
        if os.pwrite(self._fd, data, offset) != len(data):
            raise OSError(errno.EIO, "short write of the image")

    def clear(self, offset: int, length: int) -> None:
        """Punches a hole, which reads as zeros."""
        if length == 0:
            return
        mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
        if self._fallocate(self._fd, mode, offset, length) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def flush(self) -> None:
        """Makes writes durable, if --fsync is given."""
        if self._fsync:
            os.fdatasync(self._fd)


class Connection:
    """The connection of one client."""

    def __init__(self, sock: socket.socket, image: Image, log: RequestLog, name: bytes) -> None:
        self._sock = sock
        self._input = sock.makefile("rb")
        self._image = image
        self._log = log
        self._name = name

    def serve(self) -> None:
        """Negotiates, and then serves requests until the client disconnects."""
        try:
            if self._negotiate():
                while self._answer_request():
                    pass
        except (EOFError, ConnectionError):
            pass
        except ProtocolError as error:
            sys.stderr.write(f"nbd_log_server: {error}\n")
        finally:
            self._input.close()
            self._sock.close()

    def _receive(self, length: int) -> bytes:
        data = self._input.read(length)
        if len(data) != length:
            raise EOFError
        return data

    def _negotiate(self) -> bool:
        """Negotiates the export. Returns False if the client aborts."""
        offered = FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES
        self._sock.sendall(struct.pack(">QQH", NBD_MAGIC, OPTION_MAGIC, offered))
        (client_flags,) = struct.unpack(">I", self._receive(4))
        if client_flags & ~offered:
            raise ProtocolError(f"unknown client flags {client_flags:#x}")
        while True:
            magic, option, length = struct.unpack(">QII", self._receive(16))
            if magic != OPTION_MAGIC or length > MAX_OPTION_LENGTH:
                raise ProtocolError("bad option header")
            data = self._receive(length)
            if option == OPT_EXPORT_NAME:
                if not self._knows(data):
                    raise ProtocolError(f"no export named {data!r}")
                reply = struct.pack(">QH", self._image.size, TRANSMISSION_FLAGS)
                if not client_flags & FLAG_NO_ZEROES:
                    reply += bytes(124)
                self._sock.sendall(reply)
                return True
            if option == OPT_ABORT:
                self._reply_option(option, REP_ACK)
                return False
            if option == OPT_LIST:
                self._list_exports(data)
            elif option in (OPT_INFO, OPT_GO):
                if self._describe_export(option, data) and option == OPT_GO:
                    return True
            else:
                self._reply_option(option, REP_ERR_UNSUPPORTED)

    def _knows(self, name: bytes) -> bool:
        return name in (b"", self._name)

    def _reply_option(self, option: int, kind: int, data: bytes = b"") -> None:
        header = struct.pack(">QIII", OPTION_REPLY_MAGIC, option, kind, len(data))
        self._sock.sendall(header + data)

    def _list_exports(self, data: bytes) -> None:
        if data:
            self._reply_option(OPT_LIST, REP_ERR_INVALID)
            return
        entry = struct.pack(">I", len(self._name)) + self._name
        self._reply_option(OPT_LIST, REP_SERVER, entry)
        self._reply_option(OPT_LIST, REP_ACK)

    def _describe_export(self, option: int, data: bytes) -> bool:
        if len(data) < 6:
            self._reply_option(option, REP_ERR_INVALID)
            return False
        (name_length,) = struct.unpack_from(">I", data)
        if len(data) < 6 + name_length:
            self._reply_option(option, REP_ERR_INVALID)
            return False
        (count,) = struct.unpack_from(">H", data, 4 + name_length)
        if len(data) != 6 + name_length + 2 * count:
            self._reply_option(option, REP_ERR_INVALID)
            return False
        if not self._knows(data[4 : 4 + name_length]):
            self._reply_option(option, REP_ERR_UNKNOWN)
            return False
        export = struct.pack(">HQH", INFO_EXPORT, self._image.size, TRANSMISSION_FLAGS)
        self._reply_option(option, REP_INFO, export)
        sizes = struct.pack(">HIII", INFO_BLOCK_SIZE, 1, 4096, MAX_PAYLOAD)
        self._reply_option(option, REP_INFO, sizes)
        self._reply_option(option, REP_ACK)
        return True

    def _answer_request(self) -> bool:
        """Serves one request. Returns False if it is a disconnect request."""
        magic, flags, command, cookie, offset, length = struct.unpack(">IHHQQI", self._receive(28))
        if magic != REQUEST_MAGIC:
            raise ProtocolError("bad request magic")
        if command == CMD_DISCONNECT:
            return False
        if command in (CMD_READ, CMD_WRITE) and length > MAX_PAYLOAD:
            raise ProtocolError(f"payload of {length} bytes is too large")

        op = _log_name(command, flags)
        fits = offset + length <= self._image.size
        if op is not None and fits:
            self._log.add(op, offset, length)
        payload = self._receive(length) if command == CMD_WRITE else b""

        error = 0
        result = b""
        if op is None:
            error = errno.EINVAL
        elif not fits:
            error = errno.ENOSPC if op == "write" else errno.EINVAL
        else:
            try:
                result = self._carry_out(command, offset, length, payload)
            except OSError as problem:
                error = _nbd_error(problem.errno)
        header = struct.pack(">IIQ", SIMPLE_REPLY_MAGIC, error, cookie)
        self._sock.sendall(header + result)
        return True

    def _carry_out(self, command: int, offset: int, length: int, payload: bytes) -> bytes:
        if command == CMD_READ:
            return self._image.read(offset, length)
        if command == CMD_WRITE:
            self._image.write(offset, payload)
        elif command == CMD_FLUSH:
            self._image.flush()
        else:
            self._image.clear(offset, length)
        return b""


def _log_name(command: int, flags: int) -> str | None:
    """Returns the name of a command in the log, or None for an unknown command."""
    if command == CMD_WRITE_ZEROES:
        return "write" if flags & CMD_FLAG_NO_HOLE else "trim"
    names = {
        CMD_READ: "read",
        CMD_WRITE: "write",
        CMD_FLUSH: "flush",
        CMD_TRIM: "trim",
    }
    return names.get(command)


def _nbd_error(number: int | None) -> int:
    """Returns the protocol's number for an error. The protocol has only a few error numbers."""
    if number in (errno.ENOSPC, errno.EDQUOT):
        return errno.ENOSPC
    return number if number in (errno.EPERM, errno.ENOMEM) else errno.EIO


def _accept_clients(listener: socket.socket, image: Image, log: RequestLog, name: bytes) -> None:
    while True:
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        connection = Connection(sock, image, log, name)
        threading.Thread(target=connection.serve, daemon=True).start()


def _parse_size(text: str) -> int:
    units = {"K": 10, "M": 20, "G": 30}
    unit = text[-1:].upper()
    size = int(text[:-1]) << units[unit] if unit in units else int(text)
    if size <= 0 or size % 4096:
        raise ValueError("not a positive multiple of 4096")
    return size


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Serve an image file over NBD and log every request as CSV."
    )
    parser.add_argument("--socket", type=Path, required=True, help="Unix socket")
    parser.add_argument("--image", type=Path, required=True, help="image file")
    parser.add_argument("--size", type=_parse_size, required=True, help="bytes, or with K, M, or G")
    parser.add_argument("--log", type=Path, required=True, help="CSV file to write")
    parser.add_argument("--name", default="disk", help="name of the export")
    parser.add_argument("--paused", action="store_true", help="log nothing until the signal USR1")
    parser.add_argument("--fsync", action="store_true", help="flush to the host's disk")
    return parser.parse_args()


def main() -> None:
    """Serves until a signal stops the server."""
    arguments = _parse_arguments()
    # Block the signals before any thread starts, so that only sigwait receives them.
    signals = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    image = Image(arguments.image, arguments.size, fsync=arguments.fsync)
    log = RequestLog(arguments.log)
    if not arguments.paused:
        log.start()

    arguments.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(arguments.socket))
    listener.listen(16)
    threading.Thread(
        target=_accept_clients,
        args=(listener, image, log, arguments.name.encode()),
        daemon=True,
    ).start()

    while True:
        received = signal.sigwait(signals)
        if received == signal.SIGUSR1:
            log.start()
        elif received == signal.SIGUSR2:
            log.stop()
        else:
            break
    log.stop()
    listener.close()
    arguments.socket.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
