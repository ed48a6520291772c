"""Table of epochs: a CSV or Parquet file with a row for each epoch."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError, OutputError
from flashmesh.files import refuse_pipe, unwritable, whole_file, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashmesh._native import Config
    from flashmesh.results import Result

FORMS = (".csv", ".parquet")


@contextmanager
def epoch_table(path: str | Path, config: Config) -> Iterator[Callable[[Result], None]]:
    """Yields a function that stores the result of a run; the epochs of the stored results are written at the end.

    The file has a row for each epoch, with the columns of `Result.epochs_frame`. The file is written if the block ends
    without an exception.

    Raises:
        ConfigError: If the configuration has no epochs.
        OutputError: If the file name has an unknown suffix, or the file cannot be written.
    """
    import tomllib

    if Path(path).suffix not in FORMS:
        raise OutputError(f"{path}: is neither .csv nor .parquet; the suffix determines the format")
    if "epoch" not in tomllib.loads(config.to_toml())["measure"]:
        raise ConfigError("there are no epochs to write: set their length, such as measure.epoch=10ms")
    if Path(path).suffix == ".parquet":
        refuse_pipe(path)
    with whole_file(path) as file:
        results: list[Result] = []
        yield results.append
        for result in results:
            frame = result.epochs_frame()
            if Path(path).suffix == ".csv":
                write_text(file, frame.to_csv(index=False))
                continue
            try:
                frame.to_parquet(file, engine="pyarrow", compression="zstd", index=False)
            except OSError as error:
                raise unwritable(Path(path), error) from error
