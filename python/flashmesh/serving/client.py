"""NBD client with one connection and one request at a time, for timing round trips without a system library."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import closing
from typing import TYPE_CHECKING

from flashmesh._native import InternalError

if TYPE_CHECKING:
    from pathlib import Path

# The NBD protocol, https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
GREETING = b"NBDMAGICIHAVEOPT"
FIXED_NEWSTYLE_NO_ZEROES = 3
OPT_EXPORT_NAME = 1
REQUEST = 0x25609513
REPLY = 0x67446698
CMD_READ = 0
TIMEOUT_S = 30.0


def connected(path: Path) -> socket.socket:
    """Connects to the export without a name, and completes the handshake.

    Raises:
        InternalError: If the listener is not an NBD server.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(TIMEOUT_S)
    connection.connect(str(path))
    greeting = received(connection, 18)
    if greeting[:16] != GREETING:
        raise InternalError(f"{path}: no NBD server answers")
    connection.sendall(struct.pack(">I8sII", FIXED_NEWSTYLE_NO_ZEROES, GREETING[8:], OPT_EXPORT_NAME, 0))
    received(connection, 10)
    return connection


def received(connection: socket.socket, count: int) -> bytes:
    """Receives exactly `count` bytes.

    Raises:
        InternalError: If the server closes the connection.
    """
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise InternalError("the NBD server closed the connection")
        data += piece
    return data


def read_latencies(path: Path, offsets: list[int], size: int) -> list[int]:
    """Reads at each offset, one after another, and returns the latency of each read in nanoseconds."""
    latencies = []
    answer = bytearray(16 + size)
    view = memoryview(answer)
    with closing(connected(path)) as connection:
        # A timeout would cost an extra system call for each read.
        connection.settimeout(None)
        for handle, offset in enumerate(offsets):
            request = struct.pack(">IHHQQI", REQUEST, 0, CMD_READ, handle, offset, size)
            begin = time.perf_counter_ns()
            connection.sendall(request)
            got = connection.recv_into(answer)
            while 0 < got < len(answer):
                more = connection.recv_into(view[got:])
                if more == 0:
                    break
                got += more
            latencies.append(time.perf_counter_ns() - begin)
            magic, error, answered = struct.unpack_from(">IIQ", answer)
            if got < len(answer) or (magic, error, answered) != (REPLY, 0, handle):
                raise InternalError("the NBD server did not answer a read")
    return latencies
