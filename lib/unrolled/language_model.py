"""Language models: counts, windows, the probability of a sequence, perplexity, one matrix for two (chapter 3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.readers import recurrent_layer


def bigram_logprobs(docs: list[Tensor], V: int, k: float) -> Tensor:
    r"""Count which id followed which, and turn the counts into log probabilities.

    $$ P(w_t = j \mid w_{t-1} = i) = \frac{\text{count}(i, j) + k}
       {\sum_{j'} \left(\text{count}(i, j') + k\right)} $$ (eq-bigram)

    Args:
        docs: documents, each a 1-D tensor of ids from 0 to V - 1. Two ids are a pair if one
            follows the other in the same document; the last id of one document and the first
            of the next are not a pair. A document may be as short as one id.
        V: size of the vocabulary; an id may occur in no document.
        k: added to every count, k > 0, so that nothing is impossible.

    Returns:
        (V, V) natural logarithms: row i belongs to the previous id i, column j to the next id j.
        Every row holds the logs of probabilities that sum to 1. docs is not changed.

    Built in chapter 3.

    >>> docs = [torch.tensor([0, 1, 0, 1]), torch.tensor([1])]
    >>> bigram_logprobs(docs, V=2, k=1).exp()  # 0 -> 1 twice, 1 -> 0 once
    tensor([[0.2500, 0.7500],
            [0.6667, 0.3333]])
    """
    counts = torch.full((V, V), float(k))
    for ids in docs:
        pairs = V * ids[:-1] + ids[1:]  # place of (i, j) in the table, row by row
        counts += torch.bincount(pairs, minlength=V * V).view(V, V)
    return torch.log(counts / counts.sum(dim=1, keepdim=True))  # eq-bigram


def lm_windows(docs: list[Tensor], T: int) -> tuple[Tensor, Tensor]:
    r"""Cut documents into windows of T ids, each with the T ids that are to be predicted.

    The target of an id is the id after it, so a window takes T + 1 ids of its document. The next
    window begins with the last target of this one: inputs do not overlap, and no id is skipped.

    Args:
        docs: documents, each a 1-D tensor of at least one id; at least one of them has more than T.
        T: length of a window.

    Returns:
        inputs: (N, T) the windows, document by document in their order. No window holds ids of
            two documents. What is left at the end of a document and does not fill a window, its
            last target included, is dropped; so a document with no more than T ids gives none.
        targets: (N, T) the id after each input. docs is not changed.

    Built in chapter 3.

    >>> inputs, targets = lm_windows([torch.arange(10, 18), torch.arange(3)], T=3)
    >>> inputs.tolist(), targets.tolist()
    ([[10, 11, 12], [13, 14, 15]], [[11, 12, 13], [14, 15, 16]])
    """
    inputs, targets = [], []
    for ids in docs:
        N = (len(ids) - 1) // T  # the last id is nobody's input
        inputs.append(ids[: N * T].reshape(N, T))
        targets.append(ids[1 : N * T + 1].reshape(N, T))
    return torch.cat(inputs), torch.cat(targets)


def sequence_logprob(logits: Tensor, ids: Tensor) -> Tensor:
    r"""The log probability that a language model gives to a sequence after the start symbol.

    $$ \log P(w_1, \dots, w_{T-1} \mid w_0) = \sum_{t=1}^{T-1} \log \hat y_{t-1}[w_t], \qquad
       \hat y_t = \text{softmax}(o_t) $$ (eq-sequence-logprob)

    Args:
        logits: (T, V) the scores o; row t was computed after reading ids[0] to ids[t], and is
            about the id after them. They may be so large that exp of them overflows, and T so
            long that the probability itself is rounded to 0; the logarithm stays finite.
        ids: (T,) the sequence w; ids[0] is the start symbol, which is given, not predicted.

    Returns:
        A scalar tensor, in nats. Gradients reach the logits; nothing is changed.

    Built in chapter 3.

    >>> ids = torch.tensor([0, 2, 1])  # <s> and two more
    >>> round(sequence_logprob(torch.zeros(3, 4), ids).item(), 4)  # twice log 1/4
    -2.7726
    """
    log_p = torch.log_softmax(logits[:-1], dim=1)  # (T-1, V)
    return log_p.gather(1, ids[1:, None]).sum()  # eq-sequence-logprob: log of eq-chain-rule


def perplexity(nll: Tensor, n: Tensor) -> Tensor:
    r"""The perplexity of a corpus that was read in batches.

    $$ \text{PPL} = \exp\left(\frac{\sum_b \text{nll}_b}{\sum_b n_b}\right) $$ (eq-perplexity)

    Args:
        nll: (number of batches,) the negative log likelihoods, summed over the tokens of each
            batch, in nats.
        n: (number of batches,) the number of tokens in each batch; the last one is often smaller.

    Returns:
        A scalar tensor. How the corpus was cut into batches makes no difference.

    Built in chapter 3.

    >>> n = torch.tensor([3, 1])
    >>> round(perplexity(n * torch.tensor(5.0).log(), n).item(), 4)  # a fair choice among 5
    5.0
    """
    return torch.exp(nll.sum() / n.sum())  # eq-perplexity


def tie(model: nn.Module) -> tuple[nn.Parameter, ...]:
    r"""Let the embedding and the output layer of a language model share one matrix.

    $$ e_t = E\, x_t, \qquad \hat y_t = \text{softmax}(E^\top h_t + b) $$ (eq-tying)

    Args:
        model: has ``embedding``, an nn.Embedding(V, H), ``output``, an nn.Linear(H, V), and other
            layers. Both weights have shape (V, H). The model is changed: afterwards one and the
            same parameter serves both layers, in the forward pass, in the gradient, and in every
            later change. Its values are those of the embedding; all else stays as it was.

    Returns:
        The parameters that an optimizer is to train, as tensors in any order: all that the model
        has now, each of them once.

    Built in chapter 3.

    >>> model = LanguageModel(V=7, H=3, kind="rnn")
    >>> parameters = tie(model)
    >>> torch.optim.SGD(parameters, lr=0.1).zero_grad()
    >>> model.output.weight is model.embedding.weight, len(parameters)  # E, four of the RNN, b
    (True, 6)
    """
    model.output.weight = model.embedding.weight  # eq-tying
    return tuple(model.parameters())


class LanguageModel(nn.Module):
    """Embedding, recurrent layer, output: scores for the next id at every step.

    Args:
        V: size of the vocabulary.
        H: width of the state.
        kind: "rnn", "lstm" or "gru", torch's layers.
        E: width of the embedding; H unless said otherwise. Tying needs E = H.

    >>> model = LanguageModel(V=7, H=3, kind="lstm")
    >>> logits, state = model(torch.tensor([[1, 2, 4]]))
    >>> logits.shape, state[0].shape
    (torch.Size([1, 3, 7]), torch.Size([1, 1, 3]))
    """

    def __init__(self, V: int, H: int, kind: str, E: int | None = None):
        super().__init__()
        E = E or H
        self.embedding, self.rnn, self.output = nn.Embedding(V, E), recurrent_layer(kind, E, H), nn.Linear(H, V)

    def forward(self, ids: Tensor, state=None) -> tuple:
        """ids (B, T) and the state to go on from -> logits (B, T, V) and the state after the last id."""
        h, state = self.rnn(self.embedding(ids), state)  # (B, T, H)
        return self.output(h), state
