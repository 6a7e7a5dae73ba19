"""The weights of the book's touchable models, and what PyTorch computes with them; nothing is measured here.

    python experiments/touch_weights.py [NAME ...]

writes book/touch/data/NAME.js, a call of ``unrolledData`` with one JSON object. Every parameter is rounded first, to
1/10000, and the network with just these parameters, in double precision, makes the "tests": the page must agree with
them to 1e-4.
"""

import json
import sys
import time
from functools import partial
from pathlib import Path

import torch
from touch_attention import attention, attention_digits, bugs
from touch_bert import blank, masking
from touch_recurrent import gates, radius, unroll
from touch_writing import beam, sampling

FOLDER = Path(__file__).parents[1] / "book" / "touch" / "data"
LIMIT = 200_000  # bytes of one file

MODELS = {
    "unroll": unroll,
    "radius": radius,
    "gates": gates,
    "gates_gru": partial(gates, "gru"),
    "attention": attention,
    "attention_digits": attention_digits,
    "bugs": bugs,
    "beam": beam,
    "sampling": sampling,
    "blank": blank,
    "masking": masking,
}


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or MODELS:
        since = time.process_time()
        values = json.dumps(MODELS[name](), separators=(",", ":"), ensure_ascii=False)
        torch.set_default_dtype(torch.float32)
        path = FOLDER / f"{name}.js"
        path.write_text(f'unrolledData("{name}", {values});\n', "utf8")
        assert path.stat().st_size <= LIMIT, (name, path.stat().st_size)
        print(name, path.stat().st_size, f"bytes, {time.process_time() - since:.0f} s", flush=True)


if __name__ == "__main__":
    main()
