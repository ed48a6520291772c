"""Atomic writing of files."""

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
except ImportError:  # on Windows, which has no such locks; files in use cannot be recognised there
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
TEMPORARY = ".flashmesh-"
"""Prefix of the names of temporary files. The final name is not part of them, since it may have the maximum length."""
TEMPORARY_END = ".tmp"
REPLACING = ".replacing-"
"""Prefix of temporary files of `replace_text`, which are not locked."""
STALE_S = 3600.0
"""Age in seconds from which a temporary file of `replace_text` counts as abandoned."""
LINKS_MAX = 40
"""Number of successive symbolic links that counts as a cycle."""


def absolute(path: Path) -> Path:
    """Returns the absolute path with symbolic links resolved, unless they form a cycle."""
    return Path(os.path.realpath(path))


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yields a temporary file to write, and moves it to `path` if the block ends without an exception.

    The temporary file is created at once, so that errors show before the work. If the system supports it, the file has
    no name until it is complete, so that nothing remains if the process is killed. Otherwise it is a locked
    file beside `path`; the next process that writes in the folder removes unlocked ones. A symbolic link is followed.
    An existing special file (a pipe, a device) is written directly. A named pipe has a reader before the block begins.
    Errors name `path`, never the temporary file.

    Raises:
        OutputError: If the file cannot be created.
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
    """Opens an existing pipe, waiting for its reader, and returns the context of the open pipe.

    Returns an empty context for any other special file, and None for all other paths.

    Raises:
        OSError: If the system refuses.
    """
    if not is_special(target):
        return None
    # Wait for the reader of the pipe now; after the work, waiting would delay the results.
    return os.fdopen(os.open(target, os.O_WRONLY), "wb", buffering=0) if target.is_fifo() else nullcontext()


def is_special(path: Path) -> bool:
    """Returns whether a path is an existing special file: neither a regular file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_pipe(path: str | Path) -> None:
    """Refuses a pipe as a Parquet file, whose writer must seek.

    Raises:
        OutputError: If the path is a pipe.
    """
    if Path(path).is_fifo():
        raise OutputError(f"{path}: is a pipe, into which no Parquet file can be written: name a file")


def unwritable(path: Path, error: OSError) -> OutputError:
    """Returns a system error about a file as an error of flashmesh."""
    return OutputError(f"{path}: cannot be written: {reason(error)}")


def reason(error: OSError) -> str:
    """Returns the reason of a system error, without the text that pyarrow adds."""
    return os.strerror(error.errno) if error.errno else str(error)


def target_of(path: Path) -> Path:
    """Returns the file that a path names, behind symbolic links.

    Raises:
        OutputError: If the path cannot be a file.
        OSError: If the system refuses the path.
    """
    try:
        unusable = b"\0" in os.fsencode(path)
    except UnicodeError:
        unusable = True
    if unusable:
        raise OutputError(f"{str(path)!r}: is not a valid file name")
    if is_special(path):
        # Links in /dev/fd and /proc name pipes, which exist in no folder.
        return path
    target = path
    for _ in range(LINKS_MAX):
        if not target.is_symlink():
            break
        target = target.parent / target.readlink()
    else:
        raise OutputError(f"{path}: cannot be written: its symbolic links form a cycle")
    with suppress(FileNotFoundError):
        target.lstat()  # Report a name that is too long before the work.
    if target.is_dir():
        raise OutputError(f"{path}: is a folder, not a file")
    return target


@contextmanager
def text_file(path: str | Path) -> Iterator[Callable[[str], None]]:
    """Yields a function that adds a part to the text of a file.

    The file is written if the block ends without an exception.

    Raises:
        OutputError: If the file cannot be written.
    """
    with whole_file(path) as file:
        texts: list[str] = []
        yield texts.append
        write_text(file, "".join(texts))


class OutputFiles(AbstractContextManager["OutputFiles"]):
    """Files that are opened before the work and closed after it, each independent of the others."""

    def __init__(self) -> None:
        """Creates an empty collection."""
        self.contexts: list[AbstractContextManager[Any]] = []

    def open(self, context: AbstractContextManager[T]) -> T:
        """Opens the context of a file, and returns the value of the context.

        Raises:
            OutputError: If the file cannot be opened.
        """
        value = context.__enter__()
        self.contexts.append(context)
        return value

    def close(self) -> list[str]:
        """Closes all files, which writes them. Returns the error messages of those that could not be written."""
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
        """Discards the files that are still open, since the work did not complete."""
        given_up = error or OutputError("the work did not end")
        while self.contexts:
            with suppress(OutputError):
                self.contexts.pop().__exit__(type(given_up), given_up, trace)


class Temporary:
    """A file that is moved to `target` once it is complete."""

    def __init__(self, target: Path) -> None:
        """Creates the file, without a name if the system supports it.

        Raises:
            OSError: If the file cannot be created.
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
        """Copies the permissions of the existing target, if any, to the new file."""
        with suppress(OSError):
            os.fchmod(self.descriptor, stat.S_IMODE(self.target.stat().st_mode))

    def keep(self) -> None:
        """Moves the file to its target.

        Raises:
            OSError: If the system refuses.
        """
        os.fsync(self.descriptor)
        if self.name is None:
            name = new_name(self.target.parent)
            # The kernel follows the link to the descriptor only if a folder descriptor is given.
            root = os.open("/", os.O_RDONLY)
            try:
                os.link(f"/proc/self/fd/{self.descriptor}", name, src_dir_fd=root, follow_symlinks=True)
            finally:
                os.close(root)
            self.name = name
        self.name.replace(self.target)
        self.name = None

    def drop(self) -> None:
        """Removes a file that was not kept."""
        if self.name is not None:
            self.name.unlink(missing_ok=True)
            self.name = None
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def replace_text(path: Path, text: str) -> None:
    """Replaces a file with a text atomically, without waiting for the disk.

    Intended for many small files in folders that several machines may write at once, where locks do not work.
    `remove_old` removes the remains of killed processes.

    Raises:
        OSError: If the system refuses.
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
    """Removes abandoned files of `replace_text` from the folders below `folder` that match the pattern `folders`."""
    old = time.time() - STALE_S
    for path in folder.glob(f"{folders}/{REPLACING}*{TEMPORARY_END}"):
        with suppress(OSError):
            if path.stat().st_mtime < old:
                path.unlink()


def new_name(folder: Path, begin: str = TEMPORARY) -> Path:
    """Returns an unused path for a temporary file in a folder; its name begins with `begin`."""
    return folder / f"{begin}{os.urandom(8).hex()}{TEMPORARY_END}"


def nameless(folder: Path) -> int | None:
    """Creates a file without a name in a folder, and returns its descriptor; None if the system does not support it.

    Raises:
        OSError: If the folder cannot be written.
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
    """Creates a temporary file in a folder, and returns its path and descriptor.

    The file is locked until the descriptor is closed or this process ends.

    Raises:
        OSError: If the folder cannot be written.
    """
    while True:
        name = new_name(folder)
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        lock(descriptor)
        # Another process may have removed the file as stale before it was locked.
        if os.fstat(descriptor).st_nlink > 0:
            return name, descriptor
        os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Locks a file until it is closed or the process ends.

    Returns False if another process has locked the file, or the system has no such locks.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_stale(folder: Path) -> None:
    """Removes the unlocked temporary files of a folder, whose processes were killed."""
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
    """Writes a text from this process; lone surrogates, such as in file names, are escaped.

    Raises:
        OutputError: If the system refuses.
    """
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=without_waiting) as file:
            file.write(text)
    except OSError as error:
        raise unwritable(path, error) from error


def without_waiting(path: str, flags: int) -> int:
    """Opens a file for writing without blocking; a pipe without a reader is an error. Returns the descriptor.

    Raises:
        OSError: If the system refuses.
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
