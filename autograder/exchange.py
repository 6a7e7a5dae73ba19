"""Collecting on a machine that strangers share: a submission is its owner's, and only plain files of its owner count.

nbgrader's own collection believes the name that a folder in the exchange carries, stops at a name it cannot read, and
follows links with the instructor's rights: one student could hand in for another, or be sent the gradebook as feedback.
"""

from __future__ import annotations

import os
import pwd
import stat
from contextlib import closing
from datetime import datetime
from pathlib import Path

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect

from autograder.record import SECRET, TIMESTAMP

MAX_FILES = 50
KB = 1000  # as nbgrader counts


class CollectFromOwners(ExchangeCollect):
    """nbgrader's collection, but the Unix owner of a folder is the student, whatever its name claims."""

    def init_src(self):
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path):
        try:
            owner = pwd.getpwuid(os.lstat(path).st_uid).pw_name
            record = super()._path_to_record(path)
        except (ExchangeError, KeyError, OSError, OverflowError, TypeError, ValueError):
            self.log.warning("%s is no submission; it is left where it is.", path)
            return {"username": "", "filename": os.path.basename(path), "timestamp": datetime.min}
        if owner != record["username"]:
            self.log.warning("%s claims to be of %s, but %s owns it.", path, record["username"], owner)
        return record | {"username": owner}

    def do_copy(self, src, dest, log=None):
        """Copy the notebooks and nbgrader's two notes: plain files of the folder's owner, no links, no folders."""
        os.makedirs(dest)
        try:
            opened = Folder(src)
        except OSError:
            self.log.warning("%s is not a folder; nothing is taken from it.", src)
            return
        with closing(opened) as folder:
            names = [name for name in folder.names() if name.endswith(".ipynb") or name in (TIMESTAMP, SECRET)]
            for name in names[:MAX_FILES]:
                data = folder.read(name, KB * self.coursedir.max_file_size)
                if data is None:
                    self.log.warning("%s in %s is not a plain file of its owner, or too large; left out.", name, src)
                else:
                    (Path(dest) / name).write_bytes(data)


class Folder:
    """A folder that stays the same one even if somebody puts another in its place meanwhile."""

    def __init__(self, path: str):
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self.owner = os.fstat(self.fd).st_uid

    def names(self) -> list[str]:
        return sorted(os.listdir(self.fd))

    def read(self, name: str, most: int) -> bytes | None:
        """What a plain file of the folder's owner holds; None if it is anything else."""
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self.fd)
        except OSError:
            return None
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != self.owner:
                return None
            with open(file, "rb", closefd=False) as opened:
                data = opened.read(most + 1)
        finally:
            os.close(file)
        return data if len(data) <= most else None

    def close(self) -> None:
        os.close(self.fd)
