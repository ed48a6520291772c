"""A Slurm cluster of one node in a folder: munged, slurmctld and slurmd, on their own ports."""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
WAIT_S = 60.0
"""Time limit for anything that Slurm does."""
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
"""Folders of programs, including those of daemons, which the path of ordinary users lacks."""
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmctldLogFile={folder}/slurmctld.log
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MaxArraySize=5
KillWait=2
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Returns the programs of Slurm and Munge that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


def wait_for(is_so: Callable[[], bool], told: Callable[[], str]) -> None:
    """Waits until a condition holds. Fails after `WAIT_S`, with the message that `told` returns."""
    end = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end, told()
        time.sleep(0.2)


class Cluster:
    """A running Slurm."""

    def __init__(self, folder: Path) -> None:
        """Starts the daemons in an existing folder, and waits for the node."""
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}
        self.daemons: list[subprocess.Popen[bytes]] = []
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Starts the daemons in the foreground, each with its own log."""
        munge = self.folder / "munge"
        munge.mkdir()
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        with socket.socket() as one, socket.socket() as two:
            ports = []
            for each in (one, two):
                each.bind(("127.0.0.1", 0))
                ports.append(each.getsockname()[1])
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=platform.node().partition(".")[0],
                controller_port=ports[0],
                node_port=ports[1],
                folder=self.folder,
                user=getpass.getuser(),
            )
        )
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{option}={munge / file}" for option, file in files.items()]
        self.run("munged", "--foreground", "--force", *options)
        wait_for((munge / "socket").exists, self.logs)
        self.run("slurmctld", "-D")
        self.run("slurmd", "-D", "-N", "node")
        wait_for(lambda: "idle" in self.ask("sinfo", "--noheader", "--format", "%T"), self.logs)

    def run(self, *command: str) -> None:
        """Starts a daemon."""
        with (self.folder / f"{command[0]}.log").open("wb") as log:
            program = shutil.which(command[0], path=PATH) or command[0]
            self.daemons.append(
                subprocess.Popen(
                    [program, *command[1:]],
                    env=os.environ | self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def ask(self, *command: str) -> str:
        """Returns the output of a Slurm command; empty if the controller does not answer."""
        with suppress(subprocess.TimeoutExpired):
            return subprocess.run(
                command,
                env=os.environ | self.environment,
                capture_output=True,
                text=True,
                timeout=WAIT_S,
                check=False,
            ).stdout
        return ""

    def wait_for_jobs(self) -> None:
        """Waits until the queue is empty."""
        wait_for(lambda: not self.ask("squeue", "--noheader").strip(), lambda: self.ask("squeue") + self.logs())

    def logs(self) -> str:
        """Returns the last lines of all logs."""
        texts = {path.name: path.read_text(errors="replace") for path in self.folder.glob("*.log")}
        return "\n".join(f"{name}: {line}" for name, text in texts.items() for line in text.splitlines()[-10:])

    def close(self) -> None:
        """Ends jobs and daemons."""
        if len(self.daemons) == 3:
            self.ask("scancel", "--user", getpass.getuser())
            with suppress(AssertionError):
                self.wait_for_jobs()
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait(timeout=10)
