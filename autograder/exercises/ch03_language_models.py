"""The exercises of chapter 3 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise import Exercise
from autograder.probes import ch03_language_models as probes
from unrolled import language_model, sampling, word2vec

SETUP_NAMES = frozenset()


# ---- 3.1 bigram_logprobs ----

BIGRAM_LOGPROBS = Exercise(
    number="3.1",
    references=(language_model.bigram_logprobs,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    equivalent={"counts = torch.full((V, V), float(k))": "the table is square: V and V swapped are V and V."},
)


@BIGRAM_LOGPROBS.misconception(
    "The columns are normalised, not the rows",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "In your table the columns sum to 1, after exp, and the rows do not.",
        "A row holds what may follow one id: its probabilities sum to 1. The sum runs over the next id, axis 1.",
        "Read the equation of the bigram model: over what does the sum below the line run?",
    ),
)
def bigram_logprobs__columns_normalised(docs, V, k):
    counts = torch.full((V, V), float(k))
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log(counts / counts.sum(dim=0, keepdim=True))


@BIGRAM_LOGPROBS.misconception(
    "The rows belong to the next id, the columns to the previous one",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Your table tells what came *before* each id.",
        "The pair was counted at [next, previous]. The row is the condition: the previous id.",
        "Read what the task says about rows and columns.",
    ),
)
def bigram_logprobs__transposed(docs, V, k):
    counts = torch.full((V, V), float(k))
    for ids in docs:
        counts += torch.bincount(V * ids[1:] + ids[:-1], minlength=V * V).view(V, V)
    return torch.log(counts / counts.sum(dim=1, keepdim=True))


@BIGRAM_LOGPROBS.misconception(
    "k is added after normalising",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Your rows sum to more than 1, after exp.",
        "k is a number of imagined pairs. It is added to the counts; then comes the division.",
        "Read the equation of the bigram model: k stands above and below the line.",
    ),
)
def bigram_logprobs__smoothed_after(docs, V, k):
    counts = torch.zeros(V, V)
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log(counts / counts.sum(dim=1, keepdim=True).clamp(min=1) + k)


@BIGRAM_LOGPROBS.misconception(
    "k is added to probabilities, which are normalised again",
    fails=BIGRAM_LOGPROBS.all_but("short"),
    hints=(
        "Your rows sum to 1, but what was seen a hundred times is smoothed as much as what was seen once.",
        "k was added after the first division. Added to the counts, it matters less the more was counted.",
        "Read the equation of the bigram model: to what is k added?",
    ),
)
def bigram_logprobs__normalised_twice(docs, V, k):
    counts = torch.zeros(V, V)
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    p = counts / counts.sum(dim=1, keepdim=True).clamp(min=1) + k
    return torch.log(p / p.sum(dim=1, keepdim=True))


@BIGRAM_LOGPROBS.misconception(
    "k is missing below the line",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Your rows sum to more than 1, after exp, and a row without any count is infinite.",
        "Every one of the V counts of a row was raised by k, so the sum of the row is larger by k times V.",
        "Read the equation of the bigram model: k stands above and below the line.",
    ),
)
def bigram_logprobs__sum_not_smoothed(docs, V, k):
    counts = torch.zeros(V, V)
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log((counts + k) / counts.sum(dim=1, keepdim=True))


@BIGRAM_LOGPROBS.misconception(
    "k is added below the line once, not once for each id",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Your rows sum to more than 1, after exp.",
        "Every one of the V counts of a row was raised by k, so the sum of the row is larger by k times V, not by k.",
        "Read the equation of the bigram model: k stands inside of the sum below the line.",
    ),
)
def bigram_logprobs__k_once(docs, V, k):
    counts = torch.zeros(V, V)
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log((counts + k) / (counts.sum(dim=1, keepdim=True) + k))


@BIGRAM_LOGPROBS.misconception(
    "Pairs are counted across documents",
    fails=("bigram_logprobs_several", "bigram_logprobs_short", "bigram_logprobs_untouched"),
    hints=(
        "One document is right; several of them have a few pairs too many.",
        "The documents were joined before counting, so the last id of one is followed by the first of the next.",
        "Read what the task says about docs.",
    ),
)
def bigram_logprobs__across_documents(docs, V, k):
    counts, ids = torch.full((V, V), float(k)), torch.cat(list(docs))
    counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log(counts / counts.sum(dim=1, keepdim=True))


@BIGRAM_LOGPROBS.misconception(
    "A pair that occurs several times in a document is counted once",
    fails=BIGRAM_LOGPROBS.all_but("short"),
    hints=(
        "Documents with a single pair are right. In long ones your counts are too small.",
        "counts[i, j] += 1 with tensors i and j adds 1 to a place once, however often the place is named.",
        "Read about index_put_ with accumulate=True, or about bincount; or count in a loop.",
    ),
)
def bigram_logprobs__repeats_lost(docs, V, k):
    counts = torch.full((V, V), float(k))
    for ids in docs:
        counts[ids[:-1], ids[1:]] += 1
    return torch.log(counts / counts.sum(dim=1, keepdim=True))


@BIGRAM_LOGPROBS.misconception(
    "Divided by how often an id occurs, its place at the end of a document included",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Some of your rows sum to less than 1, after exp.",
        "The last id of a document has no successor: it occurs, but begins no pair. Divide by the number of pairs.",
        "Read the equation of the bigram model: what is summed below the line?",
    ),
)
def bigram_logprobs__occurrences(docs, V, k):
    counts, occurs = torch.full((V, V), float(k)), torch.full((V, 1), float(k * V))
    for ids in docs:
        occurs[:, 0] += torch.bincount(ids, minlength=V)
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log(counts / occurs)


@BIGRAM_LOGPROBS.misconception(
    "Only ids that occur count as possible successors below the line",
    fails=("bigram_logprobs_unseen",),
    hints=(
        "All is right as long as every id of the vocabulary occurs in the documents.",
        "The sum of a row grows by k for each of the V ids, seen or not; yours counts only those that were seen.",
        "Read what the task says about V.",
    ),
)
def bigram_logprobs__seen_ids(docs, V, k):
    counts, seen = torch.zeros(V, V), len(torch.cat(list(docs)).unique())
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log((counts + k) / (counts.sum(dim=1, keepdim=True) + k * seen))


@BIGRAM_LOGPROBS.misconception(
    "The whole table is normalised: probabilities of pairs",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Your whole table sums to 1, after exp, where every row should.",
        "That is how likely a pair is. Asked is how likely the second id is when the first is known.",
        "Read the equation of the bigram model: what stands behind the bar?",
    ),
)
def bigram_logprobs__joint(docs, V, k):
    counts = torch.full((V, V), float(k))
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return torch.log(counts / counts.sum())


@BIGRAM_LOGPROBS.misconception(
    "Probabilities are returned, without the logarithm",
    fails=BIGRAM_LOGPROBS.all_but(),
    hints=(
        "Your numbers lie between 0 and 1, where none may be above 0.",
        "The probabilities are right; take their natural logarithm.",
        "Read what the task says about what is returned.",
    ),
)
def bigram_logprobs__no_log(docs, V, k):
    counts = torch.full((V, V), float(k))
    for ids in docs:
        counts += torch.bincount(V * ids[:-1] + ids[1:], minlength=V * V).view(V, V)
    return counts / counts.sum(dim=1, keepdim=True)


# ---- 3.2 lm_windows ----

LM_WINDOWS = Exercise(
    number="3.2",
    references=(language_model.lm_windows,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    equivalent={"inputs, targets = ([], [])": "two empty lists swapped are two empty lists."},
)


@LM_WINDOWS.misconception(
    "The targets are the inputs",
    fails=LM_WINDOWS.all_but("inputs"),
    hints=(
        "Your inputs are right, and your targets are the same.",
        "Then the network is asked for the id it has just read, and learns to copy. The target is the next id.",
        "Read the first sentence of the task.",
    ),
)
def lm_windows__not_shifted(docs, T):
    inputs = []
    for ids in docs:
        N = (len(ids) - 1) // T
        inputs.append(ids[: N * T].view(N, T))
    return torch.cat(inputs), torch.cat(inputs)


@LM_WINDOWS.misconception(
    "The targets are shifted twice",
    fails=LM_WINDOWS.all_but("inputs"),
    hints=(
        "Your targets lie two ids ahead of the inputs.",
        "The shift was done once in the slice and once more. The target is the very next id.",
        "Read the first sentence of the task.",
    ),
)
def lm_windows__shifted_twice(docs, T):
    inputs, targets = [], []
    for ids in docs:
        N = max(0, (len(ids) - 2) // T)
        inputs.append(ids[: N * T].view(N, T))
        targets.append(ids[2 : N * T + 2].view(N, T))
    return torch.cat(inputs), torch.cat(targets)


@LM_WINDOWS.misconception(
    "Inputs and targets are swapped",
    fails=LM_WINDOWS.all_but(),
    hints=(
        "What you return as targets are the inputs, and the other way round.",
        "The network would have to tell the past from the future. The inputs come first, one id behind the targets.",
        "Read what the task says about what is returned.",
    ),
)
def lm_windows__swapped(docs, T):
    inputs, targets = [], []
    for ids in docs:
        N = (len(ids) - 1) // T
        inputs.append(ids[1 : N * T + 1].view(N, T))
        targets.append(ids[: N * T].view(N, T))
    return torch.cat(inputs), torch.cat(targets)


@LM_WINDOWS.misconception(
    "The targets are shifted the wrong way: the id before",
    fails=LM_WINDOWS.all_but("inputs"),
    hints=(
        "Your inputs are right, but each target is the id *before* its input.",
        "roll(1) moves everything to the right, so that place t holds what stood at t - 1. The target stands at t + 1.",
        "Read the first sentence of the task.",
    ),
)
def lm_windows__wrong_way(docs, T):
    inputs, targets = [], []
    for ids in docs:
        N = (len(ids) - 1) // T
        inputs.append(ids[: N * T].view(N, T))
        targets.append(ids.roll(1)[: N * T].view(N, T))
    return torch.cat(inputs), torch.cat(targets)


@LM_WINDOWS.misconception(
    "Windows cross from one document into the next",
    fails=("lm_windows_inputs", "lm_windows_targets", "lm_windows_short", "lm_windows_untouched"),
    hints=(
        "One document is right; of several some windows hold ids of two.",
        "The documents were joined before cutting. Cut each for itself, and join the windows.",
        "Read what the task says about windows and documents.",
    ),
)
def lm_windows__across_documents(docs, T):
    ids = torch.cat(list(docs))
    N = (len(ids) - 1) // T
    return ids[: N * T].view(N, T), ids[1 : N * T + 1].view(N, T)


@LM_WINDOWS.misconception(
    "At the end of a document the first id is taken as the next one",
    fails=("lm_windows_no_target",),
    hints=(
        "All is right but for documents whose length is a multiple of T: they have a window too many.",
        "roll(-1) puts the first id after the last. The last id has no successor, so it is nobody's input.",
        "Read what the task says about the last target.",
    ),
)
def lm_windows__document_wrapped(docs, T):
    inputs, targets = [], []
    for ids in docs:
        N = len(ids) // T
        inputs.append(ids[: N * T].view(N, T))
        targets.append(ids.roll(-1)[: N * T].view(N, T))
    return torch.cat(inputs), torch.cat(targets)


@LM_WINDOWS.misconception(
    "The last target of each window is the window's own first id",
    fails=LM_WINDOWS.all_but("inputs"),
    hints=(
        "The last column of your targets is the first column of your inputs.",
        "The finished windows were rolled. The id after a window stands in the document, not in the window.",
        "Read what the task says: a window takes T + 1 ids.",
    ),
)
def lm_windows__window_wrapped(docs, T):
    inputs = []
    for ids in docs:
        N = (len(ids) - 1) // T
        inputs.append(ids[: N * T].view(N, T))
    inputs = torch.cat(inputs)
    return inputs, inputs.roll(-1, dims=1)


@LM_WINDOWS.misconception(
    "A window begins at every id: windows overlap",
    fails=LM_WINDOWS.all_but(),
    hints=(
        "You have about T times as many windows as you should.",
        "The windows move on by one id. They are to move on by T, so that every id is predicted once.",
        "Read what the task says: inputs do not overlap.",
    ),
)
def lm_windows__overlapping(docs, T):
    starts = [(ids, t) for ids in docs for t in range(len(ids) - T)]
    inputs = torch.stack([ids[t : t + T] for ids, t in starts])
    return inputs, torch.stack([ids[t + 1 : t + T + 1] for ids, t in starts])


@LM_WINDOWS.misconception(
    "Windows move on by T + 1 ids: between two of them one id is never an input",
    fails=LM_WINDOWS.all_but(),
    hints=(
        "The first window is right; the later ones begin too late.",
        "The document was cut into pieces of T + 1 ids that do not overlap, so one transition in T + 1 is lost.",
        "Read what the task says about where the next window begins.",
    ),
)
def lm_windows__one_skipped(docs, T):
    pieces = []
    for ids in docs:
        N = len(ids) // (T + 1)
        pieces.append(ids[: N * (T + 1)].view(N, T + 1))
    pieces = torch.cat(pieces)
    return pieces[:, :-1], pieces[:, 1:]


@LM_WINDOWS.misconception(
    "The rest of a document is kept, filled up with zeros",
    fails=LM_WINDOWS.all_but("exact"),
    hints=(
        "Some of your windows end in zeros.",
        "A rest that does not fill a window was padded. Zero is an id like any other here.",
        "Read what the task says about what is left at the end of a document.",
    ),
)
def lm_windows__rest_padded(docs, T):
    inputs, targets = [], []
    for ids in docs:
        missing = -(len(ids) - 1) % T
        inputs.append(F.pad(ids[:-1], (0, missing)).view(-1, T))
        targets.append(F.pad(ids[1:], (0, missing)).view(-1, T))
    return torch.cat(inputs), torch.cat(targets)


@LM_WINDOWS.misconception(
    "The last window is lost if the document ends with its last target",
    fails=("lm_windows_exact",),
    hints=(
        "A document that fills its windows exactly gives one window too few.",
        "The test for the end is off by one: a window that starts at t needs ids up to t + T, which may be the last.",
        "Read what the task says: a window takes T + 1 ids. How many windows do T + 1 ids give?",
    ),
)
def lm_windows__last_lost(docs, T):
    starts = [(ids, t) for ids in docs for t in range(0, len(ids) - T - 1, T)]
    inputs = torch.stack([ids[t : t + T] for ids, t in starts])
    return inputs, torch.stack([ids[t + 1 : t + T + 1] for ids, t in starts])


# ---- 3.3 sequence_logprob ----

SEQUENCE_LOGPROB = Exercise(
    number="3.3",
    references=(language_model.sequence_logprob,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
)


@SEQUENCE_LOGPROB.misconception(
    "The scores of a step are asked about the id of the same step, the start symbol included",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "You read off at step t the id of step t, which the network has just been given.",
        "This is the product over y_i[w_i] as deck 003 writes it: a slip. The scores after id t are about id t + 1.",
        "Read the equation of the sequence's log probability: which index has the distribution, which the id?",
    ),
)
def sequence_logprob__same_step(logits, ids):
    return torch.log_softmax(logits, dim=1).gather(1, ids[:, None]).sum()


@SEQUENCE_LOGPROB.misconception(
    "The scores of a step are asked about the id of the same step",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "The start symbol is left out, as it should be, but you read off at step t the id of step t.",
        "This is y_i[w_i] of deck 003: a slip. The scores after id t are about id t + 1, one row before.",
        "Read the equation of the sequence's log probability: which index has the distribution, which the id?",
    ),
)
def sequence_logprob__same_step_later(logits, ids):
    return torch.log_softmax(logits[1:], dim=1).gather(1, ids[1:, None]).sum()


@SEQUENCE_LOGPROB.misconception(
    "The last scores are asked about the start symbol",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "One term too many: the last row of scores plays a part.",
        "The ids were rolled, so that the start symbol came to stand at the end. Nothing follows the last id.",
        "Read the equation of the sequence's log probability: how many terms has the sum?",
    ),
)
def sequence_logprob__wrapped(logits, ids):
    return torch.log_softmax(logits, dim=1).gather(1, ids.roll(-1)[:, None]).sum()


@SEQUENCE_LOGPROB.misconception(
    "The probabilities are multiplied first, and the product is rounded to 0",
    fails=("sequence_logprob_long", "sequence_logprob_large"),
    hints=(
        "Short sequences are right; a long one has log probability minus infinity.",
        "A product of hundreds of probabilities is smaller than any number the computer has. Add their logarithms.",
        "Read the equation of the sequence's log probability: it is a sum.",
    ),
)
def sequence_logprob__product(logits, ids):
    p = torch.softmax(logits[:-1], dim=1)
    return torch.log(p.gather(1, ids[1:, None]).prod())


@SEQUENCE_LOGPROB.misconception(
    "The softmax is rounded to 0 before its logarithm is taken",
    fails=("sequence_logprob_large",),
    hints=(
        "Scores that lie far apart give minus infinity.",
        "exp(-800) is 0 for the computer, and log 0 is lost. log_softmax takes both together: o minus logsumexp.",
        "Read what the task says about large scores; chapter 1 did the same in its cross-entropy.",
    ),
)
def sequence_logprob__log_of_softmax(logits, ids):
    p = torch.softmax(logits[:-1], dim=1)
    return torch.log(p.gather(1, ids[1:, None])).sum()


@SEQUENCE_LOGPROB.misconception(
    "The logarithm is taken of the scores, without a softmax",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "Your result is not a number as soon as a score is negative.",
        "Scores are no probabilities: they may be negative, and sum to anything. First the softmax, then the log.",
        "Read the equation of the sequence's log probability: what is y hat?",
    ),
)
def sequence_logprob__log_of_scores(logits, ids):
    return torch.log(logits[:-1].gather(1, ids[1:, None])).sum()


@SEQUENCE_LOGPROB.misconception(
    "The scores themselves are summed",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "Adding a constant to all scores changes your result, although it changes no probability.",
        "The scores of the right ids were added as if they were log probabilities. The normalisation is missing.",
        "Read the equation of the sequence's log probability: what is y hat?",
    ),
)
def sequence_logprob__scores(logits, ids):
    return logits[:-1].gather(1, ids[1:, None]).sum()


@SEQUENCE_LOGPROB.misconception(
    "The likeliest id's probability is taken, not that of the id that came",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "Your result does not depend on the ids.",
        "The maximum tells how sure the model was, not whether it was right. Take the probability of ids[t].",
        "Read the equation of the sequence's log probability: what stands in the square brackets?",
    ),
)
def sequence_logprob__likeliest(logits, ids):
    return torch.log_softmax(logits[:-1], dim=1).amax(dim=1).sum()


@SEQUENCE_LOGPROB.misconception(
    "The mean is returned, not the sum",
    fails=SEQUENCE_LOGPROB.all_but("two"),
    hints=(
        "Your result is too near to zero by a factor: the number of predicted ids.",
        "The log probability of a sequence is the sum over its ids. The mean is what perplexity is made of.",
        "Read the equation of the sequence's log probability.",
    ),
)
def sequence_logprob__mean(logits, ids):
    return torch.log_softmax(logits[:-1], dim=1).gather(1, ids[1:, None]).mean()


@SEQUENCE_LOGPROB.misconception(
    "The sign is turned round",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "Your result is positive: a probability above 1.",
        "That is the negative log likelihood, the loss. Asked is the log probability.",
        "Read the equation of the sequence's log probability.",
    ),
)
def sequence_logprob__negative(logits, ids):
    return F.cross_entropy(logits[:-1], ids[1:], reduction="sum")


@SEQUENCE_LOGPROB.misconception(
    "The softmax runs over time, not over the vocabulary",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "Your probabilities of one step do not sum to 1; those of one id over all steps do.",
        "At each step the model distributes 1 over the V ids: the last axis.",
        "Read what the task says about the shape of logits.",
    ),
)
def sequence_logprob__over_time(logits, ids):
    return torch.log_softmax(logits, dim=0)[:-1].gather(1, ids[1:, None]).sum()


@SEQUENCE_LOGPROB.misconception(
    "The probability is returned, not its logarithm",
    fails=SEQUENCE_LOGPROB.all_but(),
    hints=(
        "Your result lies between 0 and 1, and is 0 for a long sequence.",
        "The sum of the logarithms is what is asked for; exp undoes it.",
        "Read the first line of the task.",
    ),
)
def sequence_logprob__probability(logits, ids):
    return torch.log_softmax(logits[:-1], dim=1).gather(1, ids[1:, None]).sum().exp()


# ---- 3.4 perplexity ----

PERPLEXITY = Exercise(
    number="3.4",
    references=(language_model.perplexity,),
    probe_module=probes,
    points=1,
    minutes=10,
    difficulty=1,
)


@PERPLEXITY.misconception(
    "exp of the sum: the number of tokens plays no part",
    fails=PERPLEXITY.all_but(),
    hints=(
        "Your perplexity is astronomically large, and grows with the length of the corpus.",
        "That is one over the probability of the whole corpus. Perplexity is per token: divide by n first.",
        "Read the equation of the perplexity.",
    ),
)
def perplexity__exp_of_sum(nll, n):
    return torch.exp(nll.sum())


@PERPLEXITY.misconception(
    "2 to the power of nats",
    fails=PERPLEXITY.all_but(),
    hints=(
        "A fair choice among 7 has perplexity 7; yours is lower.",
        "The base must fit the logarithm: 2 for bits, e for nats.",
        "Read what the task says about the unit of nll.",
    ),
)
def perplexity__base_two(nll, n):
    return 2 ** (nll.sum() / n.sum())


@PERPLEXITY.misconception(
    "exp of bits",
    fails=PERPLEXITY.all_but(),
    hints=(
        "A fair choice among 7 has perplexity 7; yours is higher.",
        "nll was converted to bits, and then e was taken to that power. The base must fit the logarithm.",
        "Read what the task says about the unit of nll.",
    ),
)
def perplexity__exp_of_bits(nll, n):
    return torch.exp(nll.sum() / n.sum() / math.log(2))


@PERPLEXITY.misconception(
    "The mean of the batches' perplexities",
    fails=PERPLEXITY.all_but("one", "fair"),
    hints=(
        "One batch is right; with several the result depends on how the corpus was cut.",
        "The mean of exponentials is not the exponential of the mean. Sum first, exp once, at the end.",
        "Read the equation of the perplexity: what is inside of exp?",
    ),
)
def perplexity__mean_of_exponentials(nll, n):
    return torch.exp(nll / n).mean()


@PERPLEXITY.misconception(
    "The mean of the batches' perplexities, weighted by their tokens",
    fails=PERPLEXITY.all_but("one", "fair"),
    hints=(
        "One batch is right; with several the result is too large.",
        "The weights are right, but exp comes too early: the mean is to be taken of nats, not of perplexities.",
        "Read the equation of the perplexity: what is inside of exp?",
    ),
)
def perplexity__weighted_exponentials(nll, n):
    return (n * torch.exp(nll / n)).sum() / n.sum()


@PERPLEXITY.misconception(
    "Every batch counts the same, however few tokens it has",
    fails=PERPLEXITY.all_but("one", "fair"),
    hints=(
        "One batch is right; with several the result depends on how the corpus was cut.",
        "The mean was taken over the batches' means, so the tokens of a small last batch weigh more. Sum both first.",
        "Read the equation of the perplexity: there are two sums.",
    ),
)
def perplexity__mean_of_means(nll, n):
    return torch.exp((nll / n).mean())


@PERPLEXITY.misconception(
    "Divided by the number of batches",
    fails=PERPLEXITY.all_but(),
    hints=(
        "Your perplexity is astronomically large, and grows with the size of the batches.",
        "nll is summed over the tokens of a batch; its mean over the batches is still a sum over many tokens.",
        "Read what the task says about nll and n.",
    ),
)
def perplexity__per_batch(nll, n):
    return torch.exp(nll.mean())


@PERPLEXITY.misconception(
    "The sign is turned round",
    fails=PERPLEXITY.all_but(),
    hints=(
        "Your perplexity is below 1.",
        "nll has its minus sign already: it is positive. What you return is a mean probability.",
        "Read the equation of the perplexity.",
    ),
)
def perplexity__negative(nll, n):
    return torch.exp(-nll.sum() / n.sum())


@PERPLEXITY.misconception(
    "exp is missing: this is the mean surprise",
    fails=PERPLEXITY.all_but(),
    hints=(
        "A fair choice among 7 has perplexity 7; yours is its logarithm.",
        "The mean of the nats per token is right. Take exp of it.",
        "Read the equation of the perplexity.",
    ),
)
def perplexity__no_exp(nll, n):
    return nll.sum() / n.sum()


@PERPLEXITY.misconception(
    "One perplexity for each batch",
    fails=PERPLEXITY.all_but(),
    hints=(
        "You return as many numbers as there are batches.",
        "The corpus has one perplexity: both sums run over all batches.",
        "Read what the task says about what is returned.",
    ),
)
def perplexity__each_batch(nll, n):
    return torch.exp(nll / n)


# ---- 3.5 tie ----

TIE = Exercise(
    number="3.5",
    references=(language_model.tie,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
)


@TIE.misconception(
    "Nothing is tied",
    fails=TIE.all_but(),
    hints=(
        "Embedding and output are two matrices, as before.",
        "The parameters were collected, but the output layer was not given the embedding's parameter.",
        "Read the equation of tying: one E at both ends.",
    ),
)
def tie__nothing(model):
    return list(model.parameters())


@TIE.misconception(
    "The values are copied: two matrices that are equal at first",
    fails=TIE.all_but(),
    hints=(
        "Your model starts right, and after one step of training the two matrices differ.",
        "Equal values are not one parameter. Assign the parameter itself: the same object in both layers.",
        "Read what the task says: in every later change.",
    ),
)
def tie__copied(model):
    model.output.weight = nn.Parameter(model.embedding.weight.detach().clone())
    return list(model.parameters())


@TIE.misconception(
    "Two parameters share one memory",
    fails=("tie_parameters", "tie_levelled"),
    hints=(
        "A change of one end is seen at the other, but your optimizer holds two tensors, not one.",
        "Assigning .data shares the numbers, not the parameter. Each end has a gradient of its own, and Adam, which "
        "keeps two averages, moves the same numbers twice.",
        "Read what the task says: one and the same parameter, each of them once.",
    ),
)
def tie__one_memory(model):
    model.output.weight.data = model.embedding.weight.data
    return list(model.parameters())


@TIE.misconception(
    "Two parameters share one memory, and only the embedding's is trained",
    fails=("tie_descent", "tie_levelled", "tie_from_output"),
    hints=(
        "Your list is right, and a change of one end is seen at the other; but what the output layer asks for is lost.",
        "Assigning .data shares the numbers, not the parameter. The output layer has a parameter and a gradient of its "
        "own still, and your optimizer does not hold it.",
        "Read what the task says: one and the same parameter serves both layers, in the gradient, too.",
    ),
)
def tie__one_memory_left_out(model):
    model.output.weight.data = model.embedding.weight.data
    return [parameter for name, parameter in model.named_parameters() if name != "output.weight"]


@TIE.misconception(
    "The matrix is transposed",
    fails=TIE.all_but(),
    hints=(
        "Your model cannot be run, or its scores are others, if states are as wide as the vocabulary.",
        "The deck's E is (H, V) and its transpose goes to the output. torch keeps both weights as (V, H) already.",
        "Read what the task says about the shapes of both weights.",
    ),
)
def tie__transposed(model):
    model.output.weight = nn.Parameter(model.embedding.weight.T)
    return list(model.parameters())


@TIE.misconception(
    "The output's matrix is kept, the embedding's is lost",
    fails=TIE.all_but(),
    hints=(
        "The two layers share one parameter, but its values are those of the output layer.",
        "The assignment goes the other way: vectors that the embedding had learned would be thrown away.",
        "Read what the task says about the values.",
    ),
)
def tie__output_kept(model):
    model.embedding.weight = model.output.weight
    return list(model.parameters())


@TIE.misconception(
    "The parameters are collected before tying",
    fails=("tie_parameters",),
    hints=(
        "Among the parameters you return is one that the model no longer has.",
        "The list was made before the output layer was given its new parameter, so the optimizer keeps the old one.",
        "Read what the task says about what is returned: all that the model has *now*.",
    ),
)
def tie__collected_before(model):
    parameters = list(model.parameters())
    model.output.weight = model.embedding.weight
    return parameters


@TIE.misconception(
    "The optimizer holds the old tensors, not the new shared one",
    fails=TIE.all_but(),
    hints=(
        "The two layers share one matrix, but training does not move it.",
        "A new parameter was made for both layers, and the list was collected before: the shared one is not in it.",
        "Read what the task says about what is returned: all that the model has *now*.",
    ),
)
def tie__old_tensors(model):
    parameters = list(model.parameters())
    model.embedding.weight = model.output.weight = nn.Parameter(model.embedding.weight.detach().clone())
    return parameters


@TIE.misconception(
    "The shared parameter is returned twice",
    fails=TIE.all_but(),
    hints=(
        "One tensor stands twice among the parameters that you return.",
        "The lists of the layers were joined, and two layers have the same matrix: the optimizer would move it twice.",
        "Read what the task says about what is returned: each of them once.",
    ),
)
def tie__twice(model):
    model.output.weight = model.embedding.weight
    return [parameter for layer in model.children() for parameter in layer.parameters()]


@TIE.misconception(
    "Only the shared matrix is returned",
    fails=("tie_parameters", "tie_descent", "tie_levelled"),
    hints=(
        "The matrix is shared and trained, and nothing else is.",
        "An optimizer moves what it is given. Bias and recurrent layer are to be trained as well.",
        "Read what the task says about what is returned: all that the model has.",
    ),
)
def tie__matrix_only(model):
    model.output.weight = model.embedding.weight
    return [model.embedding.weight]


@TIE.misconception(
    "Only the parameters of embedding and output are returned",
    fails=("tie_parameters", "tie_descent", "tie_levelled"),
    hints=(
        "Both ends of the model are trained, and nothing between them.",
        "An optimizer moves what it is given. The layers between are to be trained as well.",
        "Read what the task says about what is returned: all that the model has.",
    ),
)
def tie__ends_only(model):
    model.output.weight = model.embedding.weight
    return [model.embedding.weight, model.output.bias]


@TIE.misconception(
    "The shared matrix is frozen",
    fails=TIE.all_but(),
    hints=(
        "The matrix is shared, but no step of training moves it.",
        "Deck 000 says that E is not trained; a tied E is the output layer too, and must learn.",
        "Read what the task says: the gradient comes from both layers.",
    ),
)
def tie__frozen(model):
    model.output.weight = model.embedding.weight.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# ---- 3.6 next_token_probs ----

NEXT_TOKEN_PROBS = Exercise(
    number="3.6",
    references=(sampling.next_token_probs,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=3,
    equivalent={
        "p, order = torch.softmax(logits / temperature, dim=-1).sort(descending=True)": "the only axis is the last.",
        "p = torch.where(p.cumsum(-1) - p < top_p, p, 0)": "the only axis is the last.",
        "p = torch.where(p.cumsum(0) - p <= top_p, p, 0)": "it differs only where a sum of probabilities hits top_p "
        "exactly, and there rounding decides.",
    },
)


@NEXT_TOKEN_PROBS.misconception(
    "The scores are multiplied by the temperature",
    fails=("next_token_probs_temperature", "next_token_probs_together", "next_token_probs_large"),
    hints=(
        "At a high temperature your distribution is sharper, at a low one flatter.",
        "Hot is wild, cold is sure: divide the scores by the temperature.",
        "Read the equation of the temperature.",
    ),
)
def next_token_probs__multiplied(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits * temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "The probabilities are divided by the temperature: it has no effect",
    fails=("next_token_probs_temperature", "next_token_probs_together", "next_token_probs_large"),
    hints=(
        "Your distribution is the same at every temperature.",
        "A constant factor of all probabilities is lost when they are normalised. Divide the scores, then softmax.",
        "Read the equation of the temperature: what is divided by tau?",
    ),
)
def next_token_probs__no_effect(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = (torch.softmax(logits, dim=0) / temperature).sort(descending=True)
    p = p / p.sum()
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "The temperature comes last, after the cuts",
    fails=("next_token_probs_together", "next_token_probs_large"),
    hints=(
        "Temperature alone is right, and so are the cuts alone; together too few or too many ids stay.",
        "top p looked at the distribution before the temperature had flattened or sharpened it.",
        "Read the first line of the task: tempered, *then* cut.",
    ),
)
def next_token_probs__temperature_last(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
    p = p ** (1 / temperature)
    return torch.zeros_like(p).scatter(0, order, p / p.sum())


@NEXT_TOKEN_PROBS.misconception(
    "What is left is not renormalised",
    fails=NEXT_TOKEN_PROBS.all_but("temperature"),
    hints=(
        "After a cut your probabilities sum to less than 1.",
        "The right ids stay, but with their old probabilities. Divide by their sum, after each cut.",
        "Read what the task says about the sum.",
    ),
)
def next_token_probs__not_renormalised(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "The id that crosses p is dropped",
    fails=NEXT_TOKEN_PROBS.all_but("temperature", "top_k"),
    hints=(
        "top p keeps one id too few.",
        "You keep ids while their sum, they themselves included, is at most p. The one that carries the sum over p "
        "stays as well, or a single sure id could leave nothing at all.",
        "Read the equation of top p: the sum runs over the ids *before* m.",
    ),
)
def next_token_probs__crossing_dropped(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) <= top_p, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "The id that crosses p is dropped, unless it is the first",
    fails=NEXT_TOKEN_PROBS.all_but("temperature", "top_k"),
    hints=(
        "top p keeps one id too few, but for a single sure one.",
        "You keep ids while their sum, they themselves included, is at most p, and the first in any case. The one that "
        "carries the sum over p stays as well, whichever it is; then the first needs no rule of its own.",
        "Read the equation of top p: the sum runs over the ids *before* m.",
    ),
)
def next_token_probs__first_kept(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        keep = p.cumsum(0) <= top_p
        keep[0] = True
        p = torch.where(keep, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "What top p leaves is not renormalised",
    fails=NEXT_TOKEN_PROBS.all_but("temperature", "top_k"),
    hints=(
        "After top k your probabilities sum to 1, after top p to less.",
        "The right ids stay, but after the second cut with their old probabilities. Divide by their sum once more.",
        "Read what the task says about the sum.",
    ),
)
def next_token_probs__renormalised_once(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "top p goes through the ids in their order, not from the likeliest down",
    fails=NEXT_TOKEN_PROBS.all_but("temperature", "top_k"),
    hints=(
        "top p keeps small ids and drops large ones, however likely they are.",
        "The running sum was taken over probabilities that were not sorted.",
        "Read what the task says about top p: numbered from the likeliest down.",
    ),
)
def next_token_probs__unsorted(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=0)
    if top_k is not None:
        p = torch.where(p >= p.sort(descending=True).values[top_k - 1], p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return p


@NEXT_TOKEN_PROBS.misconception(
    "top p does not see what top k has left: it cuts the whole distribution",
    fails=("next_token_probs_both", "next_token_probs_together", "next_token_probs_large"),
    hints=(
        "Each cut alone is right; together too many ids stay.",
        "top p was applied first, or to probabilities that top k had cut but not renormalised. After top k the rest "
        "sums to 1 again, so fewer ids reach p.",
        "Read what the task says about top p: of what is left, renormalised.",
    ),
)
def next_token_probs__top_p_first(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "top k keeps one id too few",
    fails=("next_token_probs_top_k", "next_token_probs_large"),
    hints=(
        "With top k = 3 two ids stay.",
        "Only ids *above* the k-th score stay. The k-th itself belongs to the k likeliest.",
        "Read what the task says about top k.",
    ),
)
def next_token_probs__k_dropped(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(p > p[top_k - 1], p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "The result is in the order of the probabilities, not of the ids",
    fails=NEXT_TOKEN_PROBS.all_but(),
    hints=(
        "Your numbers are right, and they fall from left to right.",
        "The sorted probabilities were returned. Put each back into the place of its id: sort returns the places too.",
        "Read what the task says about the order of what is returned.",
    ),
)
def next_token_probs__left_sorted(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=0).sort(descending=True).values
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return p


@NEXT_TOKEN_PROBS.misconception(
    "The scores of what is cut are set to 0",
    fails=NEXT_TOKEN_PROBS.all_but("temperature", "large"),
    hints=(
        "What was cut has a small probability still.",
        "A score of 0 is a score like any other: exp(0) is 1. The score of the impossible is minus infinity.",
        "Read what the task says: probability 0 for what was cut.",
    ),
)
def next_token_probs__zero_scores(logits, temperature=1.0, top_k=None, top_p=None):
    o, order = (logits / temperature).sort(descending=True)
    if top_k is not None:
        o = torch.where(torch.arange(len(o)) < top_k, o, 0)
    if top_p is not None:
        p = torch.softmax(o, dim=0)
        o = torch.where(p.cumsum(0) - p < top_p, o, 0)
    return torch.zeros_like(o).scatter(0, order, torch.softmax(o, dim=0))


@NEXT_TOKEN_PROBS.misconception(
    "The softmax is taken twice",
    fails=NEXT_TOKEN_PROBS.all_but(),
    hints=(
        "Your distribution is nearly flat, and nothing has probability 0.",
        "To make them sum to 1, the probabilities went through a second softmax. Divide them by their sum.",
        "Read what the task says: renormalised.",
    ),
)
def next_token_probs__softmax_twice(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
    return torch.zeros_like(p).scatter(0, order, torch.softmax(p, dim=0))


@NEXT_TOKEN_PROBS.misconception(
    "exp overflows",
    fails=("next_token_probs_large",),
    hints=(
        "Large scores give nan.",
        "exp of 1000 is infinite, and infinite divided by infinite is not a number. Subtract the largest score first.",
        "Read what the task says about large scores, and your softmax of chapter 1.",
    ),
)
def next_token_probs__overflow(logits, temperature=1.0, top_k=None, top_p=None):
    e = torch.exp(logits / temperature)
    p, order = (e / e.sum()).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


@NEXT_TOKEN_PROBS.misconception(
    "The caller's scores are divided by the temperature",
    fails=("next_token_probs_temperature", "next_token_probs_large"),
    hints=(
        "Your probabilities are right the first time; the scores that were passed in have changed.",
        "`logits /= temperature` works in place, in the caller's memory. Make a new tensor.",
        "Read what the task says about logits: not changed.",
    ),
)
def next_token_probs__in_place(logits, temperature=1.0, top_k=None, top_p=None):
    logits /= temperature
    p, order = torch.softmax(logits, dim=0).sort(descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)
        p = p / p.sum()
    return torch.zeros_like(p).scatter(0, order, p)


# ---- 3.7 sample_sequence ----

SAMPLE_SEQUENCE = Exercise(
    number="3.7",
    references=(sampling.sample_sequence,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    equivalent={"w = int((p.cumsum(-1)[:-1] <= u[t]).sum())": "the only axis is the last."},
)


@SAMPLE_SEQUENCE.misconception(
    "The state is not carried on",
    fails=("sample_sequence_row", "sample_sequence_pair"),
    hints=(
        "Every step of yours starts from the first state.",
        "step returns a new state, and it was dropped. So each id depends on the one before it and on nothing else.",
        "Read what the task says about step: it returns two things.",
    ),
)
def sample_sequence__state_dropped(step, h, bos, n, u):
    w, ids = bos, []
    for t in range(n):
        p, _ = step(w, h)
        w = int((p.cumsum(0)[:-1] <= u[t]).sum())
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The likeliest id is taken: nothing is drawn",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Your ids do not depend on u.",
        'argmax is not sampling, whatever deck 003 says ("sample … taking the argmax"). u decides.',
        "Read the equation of the inverse distribution.",
    ),
)
def sample_sequence__argmax(step, h, bos, n, u):
    w, ids = bos, []
    for _ in range(n):
        p, h = step(w, h)
        w = int(p.argmax())
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The start symbol is fed in every step",
    fails=("sample_sequence_row", "sample_sequence_ids"),
    hints=(
        "The first id is right; later ones do not depend on what was drawn before them.",
        "The network must read what it wrote: the id that was drawn is the next input.",
        "Read the first line of the task.",
    ),
)
def sample_sequence__start_every_step(step, h, bos, n, u):
    ids = []
    for t in range(n):
        p, h = step(bos, h)
        ids.append(int((p.cumsum(0)[:-1] <= u[t]).sum()))
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The likeliest id is fed, another one is returned",
    fails=("sample_sequence_row", "sample_sequence_ids"),
    hints=(
        "The first id is right; later ones follow from ids that you did not return.",
        "What is drawn and what is fed back must be the same id.",
        "Read the first line of the task.",
    ),
)
def sample_sequence__argmax_fed(step, h, bos, n, u):
    w, ids = bos, []
    for t in range(n):
        p, h = step(w, h)
        ids.append(int((p.cumsum(0)[:-1] <= u[t]).sum()))
        w = int(p.argmax())
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The first random number serves for every draw",
    fails=SAMPLE_SEQUENCE.all_but("single"),
    hints=(
        "The first id is right; the others do not depend on their own u.",
        "u[0] was used in every step. Draws must be independent: u[t] decides draw t.",
        "Read what the task says about u.",
    ),
)
def sample_sequence__one_u(step, h, bos, n, u):
    w, ids = bos, []
    for _ in range(n):
        p, h = step(w, h)
        w = int((p.cumsum(0)[:-1] <= u[0]).sum())
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "≥ is used where > is asked for",
    fails=("sample_sequence_edges",),
    hints=(
        "All is right unless u lies exactly on the edge between two ids; with u = 0 you draw the impossible.",
        "u lies in [0, 1). With ≥ an id of probability 0 can be drawn; with > it cannot.",
        "Read what the task says about the id drawn: greater than u[t].",
    ),
)
def sample_sequence__at_least(step, h, bos, n, u):
    w, ids = bos, []
    for t in range(n):
        p, h = step(w, h)
        w = int((p.cumsum(0)[:-1] < u[t]).sum())
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The id below: the last one whose sum does not exceed u",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Your ids are too small by one, apart from the zeros.",
        "The first sum *above* u belongs to the id that is drawn; yours is the one before it.",
        "Read the equation of the inverse distribution: which i is the minimum?",
    ),
)
def sample_sequence__id_below(step, h, bos, n, u):
    w, ids = bos, []
    for t in range(n):
        p, h = step(w, h)
        w = max(0, int((p.cumsum(0)[:-1] <= u[t]).sum()) - 1)
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The ids are gone through from the likeliest down",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Your ids have the right frequencies, but they are not those that u stands for.",
        "The probabilities were sorted before they were summed. Sorting is for top p; here ids keep their order.",
        "Read what the task says about the id drawn: ids in their order from 0.",
    ),
)
def sample_sequence__sorted(step, h, bos, n, u):
    w, ids = bos, []
    for t in range(n):
        p, h = step(w, h)
        p, order = p.sort(descending=True, stable=True)
        w = int(order[(p.cumsum(0)[:-1] <= u[t]).sum()])
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "Random numbers of its own are drawn, u is not used",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Called twice with the same u, your function returns other ids.",
        "multinomial draws for itself. Here the chance comes in as an argument, so that a result can be repeated.",
        "Read what the task says about u.",
    ),
)
def sample_sequence__own_numbers(step, h, bos, n, u):
    w, ids = bos, []
    for _ in range(n):
        p, h = step(w, h)
        w = int(torch.multinomial(p, 1))
        ids.append(w)
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The start symbol is returned as well",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "You return n + 1 ids.",
        "The first of them is bos, which was given, not drawn.",
        "Read what the task says about what is returned.",
    ),
)
def sample_sequence__start_returned(step, h, bos, n, u):
    ids = [bos]
    for t in range(n):
        p, h = step(ids[-1], h)
        ids.append(int((p.cumsum(0)[:-1] <= u[t]).sum()))
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The inputs are returned, not what was drawn: the start symbol first, the last id lost",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Your first id is the start symbol, and all others come one place too late.",
        "The id was noted before the draw. Note what comes out of a step, not what goes into it.",
        "Read what the task says about what is returned.",
    ),
)
def sample_sequence__inputs_returned(step, h, bos, n, u):
    w, ids = bos, []
    for t in range(n):
        ids.append(w)
        p, h = step(w, h)
        w = int((p.cumsum(0)[:-1] <= u[t]).sum())
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The start symbol is counted as the first of the n ids, so one draw is missing",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Your first id is the start symbol, all others come one place too late, and step is called n - 1 times.",
        "bos is given, not drawn. Draw n ids, and return those alone.",
        "Read what the task says about what is returned.",
    ),
)
def sample_sequence__one_draw_missing(step, h, bos, n, u):
    ids = [bos]
    for t in range(n - 1):
        p, h = step(ids[-1], h)
        ids.append(int((p.cumsum(0)[:-1] <= u[t]).sum()))
    return torch.tensor(ids)


@SAMPLE_SEQUENCE.misconception(
    "The start symbol is counted as the first of the n ids, and the first random number is not used",
    fails=SAMPLE_SEQUENCE.all_but(),
    hints=(
        "Your first id is the start symbol, and step is called n - 1 times.",
        "bos is given, not drawn: u[0] decides what comes after it. Draw n ids, and return those alone.",
        "Read what the task says about u, and about what is returned.",
    ),
)
def sample_sequence__first_u_unused(step, h, bos, n, u):
    ids = [bos]
    for t in range(1, n):
        p, h = step(ids[-1], h)
        ids.append(int((p.cumsum(0)[:-1] <= u[t]).sum()))
    return torch.tensor(ids)


# ---- 3.8 sgns_loss ----

SGNS_LOSS = Exercise(
    number="3.8",
    references=(word2vec.sgns_loss,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
)


@SGNS_LOSS.misconception(
    "The random words' scores are not negated",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Your loss is lowest when every word is close to every other.",
        "Random words are to be pushed away: their scores enter with a minus sign inside of the sigmoid.",
        "Read the equation of the loss: the second sigmoid.",
    ),
)
def sgns_loss__not_negated(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + F.logsigmoid(random).sum(dim=1)).mean()


@SGNS_LOSS.misconception(
    "A softmax over the whole vocabulary",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Your loss does not depend on the random words.",
        "That is the skip-gram without its trick: it sums over all V words for each pair. Here K random ones stand in.",
        "Read the equation of the loss: it has sigmoids and no sum over the vocabulary.",
    ),
)
def sgns_loss__full_softmax(c, o, neg, E_in, E_out):
    return F.cross_entropy(E_in[c] @ E_out.T, o)


@SGNS_LOSS.misconception(
    "A softmax over the true word and the random ones",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Adding a constant to all scores of a pair does not change your loss.",
        "The words compete in one softmax. In this loss each is a yes-or-no question of its own: a sigmoid.",
        "Read the equation of the loss: K + 1 sigmoids.",
    ),
)
def sgns_loss__sampled_softmax(c, o, neg, E_in, E_out):
    words = torch.cat([o[:, None], neg], dim=1)
    scores = (E_out[words] * E_in[c][:, None]).sum(dim=2)
    return F.cross_entropy(scores, torch.zeros_like(c))


@SGNS_LOSS.misconception(
    "One matrix for both roles: E_in",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Your loss does not depend on E_out.",
        "The neighbours' vectors were taken from E_in. A word seldom stands beside itself: it needs two vectors.",
        "Read what the task says about E_in and E_out.",
    ),
)
def sgns_loss__only_E_in(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_in[o] * v).sum(dim=1), (E_in[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + F.logsigmoid(-random).sum(dim=1)).mean()


@SGNS_LOSS.misconception(
    "One matrix for both roles: E_out",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Your loss does not depend on E_in.",
        "The centres' vectors were taken from E_out. A word seldom stands beside itself: it needs two vectors.",
        "Read what the task says about E_in and E_out.",
    ),
)
def sgns_loss__only_E_out(c, o, neg, E_in, E_out):
    v = E_out[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + F.logsigmoid(-random).sum(dim=1)).mean()


@SGNS_LOSS.misconception(
    "The two matrices are swapped",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Both matrices are used, each in the other's role.",
        "The centre's vector v comes from E_in, those of the neighbour and of the random words from E_out.",
        "Read what the task says about E_in and E_out.",
    ),
)
def sgns_loss__roles_swapped(c, o, neg, E_in, E_out):
    v = E_out[c]
    true, random = (E_in[o] * v).sum(dim=1), (E_in[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + F.logsigmoid(-random).sum(dim=1)).mean()


@SGNS_LOSS.misconception(
    "The random words are compared with the neighbour, not with the centre",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "The first term of your loss is right, the others are not.",
        "The question is which words belong to the *centre*: every score is a product with v.",
        "Read the equation of the loss: which two vectors meet in the second sigmoid?",
    ),
)
def sgns_loss__against_neighbour(c, o, neg, E_in, E_out):
    true, random = (E_out[o] * E_in[c]).sum(dim=1), (E_out[neg] * E_out[o][:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + F.logsigmoid(-random).sum(dim=1)).mean()


@SGNS_LOSS.misconception(
    "The random words' scores are summed before the sigmoid",
    fails=SGNS_LOSS.all_but("one"),
    hints=(
        "With one random word your loss is right; with more it is too small.",
        "Each random word has a sigmoid of its own. In your sum a near one and a far one cancel.",
        "Read the equation of the loss: the sum over k stands before the logarithm.",
    ),
)
def sgns_loss__summed_first(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg].sum(dim=1) * v).sum(dim=1)
    return -(F.logsigmoid(true) + F.logsigmoid(-random)).mean()


@SGNS_LOSS.misconception(
    "The mean is taken over the random words, not the sum",
    fails=SGNS_LOSS.all_but("one"),
    hints=(
        "With one random word your loss is right; with more it is too small.",
        "The K terms were averaged. In this loss each random word counts as much as the true one.",
        "Read the equation of the loss: the sum over k has no 1/K before it.",
    ),
)
def sgns_loss__mean_over_random(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + F.logsigmoid(-random).mean(dim=1)).mean()


@SGNS_LOSS.misconception(
    "The mean is taken over all K + 1 terms",
    fails=SGNS_LOSS.all_but(),
    hints=(
        "Your loss is too small by the factor K + 1.",
        "A mean over the batch and over the words was taken at once, as binary cross-entropy does by default.",
        "Read the equation of the loss: it is divided by B alone.",
    ),
)
def sgns_loss__mean_over_all(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -torch.cat([F.logsigmoid(true)[:, None], F.logsigmoid(-random)], dim=1).mean()


@SGNS_LOSS.misconception(
    "The batch is summed, not averaged",
    fails=SGNS_LOSS.all_but("one", "many"),
    hints=(
        "One pair is right; with B pairs your loss is B times too large.",
        "The size of a step should not depend on the size of the batch: take the mean over b.",
        "Read the equation of the loss: what stands before the first sum?",
    ),
)
def sgns_loss__batch_summed(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true).sum() + F.logsigmoid(-random).sum())


@SGNS_LOSS.misconception(
    "The sigmoid is rounded to 0 before its logarithm is taken",
    fails=("sgns_loss_large",),
    hints=(
        "Large scores on the wrong side make your loss infinite.",
        "sigmoid(-800) is 0 for the computer, and log 0 is lost. logsigmoid takes both together.",
        "Read what the task says about large scores.",
    ),
)
def sgns_loss__log_of_sigmoid(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -(torch.log(torch.sigmoid(true)) + torch.log(torch.sigmoid(-random)).sum(dim=1)).mean()


@SGNS_LOSS.misconception(
    "1 - sigmoid is rounded to 0 before its logarithm is taken",
    fails=("sgns_loss_large",),
    hints=(
        "Scores above 37 make your loss infinite.",
        "sigmoid(40) is 1 for the computer, so 1 - sigmoid is 0. It equals sigmoid(-40), which is not.",
        "Read what the task says about large scores, and the equation of the loss: there is no 1 - in it.",
    ),
)
def sgns_loss__one_minus(c, o, neg, E_in, E_out):
    v = E_in[c]
    true, random = (E_out[o] * v).sum(dim=1), (E_out[neg] * v[:, None]).sum(dim=2)
    return -(F.logsigmoid(true) + torch.log(1 - torch.sigmoid(random)).sum(dim=1)).mean()


EXERCISES = (
    BIGRAM_LOGPROBS,
    LM_WINDOWS,
    SEQUENCE_LOGPROB,
    PERPLEXITY,
    TIE,
    NEXT_TOKEN_PROBS,
    SAMPLE_SEQUENCE,
    SGNS_LOSS,
)
