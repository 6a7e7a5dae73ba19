"""Chapter 11: COMET on the triples of WordNet: subjects that were never read, objects judged by a rule."""

import random
import time
from collections import defaultdict

import torch

from unrolled.comet import TripleTokens, complete, learn_triples, most_frequent, triple_loss
from unrolled.gpt import GPTConfig, count_parameters
from unrolled.gpt_model import GPT
from unrolled.knowledge import RELATIONS, Triple, wordnet_triples
from unrolled.measurements import record
from unrolled.plausible import Judge

SEEDS = [0, 1, 2]
MERGES, CONTEXT, STEPS = 1000, 40, 1300
PARTS = "train", "validation", "test"


def questions_of(triples: list[Triple]) -> list[tuple[str, str]]:
    """Every subject with every relation that there is for it, each once."""
    return list(dict.fromkeys((s, r) for s, r, _ in triples))


def learned(parts: dict[str, list[Triple]], tokens: TripleTokens, steps: int, seed: int) -> tuple[GPT, dict]:
    """A model, and its nats per test triple."""
    cfg = GPTConfig(len(tokens), context=CONTEXT, D=96, n_heads=4, layers=2, d_ff=384)
    examples = {part: [tokens.example(triple) for triple in triples] for part, triples in parts.items()}
    short = {part: [e for e in found if len(e[0]) <= CONTEXT] for part, found in examples.items()}
    torch.manual_seed(seed)
    model, start = GPT(cfg), time.process_time()
    learn_triples(model, short["train"], tokens.end, steps, seed=seed, lr=3e-3, warmup=100)
    run = {"seconds": round(time.process_time() - start, 1), "parameters": count_parameters(cfg)}
    for part in ("validation", "test"):
        with torch.no_grad():
            batches = [short[part][k : k + 256] for k in range(0, len(short[part]), 256)]
            nats = sum(triple_loss(model, batch, tokens.end).double().sum().item() for batch in batches)
        run[part] = round(nats / len(short[part]), 3)
    return model, run


def report(asked: list[tuple[str, str]], said: list[str], judge: Judge, known: set[str]) -> dict:
    """Shares that the rule accepts, of all, of subjects of one word, by relation; and how many objects are new."""
    verdicts = [judge((s, r, o)) for (s, r), o in zip(asked, said, strict=True)]
    accepted = [verdict != "neither" for verdict in verdicts]
    groups = defaultdict(list)
    for (s, r), good in zip(asked, accepted, strict=True):
        groups[r].append(good)
        if s.isalpha():
            groups["one word"].append(good)
    new = [o not in known for o in said]
    return {
        "listed": round(verdicts.count("listed") / len(said), 4),
        "accepted": round(sum(accepted) / len(said), 4),
        "different objects": len(set(said)),
        "new objects": sum(new),
        "new objects accepted": sum(n and good for n, good in zip(new, accepted, strict=True)),
        "by group": {name: round(sum(found) / len(found), 4) for name, found in groups.items()},
    }


def baselines(train: list[Triple], asked: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Four ways to answer without a network."""
    frequent, rng, by_relation = most_frequent(train), random.Random(0), defaultdict(list)
    for _, r, o in train:
        by_relation[r].append(o)
    return {
        "any object of the relation": [rng.choice(by_relation[r]) for _, r in asked],
        "most frequent object": [frequent[r] for _, r in asked],
        "always entity": ["entity" for _ in asked],
        "last word": [s.split()[-1] if " " in s and r == "is a" else frequent[r] for s, r in asked],
    }


def main():
    torch.set_num_threads(1)
    since, parts = time.time(), {part: wordnet_triples(part) for part in PARTS}
    tokens, judge, asked = TripleTokens(RELATIONS.values(), MERGES), Judge.wordnet(), questions_of(parts["test"])
    known = {o for _, _, o in parts["train"]}
    values = {"questions": len(asked), "by relation": {r: sum(q == r for _, q in asked) for r in RELATIONS.values()}}
    values["one word"] = sum(s.isalpha() for s, _ in asked)
    values["baselines"] = {
        name: report(asked, said, judge, known) for name, said in baselines(parts["train"], asked).items()
    }
    print(values, round(time.time() - since), flush=True)
    values["runs"], chosen = [], random.Random(1).sample(range(len(asked)), 14)
    for seed in SEEDS:
        model, run = learned(parts, tokens, STEPS, seed)
        said = complete(model, tokens, asked)
        run |= report(asked, said, judge, known)
        run["shown"] = [[*asked[i], said[i], judge((*asked[i], said[i]))] for i in chosen]
        values["runs"].append(run)
        print(seed, run, round(time.time() - since), flush=True)
    print(record("ch11_comet", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
