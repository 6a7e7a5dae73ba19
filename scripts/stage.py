"""Run one stage of ``make test``, unless nothing that it reads has changed since it passed; say what took how long.

``stage.py NAME --reads PATH ... -- COMMAND ...`` runs a command and notes in ``.stamps/`` that it passed, with the
fingerprint of everything it reads: the files below the paths that git does not ignore, the installed packages, the
environment that changes what is tested. ``FRESH=1`` runs it all the same. ``stage.py --table`` prints the minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMPS = ROOT / ".stamps"
SETTINGS = ("CI", "UNROLLED_MIRROR", "KILLS")  # variables of the environment that decide what is tested


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--reads", nargs="+", default=[], metavar="PATH", help="files and folders of the repository")
    parser.add_argument("--table", action="store_true", help="where the minutes of the last runs went")
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options, command = parser.parse_args(arguments[:cut]), arguments[cut + 1 :]
    if options.table:
        print(table())
        return 0
    if not options.name or not command:
        parser.error("a stage has a name and, after --, a command")
    return run(options.name, options.reads, command)


def run(name: str, reads: list[str], command: list[str]) -> int:
    """The command's exit code; 0 at once if it passed before with the same fingerprint."""
    stamp, key = STAMPS / f"{name}.json", fingerprint(reads, command)
    passed = json.loads(stamp.read_text()) if stamp.exists() else {}
    if passed.get("key") == key and not os.environ.get("FRESH"):
        stamp.write_text(json.dumps(passed | {"ran": False}))
        print(f"{name}: nothing changed since it passed ({passed['seconds']:.0f} s then); FRESH=1 runs it again")
        return 0
    STAMPS.mkdir(exist_ok=True)
    stamp.unlink(missing_ok=True)
    print(f"{name}: {' '.join(command)}", flush=True)
    start = time.monotonic()
    child = subprocess.Popen(command, cwd=ROOT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the command, which ends in its own way
    code = child.wait()
    if code == 0:
        seconds = time.monotonic() - start
        stamp.write_text(json.dumps({"name": name, "key": key, "seconds": seconds, "ran": True}))
        print(f"{name}: passed in {seconds:.0f} s", flush=True)
    return code if code >= 0 else 128 - code


def fingerprint(reads: list[str], command: list[str]) -> str:
    """One hash of everything that can change the outcome."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *reads]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    digest = hashlib.sha256(json.dumps([command, platform.platform(), sys.version]).encode())
    for setting in SETTINGS:
        digest.update(f"{setting}={os.environ.get(setting)}\0".encode())
    for package in sorted(f"{d.name}=={d.version}" for d in distributions()):
        digest.update(f"{package}\0".encode())
    for name in sorted(filter(None, set(names))):
        path = ROOT / os.fsdecode(name)
        digest.update(name + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"gone")
    return digest.hexdigest()


def table() -> str:
    """Minutes by stage, longest first."""
    stages = [json.loads(path.read_text()) for path in STAMPS.glob("*.json")]
    stages.sort(key=lambda stage: -stage["seconds"])
    rows = [f"{s['seconds'] / 60:7.1f}  {s['name']}{'' if s['ran'] else '  (unchanged: not run)'}" for s in stages]
    ran = sum(stage["seconds"] for stage in stages if stage["ran"]) / 60
    return "\n".join(["minutes  stage", *rows, f"{ran:7.1f}  all that ran, one after the other"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
