"""Programs that replace those of Slurm: an array whose tasks run one after another, and a queue without jobs."""

from __future__ import annotations

import sys
from pathlib import Path

SBATCH = """#!{python}
import json, os, pathlib, re, shlex, subprocess, sys, time

path = pathlib.Path(sys.argv[-1])
calls = pathlib.Path(__file__).with_name("calls.json")
before = json.loads(calls.read_text()) if calls.exists() else []
options = {{}}
for line in path.read_text().splitlines():
    if line.startswith("#SBATCH "):
        key, _, value = shlex.split(line[8:], comments=True)[0].partition("=")
        options[key] = value
calls.write_text(json.dumps([*before, {{"words": sys.argv[1:-1], "options": options}}]))
print(40 + len(before), flush=True)
first, _, last = options.get("--array", "0").partition("-")
for number in range(int(first), int(last or first) + 1) if "--array" in options else ():
    log = options["--output"].replace("%A", "40").replace("%a", str(number)).replace("%%", "%")
    environment = os.environ | {{
        "SLURM_ARRAY_TASK_ID": str(number), "SLURM_CPUS_PER_TASK": options["--cpus-per-task"]
    }}
    with open(log, "w") as out:
        task = subprocess.Popen(["sh", path], env=environment, stdout=out, stderr=out, cwd="/")
    folder = path.parent.parent / "progress"
    while number == {killed} and task.poll() is None:
        if any(f'"shard": [{{number}}, ' in beat.read_text() for beat in folder.glob("[!.]*.json")):
            task.kill()
        time.sleep(0.005)
    task.wait(timeout=300)
"""
"""`sbatch` that runs the tasks of an array and kills one of them after its first sign of life."""
SQUEUE = "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n"
SCONTROL = "#!/bin/sh\necho 'MaxArraySize            = {size}'\n"


def fake_slurm(folder: Path, *, killed: int = 0, size: int = 1001, squeue: str = SQUEUE) -> dict[str, str]:
    """Writes the programs. Returns the environment variables with which a command finds them.

    Args:
        folder: Folder of the programs.
        killed: Number of the task that is killed; 0 for none.
        size: MaxArraySize.
        squeue: Text of `squeue`.
    """
    folder.mkdir(exist_ok=True)
    texts = {
        "sbatch": SBATCH.format(python=sys.executable, killed=killed),
        "squeue": squeue,
        "scontrol": SCONTROL.format(size=size),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}
