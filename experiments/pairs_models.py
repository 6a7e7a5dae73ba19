"""The translators of chapters 6, 7 and 9 on the same three tasks with the same budget (unrolled.translation.BUDGETS).

    python experiments/pairs_models.py plain letters verses french

measures the named model on the named tasks over all seeds and writes experiments/pairs_<model>.json; tasks that are not
named keep what was measured before. French has to be downloaded.
"""

import sys
import time

import torch

from unrolled.attention import BilinearScore
from unrolled.measurements import FOLDER, record, stored
from unrolled.transformer_model import Transformer
from unrolled.translation import BUDGETS, Languages, learn_pairs, scores, scores_by_length, translate
from unrolled.translators import AttentionSeq2Seq, RecurrentReader, Seq2Seq

SEEDS = [0, 1, 2]
E, H = 48, 128
EDGES = {
    "letters": [1, 5, 6, 7, 8, 9, 10, 11, 12, 30],
    "verses": [1, 10, 14, 18, 22, 40],
    "french": [1, 5, 7, 9, 11, 20],
}


def plain(languages: Languages) -> Seq2Seq:
    """One context vector, read at every step (chapter 6)."""
    reader = RecurrentReader(len(languages.source), E, H // 2)
    return Seq2Seq(reader, len(languages.target), E, H)


def attention(languages: Languages) -> AttentionSeq2Seq:
    """A context of its own for every step (chapter 7); narrower, so that it has no more weights than the plain one."""
    H = 112
    reader = RecurrentReader(len(languages.source), E, H // 2)
    return AttentionSeq2Seq(reader, BilinearScore(H, reader.width), len(languages.target), E, H)


def transformer(languages: Languages, dropout: float = 0.0) -> Transformer:
    """One encoder layer and one decoder layer, as the others have one GRU each (chapter 9); about as many weights."""
    sizes = len(languages.source), len(languages.target)
    return Transformer(*sizes, D=96, n_heads=4, layers=1, d_ff=160, dropout=dropout)


MODELS = {"plain": plain, "attention": attention, "transformer": transformer}
WARMUP = {"transformer": 400}  # updates in which the step size grows: part of this model's recipe


def measure(name: str, task: str, seed: int) -> dict:
    budget = BUDGETS[task]
    pairs = {part: budget.load(part) for part in ("train", "test")}
    languages = Languages(pairs["train"], budget.min_count)
    torch.manual_seed(seed)
    model = MODELS[name](languages)
    begin = time.process_time()
    options = {"updates": budget.updates, "size": budget.size, "lr": budget.lr, "clip": budget.clip}
    losses = learn_pairs(model, pairs["train"], languages, seed=seed, warmup=WARMUP.get(name, 0), **options)
    seconds = time.process_time() - begin
    said = translate(model, pairs["test"], languages, budget.longest)
    return {
        "weights": sum(p.numel() for p in model.parameters()),
        "recurrent weights": sum(p.numel() for n, p in model.named_parameters() if "gru" in n),
        "vocabularies": [len(languages.source), len(languages.target)],
        "pairs": {part: len(rows) for part, rows in pairs.items()},
        "cpu seconds": round(seconds, 1),
        "loss": sum(losses[-100:]) / 100,
        **scores(pairs["test"], said),
        "by length": scores_by_length(pairs["test"], said, EDGES[task]),
        "copied": scores(pairs["test"], [source for source, _ in pairs["test"]]),
        "said": {" ".join(s): " ".join(t) for (s, _), t in list(zip(pairs["test"], said, strict=True))[:2]},
    }


def main():
    torch.set_num_threads(1)
    since, (name, *tasks) = time.time(), sys.argv[1:]
    values = stored(f"pairs_{name}") if (FOLDER / f"pairs_{name}.json").exists() else {}
    for task in tasks:
        values[task] = []
        for seed in SEEDS:
            values[task].append(measure(name, task, seed))
            print(name, task, seed, {k: v for k, v in values[task][-1].items() if k != "by length"}, flush=True)
        record(f"pairs_{name}", SEEDS, values, since)


if __name__ == "__main__":
    main()
