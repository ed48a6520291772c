"""A trace or named workload as an additional stream alongside fio jobs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.importers.fio import FioJobs

STREAM = "stream."
OF_STREAMS = ("workload.", "replay.", "queue.")
"""Sections of a configuration that each named stream can have for itself."""
JOB = "job"
"""Name of the stream of a single fio job that runs alongside another stream."""


def with_stream(jobs: FioJobs, kind: str, value: str, reading: Mapping[str, str]) -> FioJobs:
    """Returns the jobs with an additional stream.

    Args:
        jobs: The jobs of fio.
        kind: The kind of workload, `trace` or `profile`, which becomes the name of the stream.
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
    """Returns configuration keys with those of `OF_STREAMS` moved to the stream `JOB`; other keys stay unchanged."""
    return {f"{STREAM}{JOB}.{key}" if key.startswith(OF_STREAMS) else key: value for key, value in keys.items()}
