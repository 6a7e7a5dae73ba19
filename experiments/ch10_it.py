"""Chapter 10: a small Transformer translates "it" in made-up English: is it right, where does it look, what counts?"""

import random
import time
from dataclasses import replace

import numpy as np
import torch
from scipy.stats import spearmanr

from unrolled.attention import BilinearScore
from unrolled.coreference import ANIMALS, OF_ANIMALS, OF_PLACES, PLACES, Sentence, random_sentences
from unrolled.masks import causal_mask
from unrolled.measurements import record
from unrolled.rollout import attention_rollout
from unrolled.seq2seq import shift_right
from unrolled.transformer_model import Transformer
from unrolled.translation import Languages, learn_pairs, translate
from unrolled.translators import BOS, AttentionSeq2Seq, RecurrentReader

SEEDS = [0, 1, 2]
UPDATES, WARMUP, LR = 1000, 50, 3e-3
LEARN = random_sentences(6000, random.Random(0), test=False)
TEST = [sentence for sentence in random_sentences(900, random.Random(1), test=True) if sentence.decides][:300]
LANGUAGES = Languages([sentence.pair() for sentence in LEARN])
SHOWN = [Sentence("dog", "street", adjective, 0) for adjective in ("tired", "wide")]


def transformer() -> Transformer:
    sizes = len(LANGUAGES.source), len(LANGUAGES.target)
    return Transformer(*sizes, D=32, n_heads=4, layers=2, d_ff=64)


def recurrent() -> AttentionSeq2Seq:
    reader = RecurrentReader(len(LANGUAGES.source), 24, 24)
    return AttentionSeq2Seq(reader, BilinearScore(48, reader.width), len(LANGUAGES.target), 24, 48)


MODELS = {"Transformer": transformer, "RNN with attention": recurrent}


def learned(name: str, seed: int):
    torch.manual_seed(seed)
    model = MODELS[name]()
    pairs = [sentence.pair() for sentence in LEARN]
    warmup = WARMUP if name == "Transformer" else 0
    learn_pairs(model, pairs, LANGUAGES, updates=UPDATES, seed=seed, lr=LR, warmup=warmup)
    return model


def pronouns(model, sentences: list[Sentence]) -> list[str]:
    """il or elle, or neither, as the model writes it on its own after parce qu'."""
    said = translate(model, [sentence.pair() for sentence in sentences], LANGUAGES)
    return [[*hyp[hyp.index("qu'") :], ""][1] if "qu'" in hyp else "" for hyp in said]


def right(sentence: Sentence) -> str:
    french = sentence.french()
    return french[french.index("qu'") + 1]


def turned(sentence: Sentence, what: str, rng: random.Random) -> Sentence:
    """The sentence with a noun of the other gender in place of the one that is meant, or of the other one, or with an
    adjective of the other kind."""
    if what == "adjective":
        others = OF_PLACES if sentence.adjective in OF_ANIMALS else OF_ANIMALS
        return replace(sentence, adjective=rng.choice(list(others)))
    noun = sentence.meant if what == "noun that is meant" else sentence.other
    kind, nouns = ("animal", ANIMALS) if noun in ANIMALS else ("place", PLACES)
    return replace(sentence, **{kind: rng.choice([n for n in nouns if nouns[n][1] != nouns[noun][1]])})


def flips(model, rng: random.Random) -> dict[str, float]:
    """How often the pronoun changes when one word is exchanged."""
    before, found = pronouns(model, TEST), {}
    for what in ("noun that is meant", "other noun", "adjective"):
        after = pronouns(model, [turned(sentence, what, rng) for sentence in TEST])
        found[what] = float(np.mean([a != b for a, b in zip(before, after, strict=True)]))
    return found


@torch.no_grad()
def follows(model) -> dict[str, float]:
    """The wrong pronoun is put into its mouth: does the adjective follow the pronoun, or the noun that is meant?"""
    adjectives, found = {**OF_ANIMALS, **OF_PLACES}, []
    for sentence in TEST:
        forms, french = adjectives[sentence.adjective], sentence.french()
        if forms[0] != forms[1]:
            step, pronoun = french.index("trop") + 1, right(sentence)
            forced = "il" if pronoun == "elle" else "elle"
            history = [forced if word == pronoun else word for word in french]
            src, lengths, y = LANGUAGES.batch([(sentence.english(), [history])])
            [said] = LANGUAGES.target.decode(model(src, lengths, shift_right(y, BOS)[0])[0, step].argmax()[None])
            wrong = forms["mf".index("f" if pronoun == "il" else "m")]
            found.append((said == wrong, said == french[step]))
    return dict(zip(("the pronoun", "the noun"), np.mean(found, axis=0).tolist(), strict=True))


@torch.no_grad()
def looks(model: Transformer, sentence: Sentence) -> dict[str, np.ndarray]:
    """Where "it" looks: (layers, heads, words), the rollout of the encoder, and where the step looks that says il or
    elle (layers, heads, words)."""
    src, lengths, y = LANGUAGES.batch([sentence.pair()])
    said = model.look(src, lengths, shift_right(y, BOS)[0])
    it, step = sentence.english().index("it"), sentence.french().index("qu'") + 1
    encoder, cross = (torch.stack([layer[0] for layer in said[part]]) for part in ("encoder", "cross"))
    found = {"it": encoder[:, :, it], "rollout": attention_rollout(encoder)[it], "step": cross[:, :, step]}
    return {name: weights.double().numpy() for name, weights in found.items()}


@torch.no_grad()
def deletions(model, sentence: Sentence) -> np.ndarray:
    """How much less likely the right pronoun gets, in nats, if a word of the source is left out (words,)."""
    english, french = sentence.english(), sentence.french()
    step = french.index("qu'") + 1
    cut = [english, *(english[:s] + english[s + 1 :] for s in range(len(english)))]
    src, lengths, y = LANGUAGES.batch([(words, [french]) for words in cut])
    logp = torch.log_softmax(model(src, lengths, shift_right(y, BOS)[0])[:, step], dim=-1)[:, y[0, step]]
    return (logp[0] - logp[1:]).double().numpy()


@torch.no_grad()
def carried(model: Transformer, rng: random.Random) -> dict[str, float]:
    """Which word's vector carries the answer from the encoder to the decoder? The vector of one word is exchanged for
    the one that it has when the adjective is of the other kind: how often does the pronoun change with it?"""
    found = {}
    for sentence in TEST[:150]:
        other, english = turned(sentence, "adjective", rng), sentence.english()
        S, step = len(english), sentence.french().index("qu'") + 1
        memory, exchanged = (model.encoder(LANGUAGES.batch([s.pair()])[0])[0] for s in (sentence, other))  # (1, S, D)
        rows = memory.repeat(S, 1, 1)
        rows[range(S), range(S)] = exchanged[0]
        y_in = shift_right(LANGUAGES.batch([sentence.pair()])[2], BOS)[0][:, : step + 1].repeat(S, 1)
        states = model.decoder(y_in, rows, causal_mask(step + 1))[0]
        said = LANGUAGES.target.decode(model.output(states[:, -1]).argmax(-1))
        roles = {sentence.meant: "noun that is meant", sentence.other: "other noun", sentence.adjective: "adjective"}
        for word, pronoun in zip(english, said, strict=True):
            role = roles.get(word, word if word in ("it", "because", "was", "too", ".") else "any other")
            found.setdefault(role, []).append(pronoun == right(other))
    return {role: float(np.mean(rows)) for role, rows in found.items()}


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(spearmanr(a, b).statistic)


def reading(model: Transformer) -> dict:
    """Mean weights of "it" on the words that matter, and how they agree with what deletions do."""
    on = {what: [] for what in ("meant", "other", "adjective", "it")}
    agree, more = {name: [] for name in ("last layer", "rollout", "step")}, []
    for sentence in TEST[:150]:
        seen, effect, words = looks(model, sentence), deletions(model, sentence), sentence.english()
        views = {"last layer": seen["it"][-1].mean(0), "rollout": seen["rollout"], "step": seen["step"][-1].mean(0)}
        places = {"meant": sentence.meant, "other": sentence.other, "adjective": sentence.adjective, "it": "it"}
        for what, word in places.items():
            on[what].append(seen["it"][:, :, words.index(word)])
        for name, weights in views.items():
            agree[name].append(rank_correlation(weights, effect))
        more.append([w[words.index(sentence.meant)] > w[words.index(sentence.other)] for w in views.values()])
    return {
        "weights of it": {what: np.mean(rows, axis=0).round(3).tolist() for what, rows in on.items()},
        "rank correlation": {name: float(np.mean(rows)) for name, rows in agree.items()},
        "more on the meant": dict(zip(agree, np.mean(more, axis=0).tolist(), strict=True)),
    }


def measure(name: str, seed: int) -> dict:
    model = learned(name, seed)
    said = pronouns(model, TEST)
    found = {
        "right": float(np.mean([a == right(sentence) for a, sentence in zip(said, TEST, strict=True)])),
        "weights": sum(p.numel() for p in model.parameters()),
        "flips": flips(model, random.Random(seed)),
        "adjective follows": follows(model),
        "shown": [" ".join(hyp) for hyp in translate(model, [s.pair() for s in SHOWN], LANGUAGES)],
    }
    if name == "Transformer":
        found |= reading(model) | {"carried by": carried(model, random.Random(seed))}
        found["maps"] = [
            {key: weights.round(3).tolist() for key, weights in looks(model, s).items()}
            | {"deletions": deletions(model, s).round(3).tolist()}
            for s in SHOWN
        ]
    return found


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"updates": UPDATES, "words": [s.english() for s in SHOWN], "tested": len(TEST)}
    for name in MODELS:
        values[name] = []
        for seed in SEEDS:
            values[name].append(measure(name, seed))
            print(name, seed, {k: v for k, v in values[name][-1].items() if k != "maps"}, flush=True)
    print(record("ch10_it", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
