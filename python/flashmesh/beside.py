"""A trace or a named workload beside the jobs of fio: one more stream."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.importers.fio import FioJobs

STREAM = "stream."
OF_STREAMS = ("workload.", "replay.", "queue.")
"""Sections of which each stream has its own."""
JOB = "job"
"""The stream of a job that was alone."""


def with_stream(jobs: FioJobs, kind: str, value: str, reading: Mapping[str, str]) -> FioJobs:
    """Returns the jobs with one more stream.

    Args:
        jobs: The jobs of fio.
        kind: What the stream replays, `trace` or `profile`, which is its name as well.
        value: The path of the trace, or the name of the profile.
        reading: Further keys of `[workload]` for the stream.
    """
    settings, places = in_streams(jobs.settings), in_streams(jobs.places)
    taken = {key.split(".")[1] for key in settings if key.startswith(STREAM)}
    numbered = (f"{kind}-{number}" for number in range(2, len(taken) + 3))
    name = next(each for each in (kind, *numbered) if each not in taken)
    added = {f"{STREAM}{name}.workload.{kind}": json.dumps(value)}
    added |= {f"{STREAM}{name}.workload.{key}": text for key, text in reading.items()}
    return replace(jobs, settings=settings | added, places=places)


def in_streams(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Returns keys of a job that is alone as those of a stream; keys of streams stay as they are."""
    return {f"{STREAM}{JOB}.{key}" if key.startswith(OF_STREAMS) else key: value for key, value in keys.items()}
