"""Shut a process in before it runs student code: namespaces, a private root, limits, no privileges, few system calls.

``enter`` is called in a fresh fork of the answering side. Where a system keeps ordinary programs from making namespaces
(AppArmor on Ubuntu), bubblewrap may still do so; then ``bubblewrap`` gives the command that starts a process behind the
same walls, and ``close_in`` does the rest from inside. All this runs beside student code, so it imports nothing of the
judge. Linux only; the system calls that Python 3.11 does not wrap are made through libc.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
NOBODY = 65534
STANDS = b"the walls stand"
MB = 2**20

LIMITS = {
    resource.RLIMIT_CPU: 120,
    resource.RLIMIT_FSIZE: 16 * MB,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_NPROC: 32,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_MSGQUEUE: 0,
}
DEVICES = ("null", "zero", "urandom", "random")
TMPFS = {"/tmp": 16, "/dev/shm": 4}  # megabytes that may be written
MEMORY = 2048 * MB  # on top of what torch itself has mapped

# Calls that no answer needs, by machine: numbers of x86_64 and aarch64.
FORBIDDEN = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "socket": (41, 198),
    "socketpair": (53, 199), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "io_uring_setup": (425, 425), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "personality": (135, 92), "swapon": (167, 224),
    "acct": (163, 89), "reboot": (169, 142), "syslog": (103, 116), "quotactl": (179, 60), "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "fsopen": (430, 430), "open_tree": (428, 428),
}  # fmt: skip
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


@dataclass(frozen=True)
class Walls:
    """What the judge prepares: an empty folder to become the root, and what is visible in it, read-only."""

    root: str
    visible: tuple[str, ...]
    bwrap: str = ""  # the program that builds them, where we may not


def visible_paths(view: Path) -> tuple[str, ...]:
    """What student code needs to see: the view, Python with its packages, and the system's shared libraries."""
    wanted = [str(view), sys.prefix, os.path.realpath(sys.prefix)]  # the environment may be a link
    wanted += [f"{sys.base_prefix}/lib", f"{sys.base_prefix}/bin", "/usr/lib"]
    wanted += ["/usr/lib64", "/lib", "/lib64"]
    present = [path for path in dict.fromkeys(wanted) if os.path.isdir(path)]
    return tuple(path for path in present if not any(path.startswith(other + "/") for other in present))


def enter(walls: Walls, tell_pid) -> None:
    """Go behind the walls. Returns only in the shut-in process; ``tell_pid`` gets its id as seen from outside."""
    root = os.geteuid() == 0
    flags = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET | (0 if root else NEWUSER)
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", flags)
    if not root:
        _map_ids(uid, gid)
    pid = os.fork()  # the first process of the new process namespace: when it ends, all in it end
    if pid:
        tell_pid(pid)
        os.waitpid(pid, 0)
        os._exit(0)
    os.setsid()
    _private_root(walls, NOBODY if root else 0)
    _call("sethostname", b"judge", 5)
    if root:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        _call("unshare", NEWUSER)
    close_in()


def close_in() -> None:
    """What a process behind the walls gives up by itself, for good."""
    _limit()
    _drop_privileges()
    die_with_parent()  # only now: changing the user forgets it
    _filter_system_calls()


def bubblewrap(walls: Walls, program: list[str]) -> list[str]:
    """The command that runs a program behind the same walls as ``enter`` builds; its first process is number 1."""
    command = [walls.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"]
    command += ["--hostname", "judge", "--cap-drop", "ALL", "--proc", "/proc"]
    for path, megabytes in TMPFS.items():
        command += ["--perms", "0700", "--size", str(megabytes * MB), "--tmpfs", path]
    for name in DEVICES:
        command += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for path in walls.visible:
        command += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    return [*command, "--remount-ro", "/", "--chdir", os.getcwd(), "--", *program]


def die_with_parent() -> None:
    """Be killed when the process that forked this one ends, however it ends. Only Linux has such a call."""
    if sys.platform == "linux":
        _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _map_ids(uid: int, gid: int) -> None:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def _private_root(walls: Walls, owner: int) -> None:
    """A root of its own on a small tmpfs: read-only binds of what is needed, own /proc, a few devices, a small /tmp."""
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", walls.root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=1k,mode=755")
    for name in ("dev", "proc", "tmp", "old"):
        os.mkdir(f"{walls.root}/{name}")
    for name in DEVICES:
        Path(f"{walls.root}/dev/{name}").touch()
        _mount(f"/dev/{name}", f"{walls.root}/dev/{name}", None, MS_BIND)
    os.mkdir(f"{walls.root}/dev/shm")
    _mount("proc", f"{walls.root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for path, megabytes in TMPFS.items():
        options = f"size={megabytes}m,nr_inodes=1k,mode=700,uid={owner},gid={owner}"
        _mount("tmpfs", walls.root + path, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for path in walls.visible:
        _bind(path, walls.root + path)
    _call("pivot_root", walls.root.encode(), f"{walls.root}/old".encode(), number={"x86_64": 155, "aarch64": 41})
    os.chdir("/")
    _call("umount2", b"/old", MNT_DETACH)
    os.rmdir("/old")
    _mount(None, "/", None, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir("/tmp")


def _bind(source: str, target: str) -> None:
    if os.path.islink(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(source), target)
        return
    os.makedirs(target, exist_ok=True)
    _mount(source, target, None, MS_BIND | MS_REC)
    _mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    mapped = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    for limit, value in LIMITS.items():
        resource.setrlimit(limit, (value, value))


def _drop_privileges() -> None:
    for capability in range(64):
        _libc().prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails past the last capability: as it should
    header = struct.pack("<Ii", 0x20080522, 0)
    _call("capset", header, bytes(24))
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def _filter_system_calls() -> None:
    """seccomp: the forbidden calls, and calls of any other machine, return EPERM."""
    machine = MACHINES.get(platform.machine())
    if machine is None:
        return
    audit, column = machine
    numbers = sorted(pair[column] for pair in FORBIDDEN.values())
    load, equal, least, give = 0x20, 0x15, 0x35, 0x06
    deny, allow = 0x00050001, 0x7FFF0000
    n = len(numbers)  # jumps count from the next line; the last line denies
    program = [(load, 0, 0, 4), (equal, 0, n + 3, audit), (load, 0, 0, 0), (least, n + 1, 0, 0x40000000)]
    program += [(equal, n - i, 0, number) for i, number in enumerate(numbers)]
    program += [(give, 0, 0, allow), (give, 0, 0, deny)]
    code = b"".join(struct.pack("<HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    table = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(buffer))
    _call("prctl", PR_SET_SECCOMP, 2, ctypes.create_string_buffer(table, len(table)), 0, 0)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), options.encode())


def _libc():
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments, number: dict[str, int] | None = None) -> None:
    """A libc function, or a system call by its number; OSError with its name when the system says no."""
    if number is None:
        result = getattr(_libc(), name)(*arguments)
    else:
        result = _libc().syscall(number[platform.machine()], *arguments)
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":  # a trial: does this system let us?
    enter(Walls(sys.argv[1], ()), lambda pid: None)
    os.write(1, STANDS)
