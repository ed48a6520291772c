"""Type of options that take a number of requests, in the spellings of configuration keys."""

from __future__ import annotations

import json
from typing import Any

import click

KEY = "workload.requests"
"""Key of configurations whose values have the spellings of the options."""


class Requests(click.IntRange):
    """A number of requests within a range, such as 60000, 60_000, 60k or 6e4."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the number that a text stands for; refuses other texts, and numbers out of range."""
        number: int = super().convert(self.number(value, param, ctx), param, ctx)
        return number

    def number(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns a number of requests as a configuration reads it."""
        from flashmesh._native import Config, ConfigError

        try:
            return int(value)
        except ValueError:
            pass
        try:
            config = Config.from_str('preset = "venice-z-nand"', "the command line", [f"{KEY}={value}"])
        except ConfigError:
            self.fail(f"{value!r} is no number of requests: write 60000, 60_000, 60k or 6e4", param, ctx)
        found: int = json.loads(config.to_json())["workload"]["requests"]
        return found
