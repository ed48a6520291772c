"""Paths of nbdkit and its plugin, and checks before they are started."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError, OutputError
from flashmesh.files import reason

if TYPE_CHECKING:
    from flashmesh._native import Config

PLUGIN = Path(__file__).parents[1] / "libflashmesh_nbdkit.so"
INSTALL = "apt-get install nbdkit, or dnf install nbdkit-server"
SOCKET_BYTES_MAX = 107
"""Maximum number of bytes of the path of a Unix socket."""


def programs() -> tuple[Path, Path]:
    """Returns the paths of nbdkit and the plugin.

    Raises:
        ConfigError: If nbdkit or the plugin is missing.
    """
    if not PLUGIN.exists():
        raise ConfigError(f"{PLUGIN} is missing: wheels for Linux include it, and on Linux `make build` builds it")
    found = shutil.which("nbdkit")
    if found is None:
        raise ConfigError(f"nbdkit is not installed: {INSTALL}")
    return Path(found), PLUGIN


def check_socket(path: Path) -> None:
    """Refuses a path at which no socket can be created.

    Raises:
        OutputError: If the path exists or is too long, or its folder does not exist.
    """
    if os.path.lexists(path):
        raise OutputError(
            f"{path}: there is a file of this name: remove it if no other server uses it, or choose another"
        )
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputError(f"{path}: the folder {folder} does not exist")
    length = len(os.fsencode(path.absolute()))
    if length > SOCKET_BYTES_MAX:
        raise OutputError(f"{path}: the path of a socket has at most {SOCKET_BYTES_MAX} bytes, and this one {length}")


def check_data(path: Path) -> None:
    """Refuses a path that cannot hold the data of a drive.

    Raises:
        OutputError: If the path is refused.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        folder = path.absolute().parent
        if not folder.is_dir():
            raise OutputError(f"{path}: the folder {folder} does not exist") from None
        return
    except OSError as error:
        raise OutputError(f"{path}: cannot be opened: {reason(error)}") from error
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: is not a regular file, which the data of a drive need")


def check_config(config: Config) -> None:
    """Refuses a configuration that cannot be served.

    Raises:
        ConfigError: If the configuration is refused.
    """
    streams = config.stream_names()
    if len(streams) > 1:
        raise ConfigError(
            f"the configuration has the streams {', '.join(streams)}, and a served drive has one: remove the sections "
            "[stream.*]"
        )
    policies = [key for key, _ in config.policies()]
    if policies:
        raise ConfigError(f"{policies[0]}: flashmesh serve runs no Python policies: choose a built-in one")
