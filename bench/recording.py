"""`python -m bench.recording`: relative processor time of a comparison with a recording of the network."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from bench import measure

MOST = 1.15
"""Maximum ratio of the processor time with a recording of the network to the time without one."""


@click.command()
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1), help="Pairs of comparisons.")
@click.argument("comparison", nargs=-1, required=True)
def main(rounds: int, comparison: tuple[str, ...]) -> None:
    """Run COMPARISON, arguments of flashmesh compare, with and without a recording; fail when that costs too much."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "flashmesh", "compare", *comparison, "--json", str(Path(folder) / "runs.json")]

        def processor_s(network: str) -> float:
            return measure.run([*command, "--set", f"measure.network={network}"]).cpu_s

        pairs = [(processor_s("true"), processor_s("false")) for _ in range(rounds)]
    recorded, plain = map(min, zip(*pairs, strict=True))
    quotient = recorded / plain
    click.echo(f"recorded {recorded:.2f} s, plain {plain:.2f} s, times {quotient:.2f} (at most {MOST})")
    sys.exit(quotient > MOST)


main()
