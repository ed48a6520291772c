"""Output of `flashmesh serve`: statistics while a drive is served, and the result of a probe."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from flashmesh.cli.output import stdout
from flashmesh.cli.progress import watched
from flashmesh.report import quantities as q
from flashmesh.report.terminal import Terminal
from flashmesh.serving.backlog import backlog
from flashmesh.serving.figures import LATE, Clients, Figures, behind, rates
from flashmesh.serving.probe import SHARE, SLACK_US, probe, way_ns
from flashmesh.serving.server import Server

if TYPE_CHECKING:
    from rich.live import Live

    from flashmesh._native import Config
    from flashmesh.results import Result
    from flashmesh.serving.probe import Probed
    from flashmesh.serving.server import Settings

SHOW_S = 0.5
"""Seconds between two updates on a terminal."""
TELL_S = 10.0
"""Seconds between two lines without a terminal, and between two warnings that the drive is slower than real time."""
LATE_SHARE = 0.01
"""Share of late replies since the last warning above which the drive counts as slower than real time."""


class Display:
    """Output on stderr while a drive is served."""

    def __init__(self, is_quiet: bool) -> None:
        """Prepares a live line on a terminal, occasional lines without a terminal, or no output if quiet."""
        self.is_quiet = is_quiet
        self.line = None if is_quiet or not watched(sys.stderr) else in_place()
        self.shown, self.shown_at = Figures(), time.monotonic()
        self.warned, self.warned_at = Figures(), time.monotonic()
        self.clients = Clients(0.0)
        self.in_flight_s = 0.0

    def say(self, text: str) -> None:
        """Prints a sentence above the live line."""
        if self.is_quiet:
            return
        if self.line is not None:
            self.line.console.print(text, markup=False, soft_wrap=True)
        else:
            click.echo(text, err=True)

    def begin(self, server: Server, config: str) -> None:
        """Prints how clients can connect."""
        settings = server.settings
        self.clients = Clients(settings.time_scale)
        way = f", less {q.time(settings.ahead_ns * 1000)} of transport" if settings.ahead_ns else ""
        pace = "virtual time"
        if settings.time_scale:
            scaled = "" if settings.time_scale == 1 else f" times {settings.time_scale:g}"
            pace = f"real time{scaled}{way}"
        kept = f"data in {settings.data}" if settings.data is not None else "data in memory"
        self.say(f"serving {q.size(server.figures.size)} of {config} in {pace}; {kept}")
        self.say(f"nbd+unix:///?socket={settings.socket}   (Ctrl-C ends it and prints the report)")
        if self.line is not None:
            self.line.start()

    def show(self, server: Server) -> None:
        """Prints statistics on the requests since the last update; warns if the drive is slower than real time."""
        now, figures = time.monotonic(), server.figures
        self.clients.look(figures, backlog(server.settings.socket.absolute()) or 0, now)
        if self.line is not None or (now - self.shown_at >= TELL_S and figures.requests > self.shown.requests):
            text = rates(self.shown, figures, now - self.shown_at)
            told = self.clients.told(self.in_flight_s, self.shown, figures)
            text, self.in_flight_s = f"{text}  {told}".rstrip(), self.clients.in_flight_s
            if self.line is not None:
                self.line.update(text)
            else:
                self.say(text)
            self.shown, self.shown_at = figures, now
        late, requests = figures.late - self.warned.late, figures.requests - self.warned.requests
        is_first = self.warned.late == 0
        if late > LATE_SHARE * max(requests, 100) and (is_first or now - self.warned_at >= TELL_S):
            self.say(behind(self.warned, figures, server.late_max_us, server.settings.time_scale))
            self.warned, self.warned_at = figures, now
            server.late_max_us = 0

    def stop(self) -> None:
        """Removes the live line, so that other output can follow."""
        if self.line is not None:
            self.line.stop()

    def end(self, server: Server) -> None:
        """Prints how many requests were answered late, over the whole time, if the drive ran in real time."""
        figures = server.figures
        if server.settings.time_scale and figures.requests:
            share = q.share(figures.late / figures.requests)
            self.say(f"{figures.late:,} of {figures.requests:,} requests ({share}) were answered {LATE}")
            told = self.clients.told(0.0, Figures(), figures)
            if told:
                self.say(f"over all requests {told}")


def in_place() -> Live:
    """Returns a new live line for a terminal."""
    from rich.live import Live

    from flashmesh.report.terminal import PrintableConsole
    from flashmesh.texts.printable import unguarded

    console = PrintableConsole(file=unguarded(sys.stderr), highlight=False)
    return Live(console=console, refresh_per_second=4, transient=True)


def served(config: Config, name: str, settings: Settings, is_quiet: bool) -> Result:
    """Serves a drive until a signal ends the process, and returns the result of the served requests."""
    display = Display(is_quiet)
    if settings.time_scale:
        settings = replace(settings, ahead_ns=way_ns(settings.queue_depth, display.say))
    with Server(config, settings, display.say) as server:
        try:
            display.begin(server, name)
            while True:
                server.watch(SHOW_S)
                server.require_serving()
                display.show(server)
        except KeyboardInterrupt:
            # A server normally ends by a signal.
            pass
        finally:
            display.stop()
        result = server.stop()
        display.end(server)
    return result


def show_probe(config: Config, queue_depth: int, is_quiet: bool) -> int:
    """Measures and prints the smallest drive latency that can be served in real time; returns the exit code."""
    found = probe(config, queue_depth, Display(is_quiet).say)
    with stdout() as stream:
        terminal = Terminal(stream)
        table = terminal.table("latency of the drive", "client p50", "client p99", "holds", left=0)
        for step in found.steps:
            table.add_row(
                *(us(value) for value in (step.target_us, step.p50_us, step.p99_us)), "yes" if step.holds else "no"
            )
        terminal.print(table)
        stream.write("\n")
        stream.writelines(f"{line}\n" for line in conclusions(found))
    return 0


def us(value: float) -> str:
    """Returns a time in microseconds."""
    return q.time(value * 1e6)


def conclusions(found: Probed) -> list[str]:
    """Returns the results of a probe, in sentences."""
    rule = f"the median at the client, at queue depth 1, is within {SHARE * 100:.0f} % + {us(SLACK_US)} of the latency"
    way = f"If the drive answers at once, a request takes {us(found.way.p50_us)} (p99 {us(found.way.p99_us)})."
    if found.lowest_us is None:
        return [
            f"Real time does not hold for drive latencies up to {us(found.steps[-1].target_us)}. It holds if {rule}.",
            way,
        ]
    return [f"Real time holds for drive latencies from {us(found.lowest_us)} on: {rule}.", way]
