"""Drives to run Python policies on, and the parts of their reports to compare."""

from __future__ import annotations

from typing import Any

import flashmesh
from conftest import ROOT

DRIVE: dict[str, Any] = {
    "geometry": {
        "channels": 2,
        "chips-per-channel": 2,
        "blocks-per-plane": 64,
        "pages-per-block": 32,
        "over-provisioning": 0.2,
    },
    "precondition": {"kind": "random"},
    "measure": {"warm-up": "none"},
    "workload": {"requests": 4_000, "read-share": 0.4, "request-size": "8KiB"},
    "replay": {"outstanding": 16},
}
EMPTY: dict[str, Any] = DRIVE | {"precondition": {"kind": "none"}}
OF_THE_MACHINE = ("wall_s", "requests_per_wall_s", "peak_rss_bytes", "config_hash", "configuration", "provenance")
BUS: dict[str, Any] = {
    "fabric": {"channel-rate": "300MB/s"},
    "workload": {"requests": 5_000},
    "replay": {"outstanding": 256},
}
COPIES: dict[str, Any] = {
    "replication": {"enabled": True},
    "workload": {"requests": 20_000, "footprint": "2MiB", "pattern": "hot-stride", "hot-traffic": 1.0},
    "replay": {"outstanding": 16},
}
EXAMPLES = ROOT / "examples" / "policies"


def report(result: flashmesh.Result) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key not in OF_THE_MACHINE}
