"""Chapter 11: a GPT that reads letters and one that reads pieces, against counting, on the verses of chapter 3.

Nats per letter on the same test verses; a model of pieces is charged for its pieces and divided by the letters. The
letter models then write with the cache as it should be, and with two mistakes that no loss can see.
"""

import time

import numpy as np
import torch

from unrolled.documents import verse_letters
from unrolled.gpt import GPTConfig, count_parameters, generate, windows
from unrolled.gpt_model import GPT
from unrolled.gpt_training import learn_windows, one_text, text_surprise
from unrolled.measurements import record
from unrolled.ngram import KneserNey
from unrolled.tokenization import ByteBPE

SEEDS = [0, 1, 2]
MERGES = 500
DOCUMENTS, ALPHABET = verse_letters()
TEXTS = {part: ["".join(ALPHABET.decode(verse)) for verse in verses] for part, verses in DOCUMENTS.items()}
LETTERS = {part: sum(map(len, verses)) for part, verses in DOCUMENTS.items()}
WORDS = set("".join(TEXTS["train"]).split())
MODELS = {  # sizes, windows per batch, steps, step size
    "letters": (GPTConfig(len(ALPHABET), context=64, D=96, n_heads=4, layers=2, d_ff=384), 32, 800, 4e-3),
    "pieces": (GPTConfig(256 + MERGES, context=64, D=128, n_heads=4, layers=2, d_ff=512), 16, 1000, 4e-3),
}


def counted(documents: dict[str, list[list[int]]], V: int, orders) -> list[float]:
    """Nats per letter of Kneser-Ney."""
    tokens = sum(map(len, documents["test"]))
    return [KneserNey(n, V).fit(documents["train"]).loss(documents["test"]) * tokens / LETTERS["test"] for n in orders]


def places(model: GPT, ids: torch.Tensor, T: int) -> list[float]:
    """Mean nats at each place of windows that stand side by side."""
    both = windows(ids, T, T, len(ids) - T - 1)[0]
    with torch.no_grad():
        log_p = torch.cat([model(x).log_softmax(-1) for x in both.x.split(64)])
    return [round(v, 4) for v in -log_p.gather(-1, both.y[..., None])[..., 0].mean(0).double().numpy()]


def reads(model: GPT) -> dict:
    """The model as ``generate`` asks for it, right and with two mistakes."""
    return {
        "right": model.read,
        "positions restart": lambda ids, at, past: model.read(ids, at if past is None else at * 0, past),
        "only the last key": lambda ids, at, past: model.read(ids, at, None if past is None else past[:, -1:]),
    }


def written(model: GPT, read, seed: int, judge: KneserNey) -> dict[str, float]:
    """Verses drawn from the model: the surprise of a 7-gram at them, and the share of words that the text has."""
    rng = torch.Generator().manual_seed(seed)
    starts = torch.tensor([[ALPHABET.ids["\n"], *verse[:15]] for verse in DOCUMENTS["validation"][:32]])
    draw = lambda o: torch.multinomial(o.softmax(-1), 1, generator=rng)[:, 0]  # noqa: E731
    rows = generate(read, starts, model.cfg.context - 16, model.cfg.context, pick=draw)[:, 1:]
    nats = np.concatenate([judge.surprise([row])[15:] for row in rows.tolist()])
    words = [word for row in rows for word in "".join(ALPHABET.decode(row[15:].tolist())).split()[1:-1]]
    return {"nats": float(nats.mean()), "words": sum(word in WORDS for word in words) / len(words)}


def measure(name: str, seed: int, documents: dict[str, list[list[int]]]) -> dict:
    cfg, size, steps, lr = MODELS[name]
    texts = {part: one_text(verses) for part, verses in documents.items()}
    both, split = torch.cat([texts["train"], texts["validation"]]), len(texts["train"])
    torch.manual_seed(seed)
    model, run = GPT(cfg), {"steps": [], "seconds": [], "nats": []}

    def nats(part: str) -> float:
        found = text_surprise(model, texts[part], cfg.context, cfg.context // 2)
        return round(found.double().sum().item() / LETTERS[part], 4)

    def look(done: int, seconds: float) -> None:
        for key, value in (("steps", done), ("seconds", seconds), ("nats", nats("test"))):
            run[key].append(value)

    train, _ = windows(both, cfg.context, cfg.context, split)
    learn_windows(model, train, steps, seed=seed, size=size, lr=lr, look=look)
    run["validation"], run["passes"] = nats("validation"), round(size * steps / len(train.x), 2)
    run["places"] = places(model, texts["test"], cfg.context)
    if name == "letters":
        apart = text_surprise(model, texts["test"], cfg.context, cfg.context)
        run["side by side"] = round(apart.double().mean().item(), 4)
        judge = KneserNey(7, cfg.V).fit(DOCUMENTS["train"])
        run["written"] = {way: written(model, read, seed, judge) for way, read in reads(model).items()}
    return run


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"letters in the text": LETTERS, "merges": MERGES}
    tokenizer = ByteBPE.train("".join(TEXTS["train"]), MERGES)
    pieces = {part: [tokenizer.encode(verse) for verse in verses] for part, verses in TEXTS.items()}
    values["letters per piece"] = LETTERS["test"] / sum(map(len, pieces["test"]))
    values["first merges"] = [list(pair) for pair in tokenizer.merges[:12]]
    values["Kneser-Ney of letters"] = counted(DOCUMENTS, len(ALPHABET), range(1, 8))
    values["Kneser-Ney of pieces"] = counted(pieces, len(tokenizer), range(1, 6))
    values["parameters"] = {name: count_parameters(MODELS[name][0]) for name in MODELS}
    print(values, round(time.time() - since), flush=True)
    for name, documents in (("letters", DOCUMENTS), ("pieces", pieces)):
        values[name] = []
        for seed in SEEDS:
            values[name].append(measure(name, seed, documents))
            print(name, seed, values[name][-1], round(time.time() - since), flush=True)
    print(record("ch11_text", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
