"""Triples as tokens, what a model writes after them, and the rule that judges it."""

import torch

from unrolled.comet import END, TripleTokens, complete, learn_triples, triple_loss
from unrolled.gpt import GPTConfig
from unrolled.gpt_model import GPT
from unrolled.merge_tree import draw_merge_tree, joinings
from unrolled.plausible import Judge
from unrolled.tokenization import ByteBPE

NAMES = {"1": "lorry", "2": "vehicle", "3": "thing", "4": "wheel", "5": "entity", "6": "warm", "7": "hot",
         "8": "heated", "9": "lorry", "10": "driver's mate"}  # fmt: skip
LINKS = [("1", "is a", "2"), ("2", "is a", "3"), ("3", "is a", "5"), ("5", "is a", "10"), ("2", "has part", "4"),
         ("6", "is like", "7"), ("8", "is like", "7"), ("9", "causes", "4")]  # fmt: skip


def test_the_rule():
    judge = Judge(NAMES, LINKS)
    verdicts = {
        "listed": [("lorry", "is a", "vehicle"), ("lorry", "causes", "wheel"), ("warm", "is like", "hot")],
        "plausible": [
            ("lorry", "is a", "entity"),
            ("lorry", "has part", "wheel"),
            ("hot", "is like", "warm"),
            ("warm", "is like", "heated"),
        ],
        "neither": [
            ("lorry", "is a", "driver's mate"),  # four links up
            ("vehicle", "is a", "lorry"),
            ("wheel", "has part", "lorry"),
            ("warm", "is like", "warm"),
            ("nobody", "is a", "thing"),
            ("lorry", "is a", "lorry"),
        ],
    }
    assert {
        v: [triple for found in verdicts.values() for triple in found if judge(triple) == v] for v in verdicts
    } == verdicts


def test_the_rule_knows_wordnet():
    judge = Judge.wordnet()
    assert judge(("jack pine", "is a", "pine")) == "listed"
    assert judge(("jack pine", "is a", "conifer")) == "plausible"
    assert judge(("jack pine", "is a", "city")) == "neither"


def test_a_model_learns_and_completes():
    torch.manual_seed(0)
    tokens = TripleTokens(["is a", "has part"], merges=200)
    triples = [
        ("cat", "is a", "animal"),
        ("cat", "has part", "tail"),
        ("rose", "is a", "plant"),
        ("red rose", "is a", "rose"),
    ]
    examples = [tokens.example(triple) for triple in triples]
    assert all(tokens.text.symbols[ids[-1]] == END for ids, _ in examples)
    model = GPT(GPTConfig(len(tokens), context=24, D=32, n_heads=2, layers=1, d_ff=64))
    before = triple_loss(model, examples, tokens.end).mean().item()
    learn_triples(model, examples, tokens.end, 80, seed=0, size=4, lr=1e-2, warmup=10)
    assert triple_loss(model, examples, tokens.end).mean().item() < 0.1 < before
    assert complete(model, tokens, [(s, r) for s, r, _ in triples]) == [o for _, _, o in triples]
    assert complete(model, tokens, [("cat", "is a")], longest=1)[0] != "animal"


def test_joinings_are_those_of_the_encoder():
    gpt2 = ByteBPE.gpt2()
    for word in ("ĠSolidGoldMagikarp", "Ġantidisestablishmentarianism", "Ġthe", "q"):
        steps = joinings(word, gpt2.merges)
        pieces = len(word) - len(steps)
        assert pieces == len(gpt2._pieces(word))
        assert all("".join(gpt2.merges[rank]) == word[first:end] for rank, first, _, end in steps)
    assert draw_merge_tree("ĠSolidGoldMagikarp", gpt2).texts[-1].get_text() == "␣SolidGoldMagikarp\n43453"
