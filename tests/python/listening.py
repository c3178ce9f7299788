"""Where the processes of a test listen."""

import psutil


def listening(pid: int | None = None) -> list[tuple[str, int]]:
    """Host and port of every socket that this process, or `pid`, and its children listen on."""
    root = psutil.Process(pid)
    return [
        (connection.laddr.ip, connection.laddr.port)
        for process in (root, *root.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
