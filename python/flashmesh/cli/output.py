"""Results go to stdout, all of them or an error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from flashmesh._native import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator


class StdoutClosed(Exception):  # noqa: N818 - no fault of anybody
    """Whoever read stdout is gone."""


@contextmanager
def stdout() -> Iterator[IO[str]]:
    """Gives stdout; what is written has left when the block ends."""
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise StdoutClosed from error
    except OSError as error:
        raise OutputError(f"the results cannot be written to stdout: {error.strerror}") from error
