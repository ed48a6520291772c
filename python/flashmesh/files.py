"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flashmesh._native import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

try:
    import fcntl
except ImportError:  # not on Windows: nothing tells whether another process still writes a file
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
TEMPORARY = ".flashmesh-"
"""What the names of temporary files begin with; no part of the final name, which may be as long as names can be."""
TEMPORARY_END = ".tmp"
REPLACING = ".replacing-"
"""What those begin with that `replace_text` makes, which have no lock."""
STALE_S = 3600.0
"""No process writes a small file for so long."""
LINKS_MAX = 40
"""Symbolic links followed to a file, as many as Linux follows."""


def absolute(path: Path) -> Path:
    """Where a path leads, from the root; links that lead in a circle stay as they are."""
    return Path(os.path.realpath(path))


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Gives a temporary file to write, and moves it to `path` when the block ends without an exception.

    The temporary file is made at once, so that a folder that cannot be written shows before the work, not after it.
    Where the system can, it has no name until it is whole, and whatever ends the process leaves nothing behind.
    Elsewhere it is a file beside `path` that a lock marks as being written; the next process to write in the folder
    removes those that nobody holds. A symbolic link is followed. A path that is there and no plain file (a pipe, a
    device) is given as it is; a named pipe has its reader before the work begins. Errors name `path`, never the
    temporary file.

    Raises:
        OutputError: When the file cannot be made.
    """
    path = Path(path)
    try:
        target = target_of(path)
        special = opened(target)
        temporary = None if special is not None else Temporary(target)
    except OSError as error:
        raise unwritable(path, error) from error
    if special is not None:
        with special:
            yield target
        return
    assert temporary is not None
    try:
        yield temporary.path
        temporary.keep()
    except OutputError as error:
        if str(temporary.path) not in str(error):
            raise
        raise OutputError(str(error).replace(str(temporary.path), str(path))) from error
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) not in (str(temporary.path), str(target)):
            raise
        raise unwritable(path, error) from error
    finally:
        temporary.drop()


def opened(target: Path) -> AbstractContextManager[object] | None:
    """Holds a path open that is there and no plain file, and waits for the reader of a pipe; None for a plain file.

    Raises:
        OSError: When the system refuses.
    """
    if not is_special(target):
        return None
    # Whoever waited for a reader only after the work would keep its results to himself for as long.
    return os.fdopen(os.open(target, os.O_WRONLY), "wb", buffering=0) if target.is_fifo() else nullcontext()


def is_special(path: Path) -> bool:
    """Whether a path leads to what is neither a plain file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_pipe(path: str | Path) -> None:
    """Refuses a pipe for a table, whose writer goes back in its file.

    Raises:
        OutputError: When it is one.
    """
    if Path(path).is_fifo():
        raise OutputError(f"{path}: is a pipe, into which no Parquet file can be written: name a file")


def unwritable(path: Path, error: OSError) -> OutputError:
    """An error of the system about a file, as one of ours."""
    return OutputError(f"{path}: cannot be written: {reason(error)}")


def reason(error: OSError) -> str:
    """Why the system refused, without the words that pyarrow puts around it."""
    return os.strerror(error.errno) if error.errno else str(error)


def target_of(path: Path) -> Path:
    """The file that a path names, behind symbolic links.

    Raises:
        OutputError: When it can be no file.
        OSError: When the system refuses the path.
    """
    try:
        unusable = b"\0" in os.fsencode(path)
    except UnicodeError:
        unusable = True
    if unusable:
        raise OutputError(f"{str(path)!r}: is no name of a file")
    if is_special(path):
        # Links of /dev/fd and /proc lead to pipes by names that no folder has.
        return path
    target = path
    for _ in range(LINKS_MAX):
        if not target.is_symlink():
            break
        target = target.parent / target.readlink()
    else:
        raise OutputError(f"{path}: cannot be written: its symbolic links lead in a circle")
    with suppress(FileNotFoundError):
        target.lstat()  # a name that is too long shows now, not after the work
    if target.is_dir():
        raise OutputError(f"{path}: is a folder, not a file")
    return target


@contextmanager
def text_file(path: str | Path) -> Iterator[Callable[[str], None]]:
    """Gives the function that takes the text of a file, which is written when the block ends well.

    Raises:
        OutputError: When the file cannot be written.
    """
    with whole_file(path) as file:
        texts: list[str] = []
        yield texts.append
        write_text(file, "".join(texts))


class OutputFiles(AbstractContextManager["OutputFiles"]):
    """Files that are opened before the work and end after it, each whatever becomes of the others."""

    def __init__(self) -> None:
        """None yet."""
        self.contexts: list[AbstractContextManager[Any]] = []

    def open(self, context: AbstractContextManager[T]) -> T:
        """Opens a file; gives what its context gives.

        Raises:
            OutputError: When it cannot be opened.
        """
        value = context.__enter__()
        self.contexts.append(context)
        return value

    def close(self) -> list[str]:
        """Ends all files, and says what is wrong with those that could not be written."""
        failures: list[str] = []
        while self.contexts:
            try:
                self.contexts.pop().__exit__(None, None, None)
            except OutputError as error:
                failures.append(str(error))
        return failures

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Gives up what is still open: the work did not come to its end."""
        given_up = error or OutputError("the work did not end")
        while self.contexts:
            with suppress(OutputError):
                self.contexts.pop().__exit__(type(given_up), given_up, trace)


class Temporary:
    """A file that is being written, and will be at `target` once it is whole."""

    def __init__(self, target: Path) -> None:
        """Makes it, without a name where the system can.

        Raises:
            OSError: When it cannot be made.
        """
        self.target = target
        self.name: Path | None = None
        descriptor = nameless(target.parent)
        if descriptor is None:
            remove_stale(target.parent)
            self.name, descriptor = named(target.parent)
        self.descriptor = descriptor
        self.take_rights()
        self.path = self.name or Path(f"/proc/self/fd/{descriptor}")

    def take_rights(self) -> None:
        """Takes over who may read and write the file that it takes the place of."""
        with suppress(OSError):
            os.fchmod(self.descriptor, stat.S_IMODE(self.target.stat().st_mode))

    def keep(self) -> None:
        """Puts the file where it belongs.

        Raises:
            OSError: When the system refuses.
        """
        os.fsync(self.descriptor)
        if self.name is None:
            name = new_name(self.target.parent)
            # Only with a folder to start from is the link to the descriptor followed.
            root = os.open("/", os.O_RDONLY)
            try:
                os.link(f"/proc/self/fd/{self.descriptor}", name, src_dir_fd=root, follow_symlinks=True)
            finally:
                os.close(root)
            self.name = name
        self.name.replace(self.target)
        self.name = None

    def drop(self) -> None:
        """Removes what was not kept."""
        if self.name is not None:
            self.name.unlink(missing_ok=True)
            self.name = None
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def replace_text(path: Path, text: str) -> None:
    """Puts a text in the place of a file in one step, without waiting for the disk.

    For many small files in folders that several machines may write at once, where locks do not reach. `remove_old`
    removes what processes left behind that were killed.

    Raises:
        OSError: When the system refuses.
    """
    temporary = new_name(path.parent, REPLACING)
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def remove_old(folder: Path, folders: str) -> None:
    """Removes what `replace_text` left in the folders that match below a folder, once nobody can be writing it."""
    old = time.time() - STALE_S
    for path in folder.glob(f"{folders}/{REPLACING}*{TEMPORARY_END}"):
        with suppress(OSError):
            if path.stat().st_mtime < old:
                path.unlink()


def new_name(folder: Path, begin: str = TEMPORARY) -> Path:
    """A name for a temporary file that no other has."""
    return folder / f"{begin}{os.urandom(8).hex()}{TEMPORARY_END}"


def nameless(folder: Path) -> int | None:
    """A new file without a name in a folder; None where the system has no such files.

    Raises:
        OSError: When the folder cannot be written.
    """
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not Path("/proc/self/fd").is_dir():
        return None
    try:
        descriptor = os.open(folder, flag | os.O_RDWR, 0o666)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT) and folder.is_dir():
            return None
        raise
    lock(descriptor)
    return descriptor


def named(folder: Path) -> tuple[Path, int]:
    """A new file in a folder, locked for as long as this process lives.

    Raises:
        OSError: When the folder cannot be written.
    """
    while True:
        name = new_name(folder)
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        lock(descriptor)
        # Before the lock another process may have taken it for a stale one.
        if os.fstat(descriptor).st_nlink > 0:
            return name, descriptor
        os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Marks a file as being written, until it is closed or the process ends; false when another process does."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_stale(folder: Path) -> None:
    """Removes the temporary files that processes left behind which were killed."""
    for path in folder.glob(f"{TEMPORARY}*{TEMPORARY_END}"):
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            continue
        try:
            if lock(descriptor):
                path.unlink(missing_ok=True)
        except OSError:
            continue
        finally:
            os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Writes a text, out of this process; half characters in it, such as names of files may have, as their escapes.

    Raises:
        OutputError: When the system refuses.
    """
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=without_waiting) as file:
            file.write(text)
    except OSError as error:
        raise unwritable(path, error) from error


def without_waiting(path: str, flags: int) -> int:
    """Opens a file; a pipe whose reader went away is broken, and nobody waits for another.

    Raises:
        OSError: When the system refuses.
    """
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from error
        raise
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor
