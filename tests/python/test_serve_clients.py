"""Latency of the clients of a served drive, compared with the latency of the drive."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from flashmesh.serving.backlog import backlog
from flashmesh.serving.figures import Clients, Figures, requests_in


def test_clients_that_wait_in_the_socket_are_told_with_how_often_the_latency_of_the_drive() -> None:
    clients = Clients(1.0)
    begun = Figures()
    # 36,000 reads per second of 34 us, with 62 waiting in the socket and 2 in the drive: 1.78 ms by Little's law.
    figures = Figures(requests=36_000, bytes=36_000 * 4096, latency_ps=36_000 * 34_000_000, outstanding=2)
    clients.look(figures, 62 * 28, 10.0)
    assert clients.told(0.0, begun, figures) == ""
    clients.look(figures, 62 * 28, 11.0)
    told = clients.told(0.0, begun, figures)
    assert "clients wait about 1.778 ms, 52.3 times the latency of the drive (34.00 us)" in told


def test_clients_that_wait_for_the_drive_alone_are_not_told() -> None:
    clients = Clients(1.0)
    figures = Figures(requests=1_000, latency_ps=1_000 * 1_000_000_000, outstanding=1)
    clients.look(figures, 0, 0.0)
    clients.look(figures, 0, 1.0)
    assert clients.told(0.0, Figures(), figures) == ""
    virtual = Clients(0.0, in_flight_s=1e6)
    assert virtual.told(0.0, Figures(), figures) == ""


def test_unread_bytes_are_requests_with_the_data_of_writes() -> None:
    figures = Figures(requests=10, bytes=40_960)
    assert requests_in(10 * 28, figures) == 10
    assert requests_in(3 * (28 + 4096), figures) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what waits in a socket")
def test_what_waits_in_a_socket_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(path))
        listener.listen()
        client.connect(str(path))
        server, _ = listener.accept()
        with server:
            if backlog(path) is None:
                pytest.skip("this kernel does not tell")
            client.sendall(b"x" * 280)
            assert backlog(path) == 280
            server.recv(28)
            assert backlog(path) == 252
    assert backlog(tmp_path / "other") == 0
