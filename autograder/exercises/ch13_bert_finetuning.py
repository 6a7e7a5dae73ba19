"""The exercises of chapter 13 and the mistakes that the judge knows by name."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch13_bert_finetuning as probes
from unrolled import answer_spans, checkpoint, finetuning, piece_labels, sentence_embedding, task_heads
from unrolled.dropout import dropout
from unrolled.pooling import masked_mean

SETUP_NAMES = frozenset({"HeadParams", "dropout", "masked_mean"})


# ---- 13.1 classification_head ----

HEAD = Exercise(
    number="13.1",
    references=(task_heads.classification_head,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=1,
)
_POOL = "Read the equation: what is s for each way to pool?"
_DROP = "Read what the task says about p, train and u, and eq-dropout in chapter 9."
_SCORES = "Read what the task says it returns."


@HEAD.convention("features are dropped where u is at least 1 - p")
def classification_head__largest_dropped(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    if train:
        s = s.masked_fill(u >= 1 - p, 0) / (1 - p)
    return s @ params.W.T + params.b


@HEAD.misconception(
    "The last step is pooled in place of the first",
    fails=HEAD.all_but("mean", "mean_train", "gradients"),
    hints=(
        'The mean is right. With pool "cls" your scores depend on the last step of each row, often a pad.',
        "GPT reads from left to right, so its last state knows everything. BERT reads in both directions, and [CLS] "
        "stands at step 0.",
        _POOL,
    ),
)
def classification_head__last_step(h, mask, params, pool, p, train, u):
    s = h[:, -1] if pool == "cls" else masked_mean(h, mask)
    return dropout(s, p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "The last real token is pooled in place of the first",
    fails=HEAD.all_but("mean", "mean_train", "gradients"),
    hints=(
        'The mean is right. With pool "cls" your scores depend on the last real step of each row.',
        "That is how a network that reads from left to right is pooled. [CLS] stands at step 0.",
        _POOL,
    ),
)
def classification_head__last_real(h, mask, params, pool, p, train, u):
    last = h[torch.arange(len(h)), mask.sum(dim=1) - 1]
    s = last if pool == "cls" else masked_mean(h, mask)
    return dropout(s, p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "The mean runs over the pads too",
    fails=HEAD.all_but("cls", "cls_train", "one"),
    hints=(
        '[CLS] is right. With pool "mean" your scores change with what stands at the pads.',
        "All T steps were averaged. Only those where the mask is True belong to the text.",
        _POOL,
    ),
)
def classification_head__mean_over_pads(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else h.mean(dim=1)
    return dropout(s, p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "The real steps are summed, but divided by T",
    fails=HEAD.all_but("cls", "cls_train", "one"),
    hints=(
        '[CLS] is right. With pool "mean", rows with many pads get a vector that is too short.',
        "The sum over the real steps was divided by the length of the row. Divide by the number of real steps.",
        _POOL,
    ),
)
def classification_head__divided_by_T(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else (h * mask[..., None]).mean(dim=1)
    return dropout(s, p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "The mean leaves [CLS] out",
    fails=HEAD.all_but("cls", "cls_train"),
    hints=(
        '[CLS] is right. With pool "mean" the first step plays no part in your scores.',
        "The mean runs over all real steps, and [CLS] is one of them.",
        _POOL,
    ),
)
def classification_head__mean_without_cls(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h[:, 1:], mask[:, 1:])
    return dropout(s, p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "[CLS] is pooled whatever was asked for",
    fails=HEAD.all_but("cls", "cls_train"),
    hints=(
        'With pool "mean" only the first step plays a part in your scores.',
        "There are two ways to pool; the argument says which.",
        _POOL,
    ),
)
def classification_head__always_cls(h, mask, params, pool, p, train, u):
    return dropout(h[:, 0], p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "The mean is pooled whatever was asked for",
    fails=HEAD.all_but("mean", "mean_train", "gradients"),
    hints=(
        'With pool "cls" all real steps play a part in your scores.',
        "There are two ways to pool; the argument says which.",
        _POOL,
    ),
)
def classification_head__always_mean(h, mask, params, pool, p, train, u):
    return dropout(masked_mean(h, mask), p, train, u) @ params.W.T + params.b


@HEAD.misconception(
    "Softmax before the loss: probabilities are returned",
    fails=HEAD.all_but(),
    hints=(
        "Your rows are positive and sum to 1.",
        "F.cross_entropy takes scores and does the softmax itself. After two of them all classes look nearly alike, "
        "and gradients are small.",
        _SCORES,
    ),
)
def classification_head__softmax(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    return torch.softmax(dropout(s, p, train, u) @ params.W.T + params.b, dim=-1)


@HEAD.misconception(
    "Features are dropped after training too",
    fails=(
        "classification_head_cls",
        "classification_head_mean",
        "classification_head_one",
    ),
    hints=(
        "In training you are right. Afterwards the scores of the same text still change with u.",
        "train was not asked. Where it is False, s goes through as it is.",
        _DROP,
    ),
)
def classification_head__drops_at_test(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    return dropout(s, p, True, u) @ params.W.T + params.b


@HEAD.misconception(
    "Nothing is dropped at all",
    fails=HEAD.all_but("cls", "mean", "one"),
    hints=(
        "After training you are right. In training u plays no part.",
        "The dropout is missing. A new layer on a few hundred labels needs it.",
        _DROP,
    ),
)
def classification_head__no_dropout(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    return s @ params.W.T + params.b


@HEAD.misconception(
    "F.dropout draws its own random numbers",
    fails=HEAD.all_but("cls", "mean", "one"),
    hints=(
        "After training you are right. In training u plays no part, and two calls give two results.",
        "u says which features are dropped, so that the result can be repeated. Use dropout of chapter 9, which "
        "takes it.",
        _DROP,
    ),
)
def classification_head__own_random_numbers(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    return F.dropout(s, p, train) @ params.W.T + params.b


@HEAD.misconception(
    "What is kept is not enlarged",
    fails=HEAD.all_but("cls", "mean", "one"),
    hints=(
        "After training you are right. In training your features are too small by a factor 1 - p.",
        "What is kept is divided by 1 - p, so that the sum over the features stays the same on average.",
        _DROP,
    ),
)
def classification_head__not_enlarged(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    if train:
        s = s * (u >= p)
    return s @ params.W.T + params.b


@HEAD.misconception(
    "p is taken for the share that is kept",
    fails=HEAD.all_but("cls", "mean", "one"),
    hints=(
        "After training you are right. In training too many of your features are 0.",
        "p is the probability of being dropped; 1 - p is that of being kept.",
        _DROP,
    ),
)
def classification_head__p_kept(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    if train:
        s = s * (u < p) / p
    return s @ params.W.T + params.b


@HEAD.misconception(
    "The bias is missing",
    fails=HEAD.all_but(),
    hints=(
        "Each of your columns is off by one number, the same in all rows.",
        "b was not added.",
        _POOL,
    ),
)
def classification_head__no_bias(h, mask, params, pool, p, train, u):
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)
    return dropout(s, p, train, u) @ params.W.T


# ---- 13.2 span_loss and best_span ----

SPANS = Exercise(
    number="13.2",
    references=(answer_spans.span_loss, answer_spans.best_span),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=2,
)
_LOSS = "Read the equation of the loss."
_BEST = "Read the equation of the best answer: over which pairs (i, j) does the maximum run?"
_ALLOWED = "Read what the task says about allowed."


@SPANS.misconception(
    "The softmax runs over question and pads too",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. Your loss is too large where question or pads have high scores.",
        "The sum in the denominator runs over the steps in A only: set the others to minus infinity first.",
        _LOSS,
    ),
)
def span_loss__all_steps(start, end, spans, allowed):
    total = F.cross_entropy(start, spans[:, 0]) + F.cross_entropy(end, spans[:, 1])
    return total / 2


@SPANS.misconception(
    "Scores that are not allowed are set to 0",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. In your loss, question and pads take part as if their scores were 0.",
        "exp(0) is 1, not 0: a score of 0 is a score like others. Only minus infinity takes no part.",
        _LOSS,
    ),
)
def span_loss__zero_scores(start, end, spans, allowed):
    start, end = start * allowed, end * allowed
    return (F.cross_entropy(start, spans[:, 0]) + F.cross_entropy(end, spans[:, 1])) / 2


@SPANS.misconception(
    "Scores that are not allowed are set to a number that is not low enough",
    fails=("span_loss_large",),
    hints=(
        "Your best_span is right, and your loss for scores of common size. Where all scores are far below 0, "
        "question and pads win.",
        "Scores may be of any size, so there may be some below your number. Take minus infinity.",
        _LOSS,
    ),
)
def span_loss__not_low_enough(start, end, spans, allowed):
    start, end = (scores.masked_fill(~allowed, -1e3) for scores in (start, end))
    return (F.cross_entropy(start, spans[:, 0]) + F.cross_entropy(end, spans[:, 1])) / 2


@SPANS.misconception(
    "The two losses are added, not averaged",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. Your loss is twice as large as it should be.",
        "The loss is the mean of that of the start and that of the end.",
        _LOSS,
    ),
)
def span_loss__not_halved(start, end, spans, allowed):
    start, end = (scores.masked_fill(~allowed, -torch.inf) for scores in (start, end))
    return F.cross_entropy(start, spans[:, 0]) + F.cross_entropy(end, spans[:, 1])


@SPANS.misconception(
    "The losses of all rows are added, not averaged",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. Your loss grows with the number of rows.",
        "The sum over the rows is divided by B.",
        _LOSS,
    ),
)
def span_loss__summed(start, end, spans, allowed):
    start, end = (scores.masked_fill(~allowed, -torch.inf) for scores in (start, end))
    right = spans[:, 0], spans[:, 1]
    return sum(F.cross_entropy(o, y, reduction="sum") for o, y in zip((start, end), right, strict=True)) / 2


@SPANS.misconception(
    "Only the start counts",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. The scores of the end play no part in your loss.",
        "An answer has a start and an end, and the loss a term for each.",
        _LOSS,
    ),
)
def span_loss__only_start(start, end, spans, allowed):
    return F.cross_entropy(start.masked_fill(~allowed, -torch.inf), spans[:, 0])


@SPANS.misconception(
    "The end is looked for one step early",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. The end of your answers in the loss is one step before the last one.",
        "spans holds the last step of the answer itself; it is not the end of a Python slice.",
        "Read what the task says about spans.",
    ),
)
def span_loss__end_excluded(start, end, spans, allowed):
    start, end = (scores.masked_fill(~allowed, -torch.inf) for scores in (start, end))
    return (F.cross_entropy(start, spans[:, 0]) + F.cross_entropy(end, spans[:, 1] - 1)) / 2


@SPANS.misconception(
    "A softmax before cross_entropy",
    fails=(
        "span_loss_random",
        "span_loss_outside",
        "span_loss_large",
        "span_loss_gradients",
        "span_loss_untouched",
    ),
    hints=(
        "Your best_span is right. Your loss hardly depends on the scores.",
        "F.cross_entropy takes scores and does the softmax itself; here it was done twice.",
        _LOSS,
    ),
)
def span_loss__softmax_twice(start, end, spans, allowed):
    start, end = (torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1) for scores in (start, end))
    return (F.cross_entropy(start, spans[:, 0]) + F.cross_entropy(end, spans[:, 1])) / 2


@SPANS.misconception(
    "Zeros outside the allowed lengths",
    fails=("span_loss_best", "span_loss_short_and_long"),
    hints=(
        "Your loss is right. Where all sums are negative, your answer ends before it starts, or is too long.",
        "triu and tril put zeros where no answer is, and 0 is more than every negative sum. Put minus infinity there.",
        _BEST,
    ),
)
def best_span__zeros_outside(start, end, allowed, longest):
    T = start.shape[1]
    start, end = (scores.masked_fill(~allowed, -torch.inf) for scores in (start, end))
    best = (start[:, :, None] + end[:, None, :]).triu().tril(longest - 1).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "The search begins with a best score of 0",
    fails=("span_loss_best", "span_loss_short_and_long"),
    hints=(
        "Your loss is right. Where all sums are negative, your answer is step 0, which is not even allowed.",
        "A sum had to be more than 0 to be taken. Scores may all be negative: begin with minus infinity.",
        _BEST,
    ),
)
def best_span__best_from_zero(start, end, allowed, longest):
    answers = torch.zeros(len(start), 2, dtype=torch.long)
    for b in range(len(start)):
        best, places = 0.0, allowed[b].nonzero().flatten().tolist()
        for i in places:
            for j in places:
                if i <= j < i + longest and start[b, i] + end[b, j] > best:
                    best, answers[b] = start[b, i] + end[b, j], torch.tensor([i, j])
    return answers


@SPANS.misconception(
    "Answers of a single step are left out",
    fails=SPANS.all_but("random", "outside", "large", "gradients", "untouched"),
    hints=(
        "Your loss is right. None of your answers has a single step.",
        "i and j may be equal: then the answer is one step long.",
        _BEST,
    ),
)
def best_span__two_at_least(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu(1).tril(longest - 1) & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "Start and end are chosen apart",
    fails=SPANS.all_but("random", "outside", "large", "gradients", "untouched"),
    hints=(
        "Your loss is right. Some of your answers end before they start, or are too long.",
        "Two arguments of the maximum know nothing of each other. The maximum runs over pairs.",
        _BEST,
    ),
)
def best_span__apart(start, end, allowed, longest):
    start, end = (scores.masked_fill(~allowed, -torch.inf) for scores in (start, end))
    return torch.stack([start.argmax(dim=1), end.argmax(dim=1)], dim=1)


@SPANS.misconception(
    "An answer may end before it starts",
    fails=SPANS.all_but("random", "outside", "large", "gradients", "untouched"),
    hints=(
        "Your loss is right. No answer is too long, but some of them end before they start.",
        "The length j - i + 1 was only compared with the longest. It must be at least 1 as well.",
        _BEST,
    ),
)
def best_span__backwards(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).tril(longest - 1) & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "The best start is chosen first, then the best end for it",
    fails=SPANS.all_but("random", "outside", "large", "gradients", "untouched"),
    hints=(
        "Your loss is right. All of your answers can be ones, but some have a lower score than another.",
        "A start with a lower score may have a much better end. The maximum runs over pairs.",
        _BEST,
    ),
)
def best_span__start_first(start, end, allowed, longest):
    step = torch.arange(start.shape[1])
    i = start.masked_fill(~allowed, -torch.inf).argmax(dim=1)
    fits = allowed & (step >= i[:, None]) & (step < i[:, None] + longest)
    return torch.stack([i, end.masked_fill(~fits, -torch.inf).argmax(dim=1)], dim=1)


@SPANS.misconception(
    "Start and end are chosen apart, and turned round if need be",
    fails=SPANS.all_but("random", "outside", "large", "gradients", "untouched"),
    hints=(
        "Your loss is right. Where the best end stands before the best start, your answer starts at that end.",
        "A good end is not a good start. The maximum runs over pairs with i at most j.",
        _BEST,
    ),
)
def best_span__turned_round(start, end, allowed, longest):
    start, end = (scores.masked_fill(~allowed, -torch.inf) for scores in (start, end))
    return torch.stack([start.argmax(dim=1), end.argmax(dim=1)], dim=1).sort(dim=1).values


@SPANS.misconception(
    "An answer may stand anywhere: in the question, in the pads",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. Some of your answers stand in the question or among the pads.",
        "allowed was not used. There is a score at every step, but an answer only in the text.",
        _ALLOWED,
    ),
)
def best_span__anywhere(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1)
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "An answer may stand among the pads",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. No answer stands in the question, but some among the pads.",
        "Everything behind the question was allowed. The text ends where allowed becomes False again.",
        _ALLOWED,
    ),
)
def best_span__in_pads(start, end, allowed, longest):
    T = start.shape[1]
    behind = allowed.cumsum(dim=1) > 0
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1) & behind[:, :, None]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "An answer may stand in the question",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. No answer stands among the pads, but some in the question.",
        "Only the pads were forbidden. The question is not part of the text either.",
        _ALLOWED,
    ),
)
def best_span__in_question(start, end, allowed, longest):
    T = start.shape[1]
    before = allowed.flip(1).cumsum(dim=1).flip(1) > 0
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1) & before[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "An answer may be one step too long",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_cap",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. Some of your answers have one step more than allowed.",
        "From i to j there are j - i + 1 steps: j - i must be less than the longest.",
        _BEST,
    ),
)
def best_span__one_too_long(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest) & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "The longest answers that are allowed are never given",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_cap",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. None of your answers has as many steps as allowed.",
        "From i to j there are j - i + 1 steps, and that may be equal to the longest.",
        _BEST,
    ),
)
def best_span__one_too_short(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 2) & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "Answers may be of any length",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_cap",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. Some of your answers are much too long.",
        "longest was not used.",
        _BEST,
    ),
)
def best_span__any_length(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu() & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


@SPANS.misconception(
    "The best answer of any length is cut off",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_cap",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. No answer is too long, but some end where the score of the end is low.",
        "The best answer was chosen first and cut afterwards. Those that are too long take no part in the choice.",
        _BEST,
    ),
)
def best_span__cut_off(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu() & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    i, j = best // T, best % T
    return torch.stack([i, torch.minimum(j, i + longest - 1)], dim=1)


@SPANS.misconception(
    "The end is the step behind the answer",
    fails=SPANS.all_but("random", "outside", "large", "gradients", "untouched"),
    hints=(
        "Your loss is right, and so are your starts. All ends are one step too far.",
        "The last step of the answer is asked for; it is not the end of a Python slice.",
        "Read what the task says best_span returns.",
    ),
)
def best_span__end_behind(start, end, allowed, longest):
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1) & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T + 1], dim=1)


@SPANS.misconception(
    "Probabilities are added, not scores",
    fails=(
        "span_loss_best",
        "span_loss_question_and_pads",
        "span_loss_cap",
        "span_loss_short_and_long",
        "span_loss_best_untouched",
    ),
    hints=(
        "Your loss is right. All of your answers can be ones, but some have a lower score than another.",
        "The probability of a pair is a product; its logarithm is the sum of the scores, up to a constant. A sum of "
        "probabilities is large as soon as one of them is.",
        _BEST,
    ),
)
def best_span__probabilities_added(start, end, allowed, longest):
    T = start.shape[1]
    start, end = (torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=1) for scores in (start, end))
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1) & allowed[:, :, None] & allowed[:, None, :]
    best = (start[:, :, None] + end[:, None, :]).masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // T, best % T], dim=1)


# ---- 13.3 set_trainable ----

TRAINABLE = Exercise(
    number="13.3",
    references=(finetuning.set_trainable,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=2,
)
_POLICY = "Read what the task says about policy."
_HEAD = "Read what the task calls the head."
_GROUPS = "Read what the task says it returns."
_AFTER = "Read the list of what must hold afterwards."


@TRAINABLE.misconception(
    "The head is frozen too",
    fails=TRAINABLE.all_but(),
    hints=(
        "The parameters outside of model.bert ask for no gradient and stand in no group.",
        "Everything was frozen before the layers were thawed. The head is new: nothing works before it is trained.",
        _HEAD,
    ),
)
def set_trainable__head_frozen(model, policy, lr, lr_head):
    model.requires_grad_(False).eval()
    model.zero_grad()
    bert = model.bert
    trained = [bert] if policy == "full" else []
    if policy not in ("frozen", "full"):
        trained = [*bert.layers[-policy:], bert.pooler]
    for part in trained:
        part.requires_grad_(True).train()
    return [{"params": [p for part in trained for p in part.parameters()], "lr": lr}]


@TRAINABLE.misconception(
    "Frozen parameters stand in the groups, with their old gradients: they still move",
    fails=TRAINABLE.all_but(),
    hints=(
        "Your flags are right. But after a step of the optimiser frozen weights are other ones than before.",
        "The groups hold all parameters, and those that are frozen keep the gradient of an earlier step. The optimiser "
        "asks for grad, not for requires_grad.",
        _AFTER,
    ),
)
def set_trainable__stale_gradients(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval()
    inside = {id(p) for p in bert.parameters()}
    head = [p for p in model.parameters() if id(p) not in inside]
    return [{"params": list(bert.parameters()), "lr": lr}, {"params": head, "lr": lr_head}]


@TRAINABLE.misconception(
    "Old gradients of frozen parameters are kept",
    fails=("set_trainable_gradients",),
    hints=(
        "Your flags and your groups are right. Frozen parameters still have the gradient of an earlier step.",
        "requires_grad = False stops new gradients; it does not remove old ones. They would be counted when the "
        "gradients of the model are clipped.",
        _AFTER,
    ),
)
def set_trainable__gradients_kept(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "The groups are built before the flags are set",
    fails=TRAINABLE.all_but("step"),
    hints=(
        "Your flags are right. Your groups hold what was trained before the call.",
        "The parameters were collected by requires_grad first, and the flags changed afterwards.",
        _GROUPS,
    ),
)
def set_trainable__groups_first(model, policy, lr, lr_head):
    bert = model.bert
    inside = {id(p) for p in bert.parameters()}
    trained = [p for p in model.parameters() if p.requires_grad]
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    return [
        {"params": [p for p in trained if id(p) in inside], "lr": lr},
        {"params": [p for p in trained if id(p) not in inside], "lr": lr_head},
    ]


@TRAINABLE.misconception(
    "Dropout is left on in the frozen part",
    fails=("set_trainable_modes",),
    hints=(
        "Your flags and your groups are right. All modules are in training mode.",
        "requires_grad = False stops learning, not dropping: the frozen features would be other ones at every step.",
        _AFTER,
    ),
)
def set_trainable__drops_when_frozen(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "The modes are left as they were",
    fails=("set_trainable_modes",),
    hints=(
        "Your flags and your groups are right. All modules are in the mode that they were in before.",
        "train() and eval() were not called: a frozen part may drop, and a trained one may not.",
        _AFTER,
    ),
)
def set_trainable__modes_untouched(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True)
    for part in frozen:
        part.requires_grad_(False).zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "The whole encoder is in eval mode, its trained layers too",
    fails=("set_trainable_modes",),
    hints=(
        "Your flags and your groups are right. Layers that are trained are in eval mode.",
        "Dropout is switched off only where nothing is learned.",
        _AFTER,
    ),
)
def set_trainable__encoder_in_eval(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    if frozen:
        bert.eval()
    for part in frozen:
        part.requires_grad_(False).zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "eval() is called, train() never",
    fails=("set_trainable_modes",),
    hints=(
        "Your flags and your groups are right. A model that comes in eval mode stays in it altogether.",
        "What is trained must be put into training mode as well: model.train() first, then eval() for what is frozen.",
        _AFTER,
    ),
)
def set_trainable__never_train(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True)
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "One layer too many is trained",
    fails=TRAINABLE.all_but(),
    hints=(
        "With a number k, your last k + 1 layers are trained.",
        "Count for k = 1: only the last one, layers[-1], is trained, and layers[:-1] are frozen.",
        _POLICY,
    ),
)
def set_trainable__one_too_many(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[: -policy - 1]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    'Every name that begins with "bert" is taken for the encoder',
    fails=("set_trainable_flags",),
    hints=(
        'A part of the head whose name begins with "bert" is treated as if it belonged to model.bert.',
        "The head is everything outside of model.bert, whatever it is called. Ask model.bert for its parameters, or "
        'compare with "bert." and its dot.',
        _HEAD,
    ),
)
def set_trainable__head_by_name(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for name, p in model.named_parameters():
        if p.requires_grad:
            groups[not name.startswith("bert")]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "What was frozen once stays frozen",
    fails=("set_trainable_again",),
    hints=(
        "On a new model you are right. After a call with another policy, layers are missing in your groups.",
        "requires_grad was only ever set to False. A model may come from an earlier call: set True as well.",
        "Read what the task says about model.",
    ),
)
def set_trainable__never_thawed(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "The lowest layers are trained, and the top ones frozen",
    fails=TRAINABLE.all_but(),
    hints=(
        "With a number k, your first k layers are trained.",
        "The last ones are meant: they are nearest to the task. The first ones hold what all tasks share.",
        _POLICY,
    ),
)
def set_trainable__lowest_layers(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[policy:]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "The first k layers are frozen, in place of all but the last k",
    fails=TRAINABLE.all_but(),
    hints=(
        "With a number k, your first k layers are frozen and all others trained.",
        "k says how many are trained, not how many are frozen.",
        _POLICY,
    ),
)
def set_trainable__k_frozen(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "With a number of layers the embedding is trained too",
    fails=TRAINABLE.all_but(),
    hints=(
        '"frozen" and "full" are right. With a number k, your embedding is trained.',
        "The embedding lies below the frozen layers. It is part of what is frozen.",
        _POLICY,
    ),
)
def set_trainable__embedding_trained(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = list(bert.layers[:-policy])
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "With a number of layers the pooler is frozen",
    fails=TRAINABLE.all_but(),
    hints=(
        '"frozen" and "full" are right. With a number k, your pooler is frozen.',
        "The pooler lies above all layers. It is trained with the last ones.",
        _POLICY,
    ),
)
def set_trainable__pooler_frozen(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, bert.pooler, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr}, {"params": [], "lr": lr_head}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


@TRAINABLE.misconception(
    "One step size for all",
    fails=TRAINABLE.all_but(),
    hints=(
        "Your flags are right. The head has the step size of the encoder.",
        "The head begins with random numbers and may take large steps; those of the encoder are small, so that it does "
        "not forget.",
        _GROUPS,
    ),
)
def set_trainable__one_step_size(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    return [{"params": [p for p in model.parameters() if p.requires_grad], "lr": lr}]


@TRAINABLE.misconception(
    "The two step sizes are exchanged",
    fails=TRAINABLE.all_but(),
    hints=(
        "Your flags are right. The encoder has the step size of the head, and the head that of the encoder.",
        "lr belongs to model.bert, lr_head to everything else.",
        _GROUPS,
    ),
)
def set_trainable__step_sizes_exchanged(model, policy, lr, lr_head):
    bert = model.bert
    frozen = [bert] if policy == "frozen" else []
    if policy not in ("frozen", "full"):
        frozen = [bert.embedding, *bert.layers[:-policy]]
    model.requires_grad_(True).train()
    for part in frozen:
        part.requires_grad_(False).eval().zero_grad()
    inside = {id(p) for p in bert.parameters()}
    groups = [{"params": [], "lr": lr_head}, {"params": [], "lr": lr}]
    for p in model.parameters():
        if p.requires_grad:
            groups[id(p) not in inside]["params"].append(p)
    return groups


# ---- 13.4 map_checkpoint ----

CHECKPOINT = Exercise(
    number="13.4",
    references=(checkpoint.map_checkpoint,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=2,
)
_TABLE = "Read the table line by line: what stands on the left, what on the right?"
_VARY = "Read what varies from file to file."
_UNUSED = "Read what the task says about unused."


@CHECKPOINT.misconception(
    "Queries and keys are exchanged",
    fails=CHECKPOINT.all_but(),
    hints=(
        "All names are there. The tensors of attention.q and attention.k are in each other's place.",
        "query belongs to q, key to k. (The weights of the attention would be transposed.)",
        _TABLE,
    ),
)
def map_checkpoint__queries_and_keys(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.k"),
        ("attention.self.key", "attention.q"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Keys and values are exchanged",
    fails=CHECKPOINT.all_but(),
    hints=(
        "All names are there. The tensors of attention.k and attention.v are in each other's place.",
        "key belongs to k, value to v. In other files the three come as one matrix, in an order of its own; here "
        "each has its name.",
        _TABLE,
    ),
)
def map_checkpoint__keys_and_values(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.v"),
        ("attention.self.value", "attention.k"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "All matrices are transposed",
    fails=CHECKPOINT.all_but(),
    hints=(
        "Tables, norms and biases are right. Every matrix of a layer is transposed.",
        "Files of TensorFlow hold (in, out). These are of PyTorch: (out, in), as ours. Where a matrix is square "
        "nothing would warn you.",
        _TABLE,
    ),
)
def map_checkpoint__transposed(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor.T if own.endswith(".weight") else tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Scale and shift of the norms are exchanged",
    fails=CHECKPOINT.all_but(),
    hints=(
        "All names are there. Every g of a norm holds the bias and every b the weight.",
        "The weight (or gamma) multiplies: it is g. The bias (or beta) is added: it is b.",
        _TABLE,
    ),
)
def map_checkpoint__norms_exchanged(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.b" if kind in ("weight", "gamma") else f"{head}.g"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "The positions are off by one: the first row of their table is left out",
    fails=CHECKPOINT.all_but(),
    hints=(
        "Your table of positions has one row too few, and each step gets the vector of the next.",
        "Some later models keep the first rows for pads and begin behind them. Here step 0 has row 0: the table "
        "stays as it is.",
        _TABLE,
    ),
)
def map_checkpoint__positions_from_one(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor[1:] if own == "embedding.positions" else tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Tensors without a place are dropped silently",
    fails=CHECKPOINT.all_but(),
    hints=(
        "The mapped tensors are right. Your list of unused names is empty.",
        "What was not recognised was passed over. A misspelt name would be, too, and the layer would keep its random "
        "numbers.",
        _UNUSED,
    ),
)
def map_checkpoint__dropped_silently(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Unused names are not sorted",
    fails=("map_checkpoint_plain",),
    hints=(
        "The mapped tensors are right, and no unused name is missing. They are in the order of the file.",
        "The task asks for a sorted list, so that two files can be compared.",
        _UNUSED,
    ),
)
def map_checkpoint__not_sorted(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, unused


@CHECKPOINT.misconception(
    "A norm of another head is taken for one of ours",
    fails=CHECKPOINT.all_but("plain", "old", "some"),
    hints=(
        "All of our names are right, but there is one too many: it begins with cls.",
        "Whatever looks like LayerNorm was renamed, wherever it stands. The heads of pretraining have a norm too; the "
        "whole name must stand in the table.",
        _TABLE,
    ),
)
def map_checkpoint__norm_anywhere(state):
    kinds = {"weight": "g", "gamma": "g", "bias": "b", "beta": "b"}
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if "LayerNorm" not in own and (
            not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids")
        ):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own or "LayerNorm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.{kinds[kind]}"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Layers from the tenth on are lost",
    fails=("map_checkpoint_deep",),
    hints=(
        "With few layers you are right. The names of layers 10 and 11 are given as unused.",
        "The number of a layer was read as one digit. It may have two.",
        "Read what the task says about the number of layers.",
    ),
)
def map_checkpoint__one_digit(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        known = own.startswith(("embeddings.", "encoder.", "pooler.")) and not own.endswith("position_ids")
        if not known or (own.startswith("encoder.layer.") and own[15] != "."):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Unused names are given without their beginning",
    fails=CHECKPOINT.all_but("plain", "old", "some"),
    hints=(
        'The mapped tensors are right. Your unused names have lost "bert.".',
        "The name was shortened before it was written down. In unused it stands as in the file, so that it can be "
        "found there.",
        _UNUSED,
    ),
)
def map_checkpoint__names_shortened(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(own)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "position_ids is passed over in silence",
    fails=CHECKPOINT.all_but(),
    hints=(
        "The mapped tensors are right. Your list of unused names lacks position_ids.",
        "It holds no weights, so nothing is lost. But who reads your list cannot know that: everything that was not "
        "used stands there.",
        _UNUSED,
    ),
)
def map_checkpoint__counter_passed_over(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if own.endswith("position_ids"):
            continue
        if not own.startswith(("embeddings.", "encoder.", "pooler.")):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "lstrip takes letters away, not a word",
    fails=CHECKPOINT.all_but(),
    hints=(
        "Of your names only those of the pooler are recognised.",
        'lstrip("bert.") removes every b, e, r, t and dot at the beginning: "embeddings" becomes "mbeddings". '
        "removeprefix takes a whole word.",
        _VARY,
    ),
)
def map_checkpoint__letters_stripped(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.lstrip("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Names that begin with bert. are not recognised",
    fails=CHECKPOINT.all_but("plain", "old", "some"),
    hints=(
        'Where all names begin with "bert.", everything of yours is unused.',
        "Models with a head keep the encoder in a part called bert, and its name stands before all names.",
        _VARY,
    ),
)
def map_checkpoint__prefix_kept(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "Old names of the norms are not recognised",
    fails=(
        "map_checkpoint_old",
        "map_checkpoint_deep",
    ),
    hints=(
        "Where the norms are called gamma and beta, yours are missing.",
        "gamma is the weight, beta the bias.",
        _VARY,
    ),
)
def map_checkpoint__old_norms(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith(
            ("position_ids", "gamma", "beta")
        ):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "gamma is not recognised as the weight",
    fails=(
        "map_checkpoint_old",
        "map_checkpoint_deep",
    ),
    hints=(
        "With the new names you are right. With the old ones each norm has only one tensor of two.",
        "Everything that is not called weight was taken for the bias. gamma is the weight, beta the bias.",
        _VARY,
    ),
)
def map_checkpoint__old_norms_alike(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind == "weight" else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "The two norms of a layer are exchanged",
    fails=CHECKPOINT.all_but(),
    hints=(
        "All names are there. norm_1 and norm_2 are in each other's place.",
        "norm_1 stands behind the attention: attention.output.LayerNorm. norm_2 stands behind the network: "
        "output.LayerNorm.",
        _TABLE,
    ),
)
def map_checkpoint__two_norms(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_2"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_1"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "The output of the attention is taken for that of the network",
    fails=CHECKPOINT.all_but(),
    hints=(
        "Your names of layers end in attention.back and attention.norm_2.",
        "output.dense and output.LayerNorm also stand at the end of attention.output.dense and "
        "attention.output.LayerNorm, and were replaced there first. Look for the longer names before the shorter "
        "ones.",
        _TABLE,
    ),
)
def map_checkpoint__attention_output(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("intermediate.dense", "wide"),
        ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


@CHECKPOINT.misconception(
    "The two matrices of the network are exchanged",
    fails=CHECKPOINT.all_but(),
    hints=(
        "All names are there. wide and back are in each other's place.",
        "intermediate.dense makes wide, output.dense makes narrow again. Look at the shapes: (F, D) and (D, F).",
        _TABLE,
    ),
)
def map_checkpoint__wide_and_back(state):
    pairs = [
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"),
        ("embeddings.LayerNorm", "embedding.norm"),
        ("encoder.layer", "layers"),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"),
        ("intermediate.dense", "back"),
        ("output.dense", "wide"),
        ("output.LayerNorm", "norm_2"),
        ("pooler.dense", "pooler"),
    ]
    ours, unused = {}, []
    for name, tensor in state.items():
        own = name.removeprefix("bert.")
        if not own.startswith(("embeddings.", "encoder.", "pooler.")) or own.endswith("position_ids"):
            unused.append(name)
            continue
        for published, new in pairs:
            own = own.replace(published, new)
        if "norm" in own:
            head, kind = own.rsplit(".", 1)
            own = f"{head}.g" if kind in ("weight", "gamma") else f"{head}.b"
        ours[own] = tensor
    return ours, sorted(unused)


# ---- 13.5 align_labels ----

ALIGN = Exercise(
    number="13.5",
    references=(piece_labels.align_labels,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=1,
)
_FIRST = "Read the first line of the task: which piece gets the label?"
_NONE = "Read what the task says about None, and about -100."
_WORDS = "Read what the task says about word_ids."


@ALIGN.misconception(
    'Special tokens get the label 0, "outside"',
    fails=ALIGN.all_but("bare"),
    hints=(
        "The pieces of words are right. [CLS], [SEP] and pads have the label 0.",
        'They are no words. Asked at every row, they would teach the model to say "outside", and flatter it.',
        _NONE,
    ),
)
def align_labels__special_outside(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        if word is None:
            aligned.append(0)
        else:
            aligned.append(labels[word] if word != before else -100)
        before = word
    return aligned


@ALIGN.misconception(
    'Pieces that continue a word get the label 0, "outside"',
    fails=ALIGN.all_but("single"),
    hints=(
        "First pieces and special tokens are right. All other pieces have the label 0.",
        "A word of two pieces would be half inside and half outside. What is not asked gets -100.",
        _FIRST,
    ),
)
def align_labels__continued_outside(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        if word is None:
            aligned.append(-100)
        else:
            aligned.append(labels[word] if word != before else 0)
        before = word
    return aligned


@ALIGN.misconception(
    "The last piece of a word gets its label",
    fails=ALIGN.all_but("single"),
    hints=(
        "Words of one piece are right. In longer ones the label stands at the last piece.",
        "The word was compared with the next one. Compare it with the one before.",
        _FIRST,
    ),
)
def align_labels__last_piece(word_ids, labels):
    behind = [*word_ids[1:], None]
    return [
        labels[word] if word is not None and word != after else -100
        for word, after in zip(word_ids, behind, strict=True)
    ]


@ALIGN.misconception(
    "Every piece of a word gets its label",
    fails=ALIGN.all_but("single"),
    hints=(
        "Words of one piece are right. In longer ones the label stands at all pieces.",
        "Long words would count several times, and each B- would begin several spans. Only the first piece is asked.",
        _FIRST,
    ),
)
def align_labels__every_piece(word_ids, labels):
    return [-100 if word is None else labels[word] for word in word_ids]


@ALIGN.misconception(
    "[CLS] is counted as a word: each word gets the label of the one before",
    fails=ALIGN.all_but(),
    hints=(
        "The label stands at the right pieces, but it is that of the word before.",
        "1 was taken from the number of the word, for [CLS]. word_ids counts words only: the first has number 0.",
        _WORDS,
    ),
)
def align_labels__word_before(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        aligned.append(labels[word - 1] if word is not None and word != before else -100)
        before = word
    return aligned


@ALIGN.misconception(
    "[CLS] is forgotten: all labels stand one step early",
    fails=ALIGN.all_but(),
    hints=(
        "Your labels are in the right order, but one step early: the first one stands at [CLS].",
        "The label of token t must stand at place t, and at [CLS] stands -100.",
        _NONE,
    ),
)
def align_labels__one_step_early(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        aligned.append(labels[word] if word is not None and word != before else -100)
        before = word
    return [*aligned[1:], -100]


@ALIGN.misconception(
    "Labels are dealt out one after the other",
    fails=("align_labels_gap",),
    hints=(
        "As long as every word has a piece you are right. Behind a word without pieces all labels are one too early.",
        "Whenever a new word began, the next label was taken. The number of the word says which label is its own.",
        _WORDS,
    ),
)
def align_labels__dealt_out(word_ids, labels):
    aligned, before, rest = [], None, iter(labels)
    for word in word_ids:
        aligned.append(next(rest) if word is not None and word != before else -100)
        before = word
    return aligned


@ALIGN.misconception(
    "A word with the label of its neighbour counts as a piece of it",
    fails=("align_labels_alike",),
    hints=(
        "Where two neighbouring words have the same label, the second one has -100.",
        "Labels were compared, to find where a word begins. Compare the numbers of the words.",
        _FIRST,
    ),
)
def align_labels__labels_compared(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        label = None if word is None else labels[word]
        aligned.append(label if label is not None and label != before else -100)
        before = label
    return aligned


@ALIGN.misconception(
    "The first word is taken for a special token",
    fails=ALIGN.all_but(),
    hints=(
        "All words but the first are right. That one has -100.",
        "`if word` is False for None, and for 0 as well. Ask whether word is None.",
        _WORDS,
    ),
)
def align_labels__zero_is_none(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        aligned.append(labels[word] if word and word != before else -100)
        before = word
    return aligned


@ALIGN.misconception(
    "The label 0 is lost",
    fails=ALIGN.all_but("gap"),
    hints=(
        "All words are right but those with the label 0: they have -100.",
        "`... and labels[word] or -100` takes 0 for False. Use `labels[word] if ... else -100`.",
        "Read what the task says about labels.",
    ),
)
def align_labels__zero_label_lost(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        aligned.append((word is not None and word != before and labels[word]) or -100)
        before = word
    return aligned


@ALIGN.misconception(
    "Before the row, word 0 counts as begun",
    fails=("align_labels_bare",),
    hints=(
        "Behind [CLS] you are right. Where a row begins with a word, its first piece has -100.",
        "The variable for the word before began with 0, which is the number of a word. Begin with None.",
        _WORDS,
    ),
)
def align_labels__begins_with_zero(word_ids, labels):
    aligned, before = [], 0
    for word in word_ids:
        aligned.append(labels[word] if word is not None and word != before else -100)
        before = word
    return aligned


@ALIGN.misconception(
    "Special tokens are left out: the result is too short",
    fails=ALIGN.all_but("bare"),
    hints=(
        "Your list is shorter than the row.",
        "There is a score for every token of the row, [CLS], [SEP] and pads too: each needs an entry.",
        _NONE,
    ),
)
def align_labels__special_left_out(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        if word is not None:
            aligned.append(labels[word] if word != before else -100)
        before = word
    return aligned


@ALIGN.misconception(
    "What is not asked gets -1",
    fails=ALIGN.all_but(),
    hints=(
        "All words are right. Where nothing is asked you have -1.",
        "F.cross_entropy leaves out -100 unless it is told otherwise; -1 is an error for it.",
        _NONE,
    ),
)
def align_labels__minus_one(word_ids, labels):
    aligned, before = [], None
    for word in word_ids:
        aligned.append(labels[word] if word is not None and word != before else -1)
        before = word
    return aligned


# ---- 13.6 sentence_embedding ----

EMBEDDING = Exercise(
    number="13.6",
    references=(sentence_embedding.sentence_embedding,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)
_MEAN = "Read the equation: over which steps does the mean run?"
_UNIT = "Read the equation: what is divided by which length, and when?"


@EMBEDDING.misconception(
    "Pads are part of the mean",
    fails=EMBEDDING.all_but("full"),
    hints=(
        "Without pads you are right. With pads your vectors change with what stands there.",
        "All T steps were averaged. Only those where the mask is True belong to the sentence.",
        _MEAN,
    ),
)
def sentence_embedding__pads_included(h, mask):
    return F.normalize(h.mean(dim=1), dim=-1)


@EMBEDDING.misconception(
    "The states are made one long before they are pooled, and the mean is left as it is",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vectors are shorter than 1.",
        "The mean of unit vectors is no unit vector, and long states have lost their weight. First the mean, then "
        "its length.",
        _UNIT,
    ),
)
def sentence_embedding__normalised_before(h, mask):
    return masked_mean(F.normalize(h, dim=-1), mask)


@EMBEDDING.misconception(
    "The states are made one long before they are pooled, and the mean once more",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vectors have length 1, but point elsewhere.",
        "Each state was divided by its own length first, so that long ones weigh no more than short ones. Only the "
        "mean is divided.",
        _UNIT,
    ),
)
def sentence_embedding__normalised_twice(h, mask):
    return F.normalize(masked_mean(F.normalize(h, dim=-1), mask), dim=-1)


@EMBEDDING.misconception(
    "[CLS] stands for the sentence",
    fails=EMBEDDING.all_but(),
    hints=(
        "Only the first step plays a part in your vectors.",
        "That is BERT's habit. This model was trained with the mean, in which [CLS] is one step of many.",
        _MEAN,
    ),
)
def sentence_embedding__cls(h, mask):
    return F.normalize(h[:, 0], dim=-1)


@EMBEDDING.misconception(
    "The mean is not made one long",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vectors point in the right direction, but have different lengths.",
        "The division by the length is missing: the product of two of them would be no cosine.",
        _UNIT,
    ),
)
def sentence_embedding__not_normalised(h, mask):
    return masked_mean(h, mask)


@EMBEDDING.misconception(
    "The largest value of each feature is taken, not the mean",
    fails=EMBEDDING.all_but(),
    hints=(
        "Only a few steps play a part in your vectors: those with the largest value of a feature.",
        "max was used for mean.",
        _MEAN,
    ),
)
def sentence_embedding__maximum(h, mask):
    return F.normalize(h.masked_fill(~mask[..., None], -torch.inf).amax(dim=1), dim=-1)


@EMBEDDING.misconception(
    "The mean leaves [CLS] and [SEP] out",
    fails=EMBEDDING.all_but(),
    hints=(
        "The first and the last real step of each row play no part in your vectors.",
        "It sounds sensible, but the model was trained with the mean over them too.",
        "Read what the task says about the mask.",
    ),
)
def sentence_embedding__words_only(h, mask):
    last = mask.sum(dim=1, keepdim=True) - 1
    step = torch.arange(mask.shape[1])
    return F.normalize(masked_mean(h, mask & (step > 0) & (step != last)), dim=-1)


@EMBEDDING.misconception(
    "The length is taken over the batch",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vector of a sentence changes with the other sentences of the batch.",
        "Each feature was divided by its length over all rows. Divide each row by its own length.",
        _UNIT,
    ),
)
def sentence_embedding__over_the_batch(h, mask):
    return F.normalize(masked_mean(h, mask), dim=0)


@EMBEDDING.misconception(
    "One length for the whole batch",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vectors point in the right direction, but are shorter than 1, and shorter still in a larger batch.",
        "norm() without dim is the length of all rows together. Divide each row by its own length.",
        _UNIT,
    ),
)
def sentence_embedding__one_length(h, mask):
    mean = masked_mean(h, mask)
    return mean / mean.norm()


@EMBEDDING.misconception(
    "Divided by the sum of the absolute values",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vectors point in the right direction, but are shorter than 1.",
        "The length of a vector is the root of the sum of squares.",
        _UNIT,
    ),
)
def sentence_embedding__absolute_values(h, mask):
    return F.normalize(masked_mean(h, mask), p=1, dim=-1)


@EMBEDDING.misconception(
    "The square root is missing",
    fails=EMBEDDING.all_but(),
    hints=(
        "Your vectors point in the right direction; the longer the mean, the shorter they are.",
        "The mean was divided by the square of its length.",
        _UNIT,
    ),
)
def sentence_embedding__squared_length(h, mask):
    mean = masked_mean(h, mask)
    return mean / (mean * mean).sum(dim=-1, keepdim=True)


EXERCISES = (HEAD, SPANS, TRAINABLE, CHECKPOINT, ALIGN, EMBEDDING)
