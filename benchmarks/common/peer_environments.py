"""Environments of peers, and runs of their scripts in these, one job at a time."""

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from peer_runners.job import Job

from common.results import FOLDER, Row

RUNNERS = Path(__file__).resolve().parents[1] / "peer_runners"
REPOSITORIES = {
    "dpsynth": ("https://github.com/google/dpsynth", "cf8075f"),
    "private-pgm": ("https://github.com/ryan112358/private-pgm", "4d2b3c5"),
    "tab-pe": ("https://github.com/microsoft/DPSDA", "9078c67"),
}
"""Address and commit of what is on no index, by the name of its environment."""


@dataclass(frozen=True)
class Peer:
    """How one system runs.

    Parameters
    ----------
    runner
        Its script in ``peer_runners``.
    arguments
        What the script is called with after the job.
    requirements
        What its environment is installed from, ``CHECKOUT`` for a clone of its repository; none
        runs in the environment of this process.
    is_private
        Whether epsilon means anything to it.
    best
        Whether its documentation recommends other settings than its defaults for quality.
    """

    runner: str
    arguments: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    is_private: bool = True
    best: bool = False

    @property
    def environment(self) -> str:
        """The name of its environment."""
        return self.runner.removeprefix("run_").removesuffix(".py").replace("_", "-")


_DPMM, _OPENDP = ("dpmm==0.1.9",), ("opendp[polars,mbi]==0.16.0", "pandas", "pyarrow")
_SMARTNOISE, _SDV = ("smartnoise-synth==1.0.8",), ("sdv==2.0.0",)
_DPSYNTH = ("CHECKOUT", "etils[epath]")
_PRIVATE_PGM = ("CHECKOUT", "matplotlib", "jax<0.7", "jaxlib<0.7", "numpy<2.4", "pandas<3")
_TAB_PE = ("generalimport", "omegaconf<2.4", "pandas<3", "requests", "scikit-learn", "scipy")
PEERS: Mapping[str, Peer] = {
    "synthdp": Peer("run_synthdp.py", ("default", "schema")),
    "synthdp kinds": Peer("run_synthdp.py", ("default", "kinds")),
    "private-pgm MST": Peer("run_private_pgm.py", ("mst",), _PRIVATE_PGM),
    "private-pgm AIM": Peer("run_private_pgm.py", ("aim",), _PRIVATE_PGM, best=True),
    "dpsynth MST": Peer("run_dpsynth.py", ("mst",), _DPSYNTH),
    "dpsynth AIM-GDP": Peer("run_dpsynth.py", ("aim-gdp",), _DPSYNTH, best=True),
    "dpsynth SWIFT": Peer("run_dpsynth.py", ("swift",), _DPSYNTH),
    "dpmm MST": Peer("run_dpmm.py", ("mst",), _DPMM),
    "dpmm AIM": Peer("run_dpmm.py", ("aim",), _DPMM, best=True),
    "dpmm PrivBayes": Peer("run_dpmm.py", ("privbayes",), _DPMM),
    "OpenDP MST": Peer("run_opendp.py", ("mst",), _OPENDP),
    "OpenDP AIM": Peer("run_opendp.py", ("aim",), _OPENDP),
    "SmartNoise MST": Peer("run_smartnoise.py", ("mst",), _SMARTNOISE),
    "SmartNoise AIM": Peer("run_smartnoise.py", ("aim",), _SMARTNOISE),
    "Tab-PE": Peer("run_tab_pe.py", (), _TAB_PE),
    "SDV copula": Peer("run_sdv.py", (), _SDV, is_private=False),
}


@dataclass
class Environments:
    """Virtual environments of the peers, made when they are first asked for.

    Parameters
    ----------
    folder
        Where they are.
    interpreters
        The Python that makes an environment, where it is not the one of this process.
    checkouts
        Clones of repositories, by environment; the others are made.
    """

    folder: Path
    interpreters: Mapping[str, Path] = field(default_factory=dict)
    checkouts: Mapping[str, Path] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)

    def python(self, peer: Peer) -> str | None:
        """The interpreter that has the peer; None if it could not be installed."""
        if not peer.requirements:
            return sys.executable
        name = peer.environment
        python = self.folder / name / "bin/python"
        if (self.folder / name / "complete").exists():
            return str(python)
        if name not in self._refused:
            self._refused[name] = self._install(name, peer.requirements)
            if self._refused[name]:
                print(f"{name} is left out: {self._refused[name]}", file=sys.stderr)
        return None if self._refused[name] else str(python)

    def variables(self, peer: Peer) -> dict[str, str]:
        """The environment variables of its runs: one thread, and its checkout."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        checkout = {"CHECKOUT": str(self._checkout(peer.environment))}
        return {**os.environ, **threads, **checkout, "PYTHONWARNINGS": "ignore"}

    def _checkout(self, name: str) -> Path:
        return self.checkouts.get(name, self.folder / "checkouts" / name).resolve()

    def _clone(self, name: str) -> str:
        """Clone the repository of an environment that has one; what went wrong, else nothing."""
        if name not in REPOSITORIES or self._checkout(name).exists():
            return ""
        address, commit = REPOSITORIES[name]
        for command in (
            ["git", "clone", "--quiet", address, str(self._checkout(name))],
            ["git", "-C", str(self._checkout(name)), "checkout", "--quiet", commit],
        ):
            result = subprocess.run(command, check=False, capture_output=True, text=True)
            if result.returncode:
                return f"{address} could not be cloned; give a clone: --checkout {name}=FOLDER"
        return ""

    def _install(self, name: str, requirements: Iterable[str]) -> str:
        """Make an environment; the last line of what went wrong, else nothing."""
        if refusal := self._clone(name):
            return refusal
        print(f"making the environment of {name} ...", file=sys.stderr)
        interpreter = self.interpreters.get(name, sys.executable)
        subprocess.run([interpreter, "-m", "venv", "--clear", self.folder / name], check=True)
        asked = [str(self._checkout(name)) if each == "CHECKOUT" else each for each in requirements]
        command = [str(self.folder / name / "bin/pip"), "install", "--quiet", *asked]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode:
            lines = [line for line in result.stderr.splitlines() if "ERROR" in line]
            way_out = (
                f"without an index, make {self.folder / name} elsewhere, with a file 'complete'"
            )
            return f"{(lines or ['pip failed'])[-1]}; {way_out}"
        (self.folder / name / "complete").touch()
        return ""


def run(job: Job, peer: Peer, python: str, variables: Mapping[str, str]) -> Row:
    """Figures of one run, or a note that says why there are none."""
    file = Path(job.output).with_name("job.json")
    file.write_text(json.dumps(asdict(job)))
    command = [python, str(RUNNERS / peer.runner), str(file), *peer.arguments]
    result = subprocess.run(
        command, check=False, capture_output=True, text=True, env=dict(variables)
    )
    if -result.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return {"note": f"ended after {job.limit} CPU s"}
    if result.returncode:
        said = [line for line in result.stderr.splitlines() if any(map(str.isalnum, line))]
        reason = f"failed with {result.returncode}"
        return {"note": (said or [reason])[-1][:200] if result.returncode > 0 else reason}
    return {name: text(each) for name, each in json.loads(result.stdout.splitlines()[-1]).items()}


def add_environments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where environments and clones are."""
    parser.add_argument("--environments", type=Path, default=FOLDER / "peer-environments")
    parser.add_argument(
        "--python",
        nargs="+",
        type=_named_path,
        default=[],
        metavar="NAME=FILE",
        help="Python of an environment: dpsynth needs 3.12 or 3.13, dpmm 3.10 or 3.11",
    )
    parser.add_argument(
        "--checkout",
        nargs="+",
        type=_named_path,
        default=[],
        metavar="NAME=FOLDER",
        help=f"clones that are here already: {', '.join(REPOSITORIES)}",
    )


def _named_path(given: str) -> tuple[str, Path]:
    name, _, path = given.partition("=")
    environments = {peer.environment for peer in PEERS.values()}
    if name not in environments or not Path(path).exists():
        raise argparse.ArgumentTypeError(
            f"{given}: give NAME=PATH, a path that exists, and a name of {', '.join(sorted(environments))}"
        )
    return name, Path(path)


def text(value: Any) -> str:
    """A figure in six digits."""
    return value if isinstance(value, str) else f"{np.float64(value):.6g}"
