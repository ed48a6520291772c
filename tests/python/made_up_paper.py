"""An invented paper with two claims."""

from __future__ import annotations

from pathlib import Path

from flashmesh.reproduce.registry.paper import Paper
from flashmesh.reproduce.registry.reader import read_paper

MADE_UP = """
title = "A paper"
cite = "Made up"
overview = "Nothing of it is true."

[regimes.as-specified]
says = "As it is."

[regimes.slow]
says = "With a slow link."
supports = "It fits."
against = "It is not said."
set = { host.link-rate = "1GB/s" }
where.system.bus = { fabric.hold-path = true }

[axes.system]
bus = { fabric.kind = "bus" }
ideal = { fabric.kind = "ideal" }

[jobs.runs]
config = "preset:venice-z-nand"
axes = ["system"]
workloads = ["hm_0", "proj_3"]
quick = { requests = 200, seeds = [0, 1] }

[evidence.busy]
job = "runs"
measure = "100 * utilisation.links_mean"
of = { system = "bus" }
digits = 1
unit = "%"

[[claims]]
id = "A1"
figure = "Figure 1a"
says = "gain"
kind = "ratio"
published = 2.0
unit = "x"
job = "runs"
measure = "makespan_ps"
compute = "speedup"
of = { system = "ideal" }
over = { system = "bus" }
why = "Channels are busy {busy} of the time."

[[claims]]
id = "A2"
figure = "Figure 1b"
says = "order"
kind = "order"
shown = "yes"
why = "It is so."
[[claims.trends]]
job = "runs"
measure = "makespan_ps"
axis = "system"
labels = ["ideal", "bus"]
relation = "rises"
"""


def written(folder: Path, text: str) -> Paper:
    path = folder / "made-up.toml"
    path.write_text(text)
    return read_paper(path)
