"""What may cross the boundary between student code and the judge: plain values, as bytes.

An observation is a dict of named values. A value is an array, a text, None, or a tuple of values; anything else
crosses as the name of its type. The encoding is a JSON header followed by raw array bytes, so decoding runs no code.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass

import numpy as np
import torch

DTYPES = {
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
}
NUMBER = (bool, int, float, complex, np.generic)
MAX_BYTES = 64 * 2**20
MAX_TEXT = 2_000
MAX_ITEMS = 10_000
MAX_DEPTH = 8

RTOL, ATOL = 1e-6, 1e-9  # float64 against float64
RTOL32 = 1e-4  # an answer that insists on float32


class BadAnswer(ValueError):
    """The bytes that came back are not an observation."""


@dataclass(frozen=True)
class Opaque:
    """A value of a kind that no exercise returns; only its type is known."""

    type_name: str


@dataclass(frozen=True)
class Raised:
    """Instead of observations: the probe raised. Two of them are equal when the classes are."""

    class_name: str
    message: str = ""


@dataclass(frozen=True)
class TimedOut:
    """Instead of observations: no answer in time, or the process died (``reason`` says which)."""

    reason: str = "no answer in time"


def canonical(value, depth: int = 0):
    """Bring a returned value into the form that is compared: array, str, None, tuple or Opaque."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    if value is None or isinstance(value, Opaque):
        return value
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, (*NUMBER, np.ndarray)):
        array = np.asarray(value)
        return array if array.dtype.name in DTYPES else Opaque(f"array of {array.dtype.name}")
    if isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        if len(value) > MAX_ITEMS:
            return Opaque(f"{type(value).__name__} of {len(value)} items")
        return _rectangle(value) if _only_numbers(value) else tuple(canonical(item, depth + 1) for item in value)
    return Opaque(type(value).__name__)


def _only_numbers(value, depth: int = 0) -> bool:
    """True for a number, and for a non-empty list of such, however nested."""
    if isinstance(value, (list, tuple)):
        return bool(value) and depth < MAX_DEPTH and all(_only_numbers(item, depth + 1) for item in value)
    return isinstance(value, NUMBER) or (isinstance(value, (torch.Tensor, np.ndarray)) and value.ndim == 0)


def _rectangle(value):
    """Numbers in a list, or in a rectangular list of lists, count as an array; a ragged one stays a tuple of rows."""
    rows = tuple(canonical(item) for item in value)
    if len({getattr(row, "shape", None) for row in rows}) > 1 or not isinstance(rows[0], np.ndarray):
        return rows
    return np.stack(rows)


def encode(observation) -> bytes:
    """An observation (dict of values, or Raised) as bytes."""
    blobs: list[bytes] = []

    def tree(value):
        if isinstance(value, np.ndarray):
            blobs.append(np.ascontiguousarray(value).tobytes())
            return {"array": value.dtype.name, "shape": list(value.shape)}
        if isinstance(value, tuple):
            return {"tuple": [tree(item) for item in value]}
        if isinstance(value, Opaque):
            return {"opaque": value.type_name}
        return {"text": value}

    if isinstance(observation, Raised):
        header = {"raised": observation.class_name, "message": observation.message[:MAX_TEXT]}
    else:
        header = {"named": {str(name): tree(canonical(value)) for name, value in observation.items()}}
    head = json.dumps(header).encode()
    return struct.pack("<I", len(head)) + head + b"".join(blobs)


def decode(data: bytes):
    """The observation in ``data``; BadAnswer if the bytes are anything else."""
    try:
        (head_length,) = struct.unpack_from("<I", data)
        header = json.loads(data[4 : 4 + head_length])
        if "raised" in header:
            return Raised(str(header["raised"])[:100], str(header["message"])[:MAX_TEXT])
        cursor = 4 + head_length

        def value(node, depth=0):
            nonlocal cursor
            if depth > MAX_DEPTH:
                raise BadAnswer("nested too deeply")
            if "array" in node:
                if node["array"] not in DTYPES:
                    raise BadAnswer("unknown dtype")
                dtype, shape = np.dtype(node["array"]), tuple(int(n) for n in node["shape"])
                if min(shape, default=0) < 0:
                    raise BadAnswer("negative size")
                size = math.prod(shape) * dtype.itemsize
                if cursor + size > len(data):
                    raise BadAnswer("truncated")
                array = np.frombuffer(data, dtype, math.prod(shape), cursor).reshape(shape)
                cursor += size
                return array
            if "tuple" in node:
                return tuple(value(item, depth + 1) for item in node["tuple"])
            if "opaque" in node:
                return Opaque(str(node["opaque"])[:100])
            text = node["text"]
            return text if text is None else str(text)[:MAX_TEXT]

        return {name: value(node) for name, node in header["named"].items()}
    except BadAnswer:
        raise
    except Exception as error:
        raise BadAnswer(f"not an observation: {type(error).__name__}") from None


@dataclass(frozen=True)
class Difference:
    """Why two values are not equal, in words a student can use."""

    expected: str
    got: str
    note: str = ""


def describe(value) -> str:
    """The kind and shape of a value: ``float64 (3, 5)``, ``(int64 (3,), bool (3, 5))``, ``'text'``."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.name
        return f"{kind} {_number(value)}" if value.ndim == 0 else f"{kind} {value.shape}"
    if isinstance(value, tuple):
        return "(" + ", ".join(describe(item) for item in value[:6]) + (", …" if len(value) > 6 else "") + ")"
    if isinstance(value, Opaque):
        return f"a {value.type_name}"
    return repr(value)


def _number(scalar) -> str:
    scalar = scalar.item() if hasattr(scalar, "item") else scalar
    return f"{scalar:.4g}" if isinstance(scalar, float) else str(scalar)


def difference(expected, got, rtol: float = RTOL) -> Difference | None:
    """None if ``got`` counts as ``expected``; otherwise what differs first."""
    if isinstance(expected, tuple) and isinstance(got, tuple) and len(expected) == len(got):
        for place, (left, right) in enumerate(zip(expected, got, strict=True)):
            inner = difference(left, right, rtol)
            if inner:
                where = f"item {place} of the returned tuple" + (f", {inner.note}" if inner.note else "")
                return Difference(inner.expected, inner.got, where)
        return None
    if not (isinstance(expected, np.ndarray) and isinstance(got, np.ndarray)):
        comparable = isinstance(expected, (str, Opaque, type(None)))
        same = comparable and type(expected) is type(got) and expected == got
        return None if same else Difference(describe(expected), describe(got))
    if expected.shape != got.shape:
        return Difference(describe(expected), describe(got), "the shape differs")
    if not _kinds_agree(expected, got):
        return Difference(describe(expected), describe(got), "the dtype differs")
    return _most_unequal(expected, got, rtol)


def _kinds_agree(expected: np.ndarray, got: np.ndarray) -> bool:
    """A float may be answered by an int; an int by a whole 0-d float; a bool only by a bool."""
    want, have = expected.dtype.kind.replace("u", "i"), got.dtype.kind.replace("u", "i")
    if want == have or (want in "fc" and have in "ifc"):
        return True
    return expected.ndim == 0 and want == "i" and have == "f"


def _most_unequal(expected: np.ndarray, got: np.ndarray, rtol: float) -> Difference | None:
    """None, or the entry that is furthest off: the first one may look equal at the digits shown."""
    if expected.dtype == got.dtype and expected.tobytes() == got.tobytes():
        return None  # the frequent case first
    wide = np.complex128 if "c" in (expected.dtype.kind, got.dtype.kind) else np.float64
    left, right = np.atleast_1d(expected.astype(wide)), np.atleast_1d(got.astype(wide))
    with np.errstate(invalid="ignore", over="ignore"):
        atol = ATOL if rtol <= RTOL else rtol
        error = np.abs(right - left)
        if (error <= atol + rtol * np.abs(left)).all() and np.isfinite(left).all():
            return None
        close = np.isclose(right, left, rtol=rtol, atol=atol, equal_nan=True)
        off = np.where(close, -1, np.nan_to_num(error, nan=np.inf))
    if close.all():
        return None
    where = tuple(int(place) for place in np.unravel_index(off.argmax(), off.shape))
    at = "" if expected.ndim == 0 else f"at [{', '.join(map(str, where))}], "
    count = "" if expected.ndim == 0 else f"{int((~close).sum())} of {close.size} entries differ"
    return Difference(f"{at}{_number(np.atleast_1d(expected)[where])}", _number(np.atleast_1d(got)[where]), count)


def equal(expected, got, rtol: float = RTOL) -> Difference | None:
    """Compare two whole observations; None if they agree."""
    if isinstance(expected, (Raised, TimedOut)) or isinstance(got, (Raised, TimedOut)):
        if isinstance(expected, Raised) and isinstance(got, Raised) and expected.class_name == got.class_name:
            return None
        return Difference(_outcome(expected), _outcome(got))
    if set(expected) != set(got):
        return Difference(", ".join(sorted(expected)), ", ".join(sorted(got)), "other observations came back")
    for name, value in expected.items():
        found = difference(value, got[name], rtol)
        if found:
            return Difference(found.expected, found.got, f"{name}: {found.note}" if found.note else name)
    return None


def _outcome(observation) -> str:
    if isinstance(observation, Raised):
        return f"{observation.class_name}: {observation.message}" if observation.message else observation.class_name
    if isinstance(observation, TimedOut):
        return observation.reason
    return ", ".join(f"{name} {describe(value)}" for name, value in list(observation.items())[:3])


def insists_on_float32(expected, got) -> bool:
    """True if the reference answered in float64 where the answer came in float32."""
    if isinstance(expected, dict) and isinstance(got, dict):
        return any(insists_on_float32(value, got.get(name)) for name, value in expected.items())
    if isinstance(expected, tuple) and isinstance(got, tuple):
        return any(insists_on_float32(left, right) for left, right in zip(expected, got, strict=False))
    arrays = isinstance(expected, np.ndarray) and isinstance(got, np.ndarray)
    return arrays and expected.dtype == np.float64 and got.dtype in (np.float32, np.float16)
