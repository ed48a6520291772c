"""Execution of a task up to the JSON of its result; all executors use it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh.installation.states import tell_notes
from flashmesh.policies.attach import attach
from flashmesh.provenance import with_provenance
from flashmesh.results import Result
from flashmesh.running.fairness import fairness as compare_streams
from flashmesh.running.steady import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.sweeps.tasks import Task


class Cancelled(Exception):  # noqa: N818 - a cancellation is not an error
    """Exception for a run that was cancelled before its simulation began."""


def simulate(
    task: Task,
    control: _native.Control,
    drives: _native.PreparedDrives,
    on_open: Callable[[str | None], None] | None = None,
) -> str:
    """Runs a task, and returns its JSON result as text.

    Args:
        task: The task.
        control: Reports the progress of the run, and can cancel it.
        drives: The cache of preconditioned drives.
        on_open: Called before the run with the summary of its trace, or None.

    Raises:
        FlashmeshError: If the run fails.
        Cancelled: If the run was cancelled while its drive was being prepared.
    """

    def run(config: _native.Config) -> str:
        simulation = _native.Simulation(config, None, drives, control)
        tell_notes(drives)
        attach(simulation, config)
        if task.check:
            simulation.enable_checks()
        if control.cancelled:
            raise Cancelled
        if on_open is not None:
            on_open(simulation.trace_summary())
        return simulation.run(control)

    report, config = extended(task, run, control)
    if not task.fairness:
        return with_provenance(report, config, "null")
    together = Result.from_json(with_provenance(report, config), "")
    return with_provenance(report, config, fairness(task, together, control, drives))


def extended(task: Task, run: Callable[[_native.Config], str], control: _native.Control) -> tuple[str, _native.Config]:
    """Runs the configuration of a task once, or with more and more requests until it is steady (`Task.until_steady`).

    Returns:
        The report of the last try, and its configuration. If the run is cancelled, the try with the most requests, of
        the last finished one and the cancelled one.

    Raises:
        Cancelled: If the run was cancelled before the first try began.
    """
    if task.until_steady is None:
        return run(task.config), task.config
    tries: list[tuple[str, _native.Config]] = []

    def attempt(config: _native.Config) -> str:
        report = run(config)
        tries.append((report, config))
        return report

    try:
        last = settled(task.config, task.until_steady, attempt, json.loads)
    except Cancelled:
        if not tries:
            raise
        return tries[-1]
    return max(tries, key=lambda found: int(json.loads(found[0])["requests"])) if control.cancelled else last


def fairness(task: Task, together: Result, control: _native.Control, drives: _native.PreparedDrives) -> str:
    """Runs each stream alone, until it is steady if the task asks for that; returns all slowdowns as JSON.

    `together` is the run of all streams. Returns `null` if the run was cancelled.
    """
    streams = len(task.config.stream_names())
    if streams == 1:
        return json.dumps(asdict(compare_streams(together, [together])))

    def alone(index: int) -> Result:
        def run(config: _native.Config) -> str:
            if control.cancelled:
                raise Cancelled
            simulation = _native.Simulation(config, index, drives)
            attach(simulation, config)
            if task.check:
                simulation.enable_checks()
            return simulation.run(_native.Control())

        report, config = extended(task, run, control)
        return Result.from_json(with_provenance(report, config), "")

    try:
        results = [alone(index) for index in range(streams)]
    except Cancelled:
        return "null"
    return "null" if control.cancelled else json.dumps(asdict(compare_streams(together, results)))
