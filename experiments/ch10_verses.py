"""Chapter 10: the Transformer of chapter 9 with dropout on old and modern English, once it has been trained.

How wide to search, and how much the length counts; drawing instead of searching; what each head is worth; and whether
the words looked at are the words that matter.
"""

import time

import numpy as np
import torch
from ch09_dropout import DROPOUT
from pairs_models import WARMUP, transformer
from scipy.stats import spearmanr

from unrolled.beam_batch import best_words, search_pairs
from unrolled.bleu import bleu
from unrolled.measurements import record
from unrolled.pairs import verse_pairs
from unrolled.pruning import Head, heads_of, heads_removed
from unrolled.rollout import attention_rollout
from unrolled.sampling import next_token_probs
from unrolled.seq2seq import shift_right
from unrolled.transformer_model import Transformer
from unrolled.translation import BUDGETS, Languages, learn_pairs
from unrolled.translators import BOS, EOS, PAD

SEEDS = [0, 1, 2]
WIDTHS, ALPHAS = [1, 2, 4, 8, 16, 64], [0.0, 0.6, 1.0]
BUDGET = BUDGETS["verses"]
LEARN, TEST = verse_pairs("train"), verse_pairs("test")[::4]  # 287 verses
REFERENCES = [targets[0] for _, targets in TEST]
LANGUAGES = Languages(LEARN, BUDGET.min_count)
WAYS = {"as it is": {}, "temperature 0.5": {"temperature": 0.5}, "top 10": {"top_k": 10}, "top p 0.9": {"top_p": 0.9}}
KINDS = {"encoder.": "encoder", ".self_attention": "decoder", ".cross_attention": "cross"}


def learned(seed: int) -> Transformer:
    torch.manual_seed(seed)
    model = transformer(LANGUAGES, dropout=DROPOUT)
    options = {"updates": BUDGET.updates, "size": BUDGET.size, "lr": BUDGET.lr, "clip": BUDGET.clip}
    learn_pairs(model, LEARN, LANGUAGES, seed=seed, warmup=WARMUP["transformer"], **options)
    return model


def searched(model: Transformer) -> dict:
    """By width and alpha: BLEU, and tokens written over true tokens; the log-probability of what is most probable; and
    how often nothing at all would be more probable than that."""
    found = {}
    empty = nothing(model)
    for k in WIDTHS:
        hyps = search_pairs(model, TEST, LANGUAGES, k, BUDGET.longest)
        best = np.array([one[0].logp for one in hyps])
        said = {alpha: best_words(hyps, LANGUAGES, alpha) for alpha in ALPHAS}
        found[k] = {
            "bleu": [bleu(said[alpha], REFERENCES) for alpha in ALPHAS],
            "length": [sum(map(len, said[alpha])) / sum(map(len, REFERENCES)) for alpha in ALPHAS],
            "logp": float(best.mean()),
            "empty is better": float(np.mean(empty > best)),
        }
    return found


@torch.no_grad()
def nothing(model: Transformer) -> np.ndarray:
    """The log-probability of the empty sentence for each source: EOS at once."""
    src, lengths, _ = LANGUAGES.batch(TEST)
    scores, _ = model.step(torch.full((len(TEST),), BOS), *model.start(src, lengths))
    return torch.log_softmax(scores, dim=1)[:, EOS].double().numpy()


@torch.no_grad()
def drawn(model: Transformer, seed: int) -> dict:
    """BLEU and tokens written over true tokens, if every token is drawn; one draw for each verse."""
    found = {}
    for way, options in WAYS.items():
        generator = torch.Generator().manual_seed(seed)
        src, lengths, _ = LANGUAGES.batch(TEST)
        written, memory = model.start(src, lengths)
        y, rows = torch.full((len(TEST),), BOS), []
        for _ in range(BUDGET.longest):
            scores, written = model.step(y, written, memory)
            probs = torch.stack([next_token_probs(row, **options) for row in scores])
            y = torch.multinomial(probs, 1, generator=generator)[:, 0]
            rows.append(y)
            if all((torch.stack(rows) == EOS).any(dim=0)):
                break
        said = [LANGUAGES.target.decode(_until_the_end(row)) for row in torch.stack(rows, dim=1).tolist()]
        length = sum(map(len, said)) / sum(map(len, REFERENCES))
        found[way] = {"bleu": bleu(said, REFERENCES), "length": length}
    return found


def _until_the_end(row: list[int]) -> list[int]:
    return [y for y in row[: row.index(EOS) if EOS in row else None] if y != PAD]


@torch.no_grad()
def loss(model: Transformer) -> float:
    """Nats per token of the test verses, with the right history."""
    src, lengths, y = LANGUAGES.batch(TEST)
    y_in, targets = shift_right(y, BOS)
    scores = model(src, lengths, y_in)
    return torch.nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=PAD).item()


def kind_of(head: Head) -> str:
    return next(kind for part, kind in KINDS.items() if part in head[0])


def pruned(model: Transformer) -> dict:
    """The loss without each head; without each kind of attention; and as the least useful heads go one by one."""
    heads = heads_of(model)
    found = {"all heads": loss(model), "without one": [], "without a kind": {}, "one by one": []}
    for head in heads:
        with heads_removed(model, [head]):
            found["without one"].append({"kind": kind_of(head), "head": head[1], "loss": loss(model)})
    for kind in KINDS.values():
        with heads_removed(model, [head for head in heads if kind_of(head) == kind]):
            found["without a kind"][kind] = loss(model)
    gone: list[Head] = []
    while len(gone) < len(heads):
        losses = {}
        for head in heads:
            if head not in gone:
                with heads_removed(model, [*gone, head]):
                    losses[head] = loss(model)
        gone.append(min(losses, key=losses.get))
        found["one by one"].append({"kind": kind_of(gone[-1]), "loss": losses[gone[-1]]})
    return found


@torch.no_grad()
def deletions(model: Transformer, pair) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """How much less likely each true word gets without each word of the source (T, S), and where each step looks."""
    source, [target, *_] = pair
    cut = [source, *(source[:s] + source[s + 1 :] for s in range(len(source)))]
    src, lengths, y = LANGUAGES.batch([(words, [target]) for words in cut])
    logp = torch.log_softmax(model(src, lengths, shift_right(y, BOS)[0]), dim=-1)
    logp = logp.gather(2, y[..., None])[..., 0]  # (1 + S, T)
    look = model.look(src[:1], lengths[:1], shift_right(y[:1], BOS)[0])
    cross = look["cross"][-1][0].mean(dim=0)  # (T, S)
    through = cross @ attention_rollout(torch.stack([layer[0] for layer in look["encoder"]]))
    return (logp[:1] - logp[1:]).T.double().numpy(), {"cross": cross.numpy(), "rollout": through.numpy()}


def agreement(model: Transformer, verses: int = 100) -> dict:
    """Do weights and deletions agree? Rank correlation over the words of the source, the mean over all steps; and how
    often the word with the largest weight is the one that is missed most."""
    rank, top, chance = {"cross": [], "rollout": []}, {"cross": [], "rollout": []}, []
    for pair in [pair for pair in TEST if len(pair[0]) > 4][:verses]:
        effect, looks = deletions(model, pair)
        chance += [1 / len(pair[0])] * len(effect)
        for name, weights in looks.items():
            for row, missed in zip(weights, effect, strict=True):
                rank[name].append(spearmanr(row, missed).statistic)
                top[name].append(row.argmax() == missed.argmax())
    means = {
        name: {"rank correlation": float(np.mean(rank[name])), "same word": float(np.mean(top[name]))} for name in rank
    }
    return {**means, "chance": float(np.mean(chance)), "steps": len(chance)}


def measure(model: Transformer, seed: int) -> dict:
    return {
        "searched": searched(model),
        "drawn": drawn(model, seed),
        "pruned": pruned(model),
        "agreement": agreement(model),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"widths": WIDTHS, "alphas": ALPHAS, "verses": len(TEST), "runs": []}
    for seed in SEEDS:
        values["runs"].append(measure(learned(seed), seed))
        print(seed, values["runs"][-1], round(time.time() - since), flush=True)
    print(record("ch10_verses", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
