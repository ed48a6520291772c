"""Examples: part of the installed package, or beside it in a copy of the repository."""

from __future__ import annotations

from pathlib import Path

from flashmesh._native import OutputError
from flashmesh.files import reason

FOLDER = "examples"
PACKAGE = Path(__file__).parent
UNWANTED = "__pycache__"


def folder() -> Path | None:
    """Returns the folder of the examples; None if the installation has none."""
    repository = PACKAGE.parents[1]
    places = [repository / FOLDER] if (repository / "pyproject.toml").is_file() else []
    return next((place for place in [*places, PACKAGE / FOLDER] if place.is_dir()), None)


def names(source: Path) -> list[Path]:
    """Returns the files of a folder of examples, relative to it."""
    found = (path for path in source.rglob("*") if path.is_file() and UNWANTED not in path.parts)
    return sorted(path.relative_to(source) for path in found)


def copy(target: Path) -> list[Path]:
    """Copies all examples; existing equal files stay.

    Args:
        target: The folder, created if necessary.

    Returns:
        The files that were written.

    Raises:
        OutputError: If there are no examples, a different file exists, or a file cannot be written.
    """
    source = folder()
    if source is None:
        raise OutputError("this installation has no examples: they are in wheels, and in the repository")
    wanted = {target / name: (source / name).read_bytes() for name in names(source)}
    try:
        others = [path for path, content in wanted.items() if path.exists() and path.read_bytes() != content]
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            raise OutputError(f"{others[0]}{more}: exists already with other content: name another folder")
        missing = [path for path in wanted if not path.exists()]
        for path in missing:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[path])
    except OSError as error:
        raise OutputError(f"{error.filename or target}: cannot be written: {reason(error)}") from error
    return missing


def is_example(path: Path) -> bool:
    """Returns whether a path names an example as in the documentation: `examples/demo.toml`."""
    source = folder()
    return source is not None and path.parts[:1] == (FOLDER,) and (source / Path(*path.parts[1:])).is_file()
