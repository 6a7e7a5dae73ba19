# ruff: noqa: E501
"""Ways to get marks without an answer, or to spoil the marks of others. Each must end with the honest mark.

Every attack is the cell of ``softmax``; beside it stands an honest ``pad_batch``, which must keep its marks. All are
tried twice: behind the walls that we build ourselves, and behind those of bubblewrap.
"""

import os
import socket
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from autograder import respond
from autograder.builder import bubblewrap_path
from autograder.course import chapter
from autograder.demo import fill
from autograder.exercises import find
from autograder.grading import grade_notebook, open_seeds
from autograder.respond import ForkServer
from autograder.source import written_cell

CHAPTER = chapter("01_recurrence")
RELEASED = nbformat.read(CHAPTER.student, as_version=4)
HONEST = written_cell(find("pad_batch"))
SECONDS = 150  # four questions of at most 30 s each, and a start; an honest notebook takes less than one

ATTACKS = {
    # lying about equality
    "always equal": "class A:\n    def __eq__(s, o): return True\n    __array__ = None\ndef softmax(o): return A()",
    "tensor subclass that agrees": "class T(torch.Tensor):\n    def __eq__(s, o): return True\n"
    "    @property\n    def shape(s): return (3, 9, 13)\ndef softmax(o): return torch.zeros(1).as_subclass(T)",
    "float that agrees": "class X(float):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0.0\n"
    "def softmax(o): return X(0)",
    "nan everywhere": "def softmax(o): return o * float('nan')",
    "infinities": "def softmax(o): return o / 0",
    # patching what judges
    "patched isclose": "np.isclose = lambda *a, **k: np.array(True)\ntorch.allclose = lambda *a, **k: True\n"
    "def softmax(o): return o",
    "patched json and struct": "import json, struct\njson.dumps = lambda *a, **k: '{}'\n"
    "struct.pack = lambda *a: b''\ndef softmax(o): return o",
    "patched probe module": "import sys, autograder.probe as p\np.observe = lambda *a, **k: {}\n"
    "sys.modules['autograder.answer'] = p\ndef softmax(o): return o",
    "patched encode": "import sys\nm = sys.modules['__main__']\nm.encode = lambda x: b'\\x02\\x00\\x00\\x00{}'\n"
    "def softmax(o): return o",
    "replaced builtins": "import builtins\nbuiltins.isinstance = lambda *a: True\ndef softmax(o): return o",
    "excepthook": "import sys\nsys.excepthook = lambda *a: None\ndef softmax(o): raise KeyError",
    "trace function": "import sys\nsys.settrace(lambda *a: None)\ndef softmax(o): return o",
    # looking for the answer
    "import the reference": "from unrolled.losses import softmax",
    "import through importlib": "import importlib\nm = importlib.import_module('unrolled.losses')\n"
    "def softmax(o): return getattr(m, 'soft' + 'max')(o)",
    "read the library": "import glob, re\nsource = ''.join(open(f).read() for f in glob.glob('/**/losses.py', recursive=True)"
    " if 'unrolled' in f)\nexec(source)",
    "read the exercises": "import autograder.exercises.ch01_recurrence as e\nsoftmax = e.SOFTMAX.references[0]",
    "walk the garbage collector": "import gc, types\nfound = [o for o in gc.get_objects() if isinstance(o, types.FunctionType)"
    " and o.__name__ == 'softmax' and o.__module__ == 'unrolled.losses']\nsoftmax = found[0]",
    "walk the frames": "import sys\ndef softmax(o):\n    f = sys._getframe()\n    while f:\n"
    "        for v in f.f_locals.values():\n            if hasattr(v, 'references'): return v.references[0](o)\n"
    "        f = f.f_back\n    return o",
    "read the checkout": f"import os\ndef softmax(o):\n    return len(os.listdir({str(Path(__file__).parents[2])!r} + '/lib'))",
    "read parents through proc": "import glob\ndef softmax(o):\n    return ''.join(open(f).read() for f in "
    "glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/environ'))",
    "secret from the environment": "import os\ndef softmax(o): return str(dict(os.environ))",
    "read other notebooks": "import os\nfound = [open(os.path.join(d, f)).read() for d, _, fs in os.walk('/') for f in fs if f.endswith('.ipynb')]\n"
    "def softmax(o): return '\\n'.join(found)",
    "write the gradebook": "import os, sqlite3\nfor d, _, fs in os.walk('/'):\n    for f in fs:\n        if f == 'gradebook.db':\n"
    "            sqlite3.connect(os.path.join(d, f)).execute('UPDATE grade SET auto_score = 2')\ndef softmax(o): return o",
    "right only where nobody grades": "import sys\ndef softmax(o):\n    watched = any(m.startswith('autograder.probes') for m in sys.modules)\n"
    "    return o if watched else o.softmax(-1)",
    # the process
    "exit": "import sys\ndef softmax(o): sys.exit(0)",
    "exit hard": "import os\ndef softmax(o): os._exit(0)",
    "kill itself": "import os, signal\ndef softmax(o): os.kill(os.getpid(), signal.SIGKILL)",
    "kill everybody": "import os\ndef softmax(o):\n    os.kill(-1, 9)\n    return o",
    "kill the parent": "import os\ndef softmax(o):\n    os.kill(os.getppid(), 9)\n    return o",
    "segfault": "import ctypes\ndef softmax(o): return ctypes.string_at(0)",
    "fork bomb": "import os\ndef softmax(o):\n    for _ in range(2000):\n        try:\n            if os.fork() == 0:\n"
    "                while True: pass\n        except OSError: pass\n    return o",
    "thread bomb": "import threading, time\ndef softmax(o):\n    for _ in range(2000):\n"
    "        threading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n    return o",
    "crowd that eats the time": "import os\nfor _ in range(24):\n    if os.fork() == 0:\n        while True: pass\n"
    "def softmax(o):\n    while o.max() > 500: pass\n    return o",
    "recursion": "def softmax(o): return softmax(o)",
    "endless cell": "while True: pass\ndef softmax(o): return o",
    "endless loop in C": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')\ndef softmax(o): return o",
    "loop in one answer": "def softmax(o):\n    while o.max() > 500: pass\n    return o",
    "ignored signals": "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
    "def softmax(o):\n    while o.max() > 500: pass\n    return o",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True:\n"
    "            open('/tmp/attack-daemon', 'a').write('x')\n            time.sleep(0.01)\n    os._exit(0)\ndef softmax(o): return o",
    # resources
    "memory": "def softmax(o): return torch.ones(10 ** 11)",
    "disk": "def softmax(o):\n    with open('/tmp/attack-x', 'wb') as f:\n        while True: f.write(bytes(1 << 20))",
    "inodes": "def softmax(o):\n    for i in range(10 ** 6): open(f'/tmp/attack-{i}', 'w').close()",
    "shared memory": "def softmax(o):\n    with open('/dev/shm/attack-x', 'wb') as f: f.write(bytes(1 << 26))\n    return o",
    "file descriptors": "def softmax(o):\n    keep = [open('/dev/null') for _ in range(10 ** 5)]\n    return o",
    "output flood": "def softmax(o):\n    print('x' * 10 ** 8)\n    return o",
    "huge answer": "def softmax(o): return torch.zeros(30_000_000)",
    "huge text": "def softmax(o): return 'x' * 10 ** 8",
    "deep answer": "def softmax(o):\n    x = []\n    for _ in range(100_000): x = [x]\n    return x",
    "many items": "def softmax(o): return [None] * 10 ** 6",
    # forging
    "forged frames": "import os, struct\nbody = b'{\"named\": {}}'\nframe = struct.pack('<I', len(body) + 4) + "
    "struct.pack('<I', len(body)) + body\ndef softmax(o):\n    for fd in range(3, 64):\n        try: os.write(fd, frame * 50)\n"
    "        except OSError: pass\n    return o",
    "garbage frames": "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 1000)\n    except OSError: pass\n"
    "def softmax(o): return o",
    "an answer drop by drop": "import os, time\ndef softmax(o):\n    while True:\n        for fd in range(3, 64):\n"
    "            try: os.write(fd, b'\\1')\n            except OSError: pass\n        time.sleep(1)",
    "closed channel": "import os\ndef softmax(o):\n    os.closerange(3, 64)\n    return o",
    "replayed answers": "import __main__\nkept, asked, send = [], [], __main__.send\ndef again(channel, data):\n    kept.append(data)\n"
    "    send(channel, kept[-2] if asked else data)\n__main__.send = again\ndef softmax(o):\n    asked.append(o)\n    return o",
    "answer that runs when unpickled": "import os\nclass P:\n    def __reduce__(self): return os.system, ('touch /tmp/attack-pickle',)\n"
    "def softmax(o): return [P(), {'x': P()}]",
    "judge text": "def softmax(o): raise ValueError('softmax: right — 2 of 2 points')",
    # reaching out
    "network": "import socket\ndef softmax(o):\n    socket.create_connection(('127.0.0.1', 80), 1)\n    return o",
    "unix socket": "import socket\ndef softmax(o):\n    socket.socket(socket.AF_UNIX).connect('/tmp/attack-x')\n    return o",
    "write into the packages": "import sys\nopen(sys.prefix + '/sitecustomize.py', 'w').write('x')\ndef softmax(o): return o",
    "shadow module": "open('/tmp/attack-torch.py', 'w').write('x')\nimport sys\nsys.path.insert(0, '/tmp')\ndef softmax(o): return o",
    "startup files": "import os\nfor name in ('sitecustomize.py', 'usercustomize.py', '.pythonrc'):\n    open('/tmp/' + name, 'w').write('raise SystemExit')\n"
    "os.environ.update(PYTHONSTARTUP='/tmp/.pythonrc', PYTHONPATH='/tmp', LD_PRELOAD='/tmp/x.so')\ndef softmax(o): return o",
    "links": "import os, sys\nos.symlink('/', '/tmp/attack-root')\ntry: os.link(sys.prefix + '/pyvenv.cfg', '/tmp/attack-link')\n"
    "except OSError: pass\ndef softmax(o): return os.listdir('/tmp/attack-root/root')",
    "transformed cells": "import IPython\nshell = IPython.get_ipython() or IPython.core.interactiveshell.InteractiveShell()\n"
    "shell.input_transformers_post.append(lambda lines: ['2.0'])\ndef softmax(o): return o",
    "new namespace": "import ctypes\nctypes.CDLL(None).unshare(0x10000000)\ndef softmax(o): return o",
    "mount": "import ctypes\nctypes.CDLL(None).mount(b'proc', b'/tmp', b'proc', 0, None)\ndef softmax(o): return o",
    "ptrace": "import ctypes\ndef softmax(o):\n    return ctypes.CDLL(None).ptrace(16, 1, 0, 0) * o",
    # state
    "spoiled torch": "torch.set_default_dtype(torch.float16)\ntorch.manual_seed = None\ntorch.set_grad_enabled(False)\n"
    "def softmax(o): return o",
    "answers from memory": "seen = {}\ndef softmax(o): return seen.setdefault(tuple(o.shape), o)",
    "deleted names": "del torch, np\ndef softmax(o): return o",
}  # fmt: skip

SCHEDULER = (  # each would answer rightly, if only it got there
    "import socket; socket.create_connection(('127.0.0.1', {port}), 1).sendall(b'x')",
    "import distributed; distributed.Client('tcp://127.0.0.1:{port}', timeout=1)",
    "import ctypes; s = ctypes.CDLL(None, use_errno=True).socket(2, 1, 0); assert s >= 0, ctypes.get_errno()",
)
SELF_HARM = {"patched encode", "deleted names"}  # they spoil what all cells of the same notebook share


def one_seed(exercise):
    """Half the questions: behind bubblewrap, torch starts anew after every crash."""
    return open_seeds(exercise)[:1]


@pytest.fixture(scope="module", params=["own walls", "bubblewrap"])
def server(request):
    """The fork server, and with which seeds it is asked."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "bubblewrap":
            if not bubblewrap_path():
                reason = (
                    "bubblewrap is not installed or may not work here; scripts/install_system_packages.sh brings it"
                )
                pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
            patch.setattr(respond, "builder", bubblewrap_path)
        with ForkServer(CHAPTER.name) as running:
            running.seeds = one_seed if request.param == "bubblewrap" else open_seeds
            yield running


@pytest.fixture
def sentinel(tmp_path):
    """A file that student code must neither see nor change."""
    path = tmp_path / "gradebook.db"
    path.write_text("marks")
    yield path
    assert path.read_text() == "marks"


@pytest.mark.case
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_ends_with_the_honest_mark(server, sentinel, attack):
    source = ATTACKS[attack]
    notebook = fill(RELEASED, {"softmax": source, "pad_batch": HONEST})
    start = time.monotonic()
    verdicts = {v.exercise: v for v in grade_notebook(notebook, CHAPTER.name, server.seeds, server)}
    assert time.monotonic() - start < SECONDS
    assert verdicts["softmax"].points == 0, verdicts["softmax"].message
    assert verdicts["softmax"].kind in {"wrong", "error", "timeout", "shortcut", "misconception"}
    assert verdicts["pad_batch"].points == (0 if attack in SELF_HARM else find("pad_batch").points)
    assert server.process.poll() is None, "the fork server lives"
    assert list(Path("/tmp").glob("attack-*")) == []


def test_a_scheduler_on_this_machine_is_out_of_reach(server):
    """Judges may be workers of a dask scheduler, which runs what it is sent: student code must never find it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.5)
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            listener.accept()[0].close()  # from outside it can be reached
        for attempt in SCHEDULER:
            source = (
                f"def softmax(o):\n    {attempt.format(port=port)}\n    return o.exp() / o.exp().sum(-1, keepdim=True)"
            )
            notebook = fill(RELEASED, {"softmax": source, "pad_batch": HONEST})
            verdicts = {v.exercise: v for v in grade_notebook(notebook, CHAPTER.name, server.seeds, server)}
            assert verdicts["softmax"].kind in {"error", "timeout"}, verdicts["softmax"].message
            with pytest.raises(TimeoutError):
                listener.accept()


def test_nothing_is_left_behind(server):
    deadline = time.monotonic() + 10
    while psutil.Process(server.process.pid).children(recursive=True) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert psutil.Process(server.process.pid).children(recursive=True) == []
