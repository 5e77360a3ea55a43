"""A Slurm cluster of two nodes on this machine, for as long as a test needs it: as root, without systemd, cgroups or accounting."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

NAME = "epic-test"
LINK = Path("/etc/slurm/slurm.conf")
NODES = {"n1": 17001, "n2": 17002}  # and their ports
CONTROLLER_PORT = 17000
# Of a node: more than the largest job of the profile asks for, so that another one would fit beside it.
CPUS, MEMORY_MB = 10, 20000
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")

# Nodes claim their CPUs, whatever the machine has, so that jobs of the profile fit as it stands (config_overrides).
# Without accounting, finished jobs are read from the text file of JobComp.
CONFIGURATION = """\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=5
MpiDefault=none
ReturnToService=2
MinJobAge=300
KillWait=5
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs={cpus} RealMemory={memory} State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs={cpus} RealMemory={memory} Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def install() -> None:
    """Debian's Slurm and munge, where they are missing; their services are not started."""
    if all(shutil.which(program) for program in PROGRAMS):
        return
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # at runlevel 1 no service is started
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "slurm-wlm", "munge"]):
        subprocess.run(["apt-get", *arguments], env=quiet, stdout=subprocess.DEVNULL, check=True)


def refuse_another_cluster() -> None:
    """Leave the configuration of a real cluster alone; a link that a killed test left behind is removed."""
    if LINK.is_symlink() and NAME in os.readlink(LINK):
        LINK.unlink()
    if LINK.is_symlink() or LINK.exists():
        raise SystemExit(f"{LINK} exists: this machine belongs to a cluster, and the test would disturb it")


def configure(folder: Path) -> None:
    """Write the configuration, and link it where every Slurm command looks for it."""
    settings = {"name": NAME, "host": socket.gethostname().split(".")[0], "port": CONTROLLER_PORT, "folder": folder, **NODES}
    settings |= {"cpus": CPUS, "memory": MEMORY_MB}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(**settings))
    (folder / "gres.conf").write_text("NodeName=n2 Name=gpu File=/dev/null\n")  # a GPU in name only
    (folder / "state").mkdir()
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o400)
    LINK.parent.mkdir(exist_ok=True)
    LINK.symlink_to(folder / "slurm.conf")  # SLURM_CONF would not do: the executor takes it away from the srun inside a job


@contextmanager
def daemon(log: Path, *command):
    """A daemon in the foreground of its own process, ended by its process id."""
    with log.open("w") as out:
        started = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT)
    try:
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        try:
            started.wait(timeout=30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def ask(*command) -> str:
    """What a Slurm command prints."""
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def wait_for(condition, seconds: float, what: str) -> None:
    """Until a condition holds; an error that says what did not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen in {seconds:g} s")
        time.sleep(0.5)


def idle_nodes() -> int:
    """How many nodes are ready; none while the controller does not answer."""
    try:
        return len(ask("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N").split())
    except subprocess.CalledProcessError:
        return 0


def end_all_jobs() -> None:
    """Cancel what is still in the queue of this cluster, so that no job outlives it."""
    if running := ask("squeue", "--noheader", "--format=%i").split():
        ask("scancel", *running)
        wait_for(lambda: not ask("squeue", "--noheader", "--format=%i"), 60, "the end of all jobs")


@contextmanager
def cluster(folder: Path):
    """A running cluster whose files lie in `folder`; all its processes are ended on leaving, whatever happens."""
    install()
    refuse_another_cluster()
    with ExitStack() as stack:
        stack.callback(LINK.unlink, missing_ok=True)
        configure(folder)
        munge = ("--key-file", "--pid-file", "--seed-file", "--log-file", "--socket")
        files = [f"{option}={folder}/munge.{option.split('-')[2]}" for option in munge]
        command = ("munged", "--foreground", "--force", *files)  # --force: its folder is not as public as it wants
        stack.enter_context(daemon(folder / "munged.out", *command))
        wait_for((folder / "munge.socket").exists, 20, "munged's socket")
        stack.enter_context(daemon(folder / "slurmctld.out", "slurmctld", "-D", "-f", folder / "slurm.conf"))
        for node in NODES:
            command = ("slurmd", "-D", "-N", node, "-f", folder / "slurm.conf")
            stack.enter_context(daemon(folder / f"{node}.out", *command))
        wait_for(lambda: idle_nodes() == len(NODES), 60, "two idle nodes")
        stack.callback(end_all_jobs)
        yield
