"""Examples in the help of each command; `flashmesh examples` copies the files that they name."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "flashmesh run preset:samsung-pm9a3 --set workload.read-share=70%",
        "flashmesh compare preset:venice-z-nand --vary fabric.kind=bus,venice",
    ),
    "ask": (
        "flashmesh ask preset:venice-z-nand --set workload.requests=20k",
        "flashmesh ask examples/venice.toml --key fabric.kind --measure p99",
    ),
    "bundle": (
        "flashmesh bundle results.json -o artefact.zip",
        "flashmesh bundle sweep.results comparison.json -o artefact.zip",
    ),
    "cache": (
        "flashmesh cache",
        "flashmesh cache clear --older-than 30d",
    ),
    "cache clear": (
        "flashmesh cache clear",
        "flashmesh cache clear --older-than 30d",
    ),
    "calibrate": (
        "flashmesh calibrate examples/calibrate/measured.csv --facts examples/calibrate/facts.toml -o drive.toml",
        "flashmesh calibrate load-*.json --facts facts.toml -o drive.toml --budget 30",
        "flashmesh calibrate --data-sheet sheet.csv --facts facts.toml -o drive.toml",
    ),
    "collisions": (
        "flashmesh collisions --trace examples/traces/shop.csv.xz",
        "flashmesh collisions preset:collisions --profile hm_0 -o collisions.json",
    ),
    "compare": (
        "flashmesh compare examples/demo.toml --vary fabric.kind=bus,venice,ideal -o results.json",
        "flashmesh compare preset:venice-z-nand --vary replay.outstanding=1,16,64 --measure p99",
    ),
    "completion": (
        "flashmesh completion fish > ~/.config/fish/completions/flashmesh.fish",
        'eval "$(flashmesh completion bash)"',
    ),
    "config": (
        "flashmesh config preset:samsung-pm9a3",
        "flashmesh config diff preset:samsung-pm9a3 preset:venice-z-nand",
    ),
    "config diff": (
        "flashmesh config diff preset:samsung-pm9a3 preset:venice-z-nand",
        "flashmesh config diff drive.toml results.json -o differences.json",
    ),
    "config print": (
        "flashmesh config print preset:samsung-pm9a3",
        "flashmesh config print examples/demo.toml --set fabric.kind=venice",
    ),
    "doctor": (
        "flashmesh doctor",
        "flashmesh doctor --json | jq .works",
    ),
    "examples": (
        "flashmesh examples",
        "flashmesh examples ~/flashmesh-examples",
    ),
    "explain": (
        "flashmesh explain fabric.kind",
        "flashmesh explain workload",
    ),
    "import-mqsim": (
        "flashmesh import-mqsim examples/mqsim/ssdconfig.xml examples/mqsim/workload.xml -o imported",
        "flashmesh import-mqsim ssdconfig.xml workload.xml -o imported --physical",
    ),
    "init": (
        "flashmesh init",
        "flashmesh init my-drive.toml --preset samsung-pm9a3 --schema",
    ),
    "measures": (
        "flashmesh measures",
        "flashmesh measures --json | jq '.[].name'",
    ),
    "optimise": (
        "flashmesh optimise examples/search.toml -o search.results",
        "flashmesh optimise examples/cheapest.toml --resume",
    ),
    "presets": (
        "flashmesh presets",
        "flashmesh presets --json | jq '.[].name'",
    ),
    "profiles": (
        "flashmesh profiles",
        "flashmesh profiles hm_0",
    ),
    "report": (
        "flashmesh report results.json -o report.html --open",
        "flashmesh report sweep.results --chart 'p99 over replay.outstanding by fabric.kind'",
    ),
    "reproduce": (
        "flashmesh reproduce venice/section3.1",
        "flashmesh reproduce --appendix",
    ),
    "run": (
        "flashmesh run preset:samsung-pm9a3 --set workload.read-share=70% -o result.json",
        "flashmesh run examples/venice.toml --trace examples/traces/shop.csv.xz",
    ),
    "serve": (
        "flashmesh serve preset:samsung-pm9a3 --socket /tmp/drive.sock --size 10G",
        "flashmesh serve preset:samsung-pm9a3 --probe",
    ),
    "show": (
        "flashmesh show results.json --measure p99",
        "flashmesh show sweep.results --where fabric.kind=venice --sort p99",
    ),
    "sweep": (
        "flashmesh sweep examples/sweep.toml -o sweep.results --resume",
        "flashmesh sweep examples/sweep.toml -o sweep.results --slurm-array 4 --slurm-time 1:00:00 --submit",
    ),
    "trace": (
        "flashmesh trace stat examples/traces/shop.csv.xz",
        "flashmesh trace convert examples/traces/shop.csv.xz shop.trace",
    ),
    "trace compare": (
        "flashmesh trace compare shop.csv copy.csv",
        "flashmesh trace compare shop.csv copy.csv --no-latency -o distance.json",
    ),
    "trace convert": (
        "flashmesh trace convert examples/traces/shop.csv.xz shop.trace",
        "flashmesh trace convert server.blkparse server.csv.gz --format msr",
    ),
    "trace generate": (
        "flashmesh trace generate shop.toml -o copy.trace",
        "flashmesh trace generate shop.toml -o copy.csv.zst --format msr --requests 1000000",
    ),
    "trace profile": (
        "flashmesh trace profile examples/traces/shop.csv.xz -o shop.toml",
        "flashmesh trace profile examples/traces/shop.csv.xz -o shop.toml --check",
    ),
    "trace stat": (
        "flashmesh trace stat examples/traces/shop.csv.xz",
        "flashmesh trace stat first.csv second.csv --set workload.format=msr -o statistics.json",
    ),
    "validate": (
        "flashmesh validate samsung-pm9a3 --quick",
        "flashmesh validate drive.toml --points measured.csv -o validation.html",
        "flashmesh validate examples/calibrate/drive.toml --data-sheet examples/calibrate/sheet.csv",
    ),
}
"""Example command lines, two or more for each command, by the words of the command after `flashmesh`."""


def examples_of(path: str) -> tuple[str, ...]:
    """Returns the examples of a command.

    Args:
        path: The full name of the command, such as `flashmesh trace stat`.
    """
    return EXAMPLES.get(path.partition(" ")[2], ())
