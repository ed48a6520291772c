"""Unread bytes in a Unix socket, as the netlink interface of Linux reports them."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOCK_DIAG = 4
"""Netlink family for socket diagnostics."""
BY_FAMILY = 20
DUMP = 0x301
"""Netlink flags of a request for information on all sockets."""
CONNECTED = 1 << 1
SHOW_NAME, SHOW_QUEUES = 1 << 0, 1 << 4
NAME, QUEUES = 0, 4
HEADER, MESSAGE = struct.Struct("=IHHII"), struct.Struct("=BBBBIII")
DONE, ERROR = 3, 2
ANSWER_MAX = 1 << 16
WAIT_S = 0.2


def backlog(path: Path) -> int | None:
    """Returns the bytes that clients have sent to a socket and its server has not read; None if unknown."""
    if not hasattr(socket, "AF_NETLINK"):
        return None
    request = struct.pack(
        "=BBHIIIII", socket.AF_UNIX, 0, 0, CONNECTED, 0, SHOW_NAME | SHOW_QUEUES, 2**32 - 1, 2**32 - 1
    )
    header = HEADER.pack(HEADER.size + len(request), BY_FAMILY, DUMP, 1, 0)
    wanted, found = str(path).encode(), 0
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as channel:
            channel.settimeout(WAIT_S)
            channel.send(header + request)
            while True:
                for kind, body in messages(channel.recv(ANSWER_MAX)):
                    if kind == DONE:
                        return found
                    if kind == ERROR:
                        return None
                    told = dict(attributes(body[MESSAGE.size :]))
                    if told.get(NAME, b"").rstrip(b"\0") == wanted and len(told.get(QUEUES, b"")) == 8:
                        found += struct.unpack("=II", told[QUEUES])[0]
    except (OSError, struct.error):
        return None


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the (kind, body) of each message in a netlink datagram."""
    while len(data) >= HEADER.size:
        length, kind, *_ = HEADER.unpack_from(data)
        if length < HEADER.size:
            return
        yield kind, data[HEADER.size : length]
        data = data[(length + 3) & ~3 :]


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the (kind, value) of each attribute of a netlink message."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            return
        yield kind, data[4:length]
        data = data[(length + 3) & ~3 :]
