"""`python -m bench.recording`: what a comparison takes while the interconnect is recorded, over the same without."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from bench import measure

EXAMPLE = Path(__file__).parents[1] / "examples" / "demo.toml"
AXES = ("fabric.kind=bus,pssd,nossd,venice,ideal", "geometry.chips-per-channel=2,8")
"""Those of `make demo`."""
WINDOW = ("measure.epoch=5ms", "measure.window-start=50us")
MOST = 1.15
"""Times the processor time of the comparison without a recording."""


def processor_s(is_recorded: bool, folder: Path) -> float:
    """The processor time of the comparison, which writes its results as JSON."""
    settings = [*WINDOW, f"measure.network={str(is_recorded).lower()}"]
    options = [part for axis in AXES for part in ("--vary", axis)]
    options += [part for setting in settings for part in ("--set", setting)]
    command = [sys.executable, "-m", "flashmesh", "compare", str(EXAMPLE), *options, "--json", "comparison.json"]
    return measure.run(command, folder=folder).cpu_s


@click.command()
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1), help="Pairs of comparisons.")
def main(rounds: int) -> None:
    """Measure what the recording of the network costs a comparison of ten runs; fail when it costs too much."""
    with tempfile.TemporaryDirectory() as name:
        pairs = [(processor_s(True, Path(name)), processor_s(False, Path(name))) for _ in range(rounds)]
    recorded, plain = map(min, zip(*pairs, strict=True))
    quotient = recorded / plain
    click.echo(f"recorded {recorded:.2f} s, plain {plain:.2f} s, times {quotient:.2f} (at most {MOST})")
    sys.exit(quotient > MOST)


main()
