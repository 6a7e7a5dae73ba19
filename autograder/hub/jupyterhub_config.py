"""JupyterHub for a class on one machine: docs/hub.md says how to use it, and the tests run exactly this file.

People are Unix users with their own passwords. Two Unix groups say who may come in and who grades; nobody is listed
here. Each person's JupyterLab runs as that person, so the file system is what keeps people apart.
"""

import grp
import os
import sys
from pathlib import Path

STUDENTS, INSTRUCTORS = "unrolled-students", "unrolled-instructors"
HERE, BIN = Path(__file__).resolve().parent, Path(sys.prefix) / "bin"

c = get_config()  # noqa: F821

# Only this machine can reach it. A web server with a certificate stands before it and passes requests on.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.ConfigurableHTTPProxy.command = ["env", "NODE_PATH=/usr/share/nodejs", "configurable-http-proxy"]  # Debian's place

c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {STUDENTS, INSTRUCTORS}
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.LocalProcessSpawner.popen_kwargs = {"umask": 0o077}  # what a person writes, nobody else reads
c.Spawner.cmd = [str(BIN / "jupyterhub-singleuser")]
c.Spawner.http_timeout = 120  # seconds: an instructor's server imports torch before it answers


def grades(spawner) -> bool:
    return spawner.user.name in grp.getgrnam(INSTRUCTORS).gr_mem


def first_page(spawner) -> None:
    """Instructors see formgrader first. It fills its page: a hub lets no page be shown inside another."""
    spawner.default_url = "/formgrader" if grades(spawner) else "/lab"


def settings_of(spawner) -> str:
    """The folders from which Jupyter and nbgrader take their settings for this person."""
    folders = [HERE / "everyone", HERE.parent / "lab_settings" / "student"]  # formgrader is not in JupyterLab's menu
    return os.pathsep.join(map(str, folders if grades(spawner) else [*folders, HERE / "student"]))


c.Spawner.pre_spawn_hook = first_page
c.Spawner.environment = {
    "JUPYTER_CONFIG_PATH": settings_of,
    "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",  # `autograder` and `nbgrader` in a terminal
    "OMP_NUM_THREADS": "1",
}
