"""Entry point of the command line: exceptions become exit codes and messages."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from typing import IO, NoReturn, TextIO, cast

import click

from flashmesh._native import CheckError, FlashmeshError, InternalError, PolicyError
from flashmesh.cli.commands import flashmesh
from flashmesh.cli.options.parameters import COMPLETING
from flashmesh.cli.output import StdoutClosed
from flashmesh.cli.signals import WORDS, begin, end, received
from flashmesh.texts.printable import PrintableStream

OK = 0
INTERNAL = 1
BAD_INPUT = 2
CHECK_FAILED = 3
STDOUT_CLOSED = 141
PRINTING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)
"""Numbers of errors that a write to an open stream can raise, such as a full disk or a closed pipe."""


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    speak_utf8()
    hold_streams()
    guard_streams()
    begin()
    code = guarded()
    end()
    if code == BAD_INPUT and received() == signal.Signals.SIGHUP:
        # The terminal that hung up cannot be written any more.
        code = 128 + signal.Signals.SIGHUP
    try:
        flush(sys.stdout)
    except OSError as error:
        # Discard the unwritten text: Python would write it again at exit and report a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == OK:
            code = unwritable_stdout(error)
    if threading.active_count() > 1:
        # A thread that returns from a run or a read during interpreter shutdown would abort the process.
        os._exit(code)
    sys.exit(code)


def speak_utf8() -> None:
    """Restarts Python in UTF-8 mode unless file names are UTF-8 already; configurations are UTF-8."""
    is_other = sys.getfilesystemencoding().lower() != "utf-8"
    if is_other and os.name == "posix" and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def hold_streams() -> None:
    """Opens /dev/null for closed standard streams, so that no opened file becomes stdout or stderr."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def guard_streams() -> None:
    """Escapes control characters on stdout and stderr, since names and texts from input files are not trusted."""
    stdout: IO[str] | None = sys.stdout
    stderr: IO[str] | None = sys.stderr
    if stdout is not None:
        sys.stdout = cast("TextIO", PrintableStream(stdout))
    if stderr is not None:
        sys.stderr = cast("TextIO", PrintableStream(stderr))


def flush(stream: IO[str] | None) -> None:
    """Flushes a stream unless the stream is closed."""
    if stream is not None:
        stream.flush()


def guarded() -> int:
    """Runs the command line, and turns every exception into a message and an exit code."""
    try:
        if COMPLETING in os.environ:
            from flashmesh.cli import completion  # noqa: F401 - registers the completion of Bash
        # Exceptions are handled below: Click's own handler does not know the exit codes of flashmesh.
        code = flashmesh.main(prog_name="flashmesh", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        number = received() or signal.SIGINT
        say(WORDS[number.name])
        return 128 + number
    except StdoutClosed:
        return STDOUT_CLOSED
    except InternalError as error:
        return fault(error)
    except CheckError as error:
        say(f"check failed: {error}")
        return CHECK_FAILED
    except PolicyError as error:
        show_traceback(error)
        say(f"error: {error}")
        return BAD_INPUT
    except FlashmeshError as error:
        # Messages of configuration errors already begin with `error: `.
        say(f"error: {str(error).removeprefix('error: ')}")
        return BAD_INPUT
    except OSError as error:
        # Commands convert errors of files. An error that names no file comes from printing help or a list.
        return unwritable_stdout(error) if error.filename is None and error.errno in PRINTING else fault(error)
    except Exception as error:
        return fault(error)


def show_traceback(error: PolicyError) -> None:
    """Prints the traceback of an error in the code of a policy."""
    cause = error.__cause__
    if cause is not None and cause.__traceback__ is not None:
        own = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
        place = cause.__traceback__
        while place.tb_next is not None and place.tb_frame.f_code.co_filename.startswith((own, "<frozen")):
            place = place.tb_next
        say("".join(traceback.format_exception(type(cause), cause, place)).rstrip())


def unwritable_stdout(error: OSError) -> int:
    """Reports on stderr that stdout cannot be written, and returns the exit code.

    No message if the reader closed stdout.
    """
    if isinstance(error, BrokenPipeError):
        return STDOUT_CLOSED
    say(f"error: the results cannot be written to stdout: {error.strerror}")
    return BAD_INPUT


def fault(error: Exception) -> int:
    """Reports an internal error on stderr, and returns the exit code."""
    if os.environ.get("FLASHMESH_DEBUG"):
        traceback.print_exception(error)
    text = " ".join(str(error).split())
    say(
        f"internal error: {type(error).__name__}: {text}\n"
        "This is a fault of flashmesh. Please report it with this line, the command and its input; "
        "FLASHMESH_DEBUG=1 shows more."
    )
    return INTERNAL


def say(text: str) -> None:
    """Writes to stderr unless stderr is closed."""
    stream: IO[str] | None = sys.stderr
    if stream is None:
        return
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except OSError:
        return
