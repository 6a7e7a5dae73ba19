"""Hide frames of speech, and tell each from others: wav2vec 2.0 without its codebook (chapter 14)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.positions import sinusoidal_positions
from unrolled.transformer_model import EncoderLayer, Norm


def contrastive(z: Tensor, c: Tensor, neg: Tensor, mask: Tensor, tau: float) -> Tensor:
    r"""Which of these frames was hidden here? The mean surprise over the hidden frames.

    $$ s_{tj} = \frac{c_t^\top z_j}{\lVert c_t \rVert\, \lVert z_j \rVert} $$ (eq-cosine)
    $$ L = -\frac1n \sum_{t \text{ hidden}} \log
       \frac{\exp(s_{tt} / \tau)}{\exp(s_{tt} / \tau) + \sum_{j \in \text{neg}_t,\; j \ne t}
       \exp(s_{tj} / \tau)} $$ (eq-contrastive)

    t and j run over all frames of the batch, recording after recording: frame t of recording b
    has the number b·T + t.

    Args:
        z: (B, T, D) what each frame was.
        c: (B, T, D) what the model says of each frame from those around it. No vector is zero.
        neg: (B, T, M) int64, the numbers of M frames that were drawn to be told from frame t, at
            least 0 and below B·T; from the same recording or from others. One that was drawn
            twice counts twice; the frame itself, drawn by accident, does not count.
        mask: (B, T) bool, True = the frame was hidden; there are n of them, at least one, and
            only they are scored.
        tau: τ > 0, the temperature; so small perhaps that exp(s/τ) overflows, and the result is
            finite all the same.

    Returns:
        A scalar in nats. Gradients reach z and c; nothing is changed.

    Built in chapter 14.

    >>> z = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.0, 5.0]]])
    >>> c, mask = torch.ones(1, 3, 2), torch.tensor([[True, False, True]])
    >>> neg = torch.tensor([[[1, 2], [0, 2], [0, 2]]])  # the last 2 is frame 2 itself
    >>> round(contrastive(z, c, neg, mask, tau=0.1).item(), 4)  # half log 3, half log 2
    0.8959
    """
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]  # (B, T, 1 + M, D)
    s = (frames @ c[..., None])[..., 0]  # eq-cosine: (B,T,1+M,D) @ (B,T,D,1) -> (B,T,1+M)
    twice = F.pad(neg == own, (1, 0))  # (B, T, 1 + M) False for the frame itself in the first place
    log_p = torch.log_softmax((s / tau).masked_fill(twice, -math.inf), dim=2)  # (B, T, 1 + M)
    return -log_p[..., 0][mask].mean()  # eq-contrastive


def hide_spans(real: Tensor, rate: float, length: int, rng: torch.Generator) -> Tensor:
    """Choose frames to hide: each real frame begins a span of ``length`` frames with probability ``rate``.

    A recording in which no span began hides one, at a random place, so that it is not read in vain.

    Args:
        real: (B, T) bool, True = a frame, False = a pad.

    Returns:
        (B, T) bool, True = hidden; never a pad.

    >>> rng = torch.Generator().manual_seed(0)
    >>> hide_spans(torch.tensor([[True] * 12, [True] * 7 + [False] * 5]), 0.1, 3, rng).int().tolist()
    [[0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]]
    """
    B, T = real.shape
    u = torch.rand(B, T, generator=rng).masked_fill(~real, 1.0)
    begins = u <= u.amin(dim=1, keepdim=True).clamp(min=rate)  # (B, T)
    before = F.pad(begins, (length - 1, 0)).unfold(1, length, 1)  # (B, T, length): a frame and those before it
    return before.any(dim=2) & real


def draw_negatives(allowed: Tensor, M: int, rng: torch.Generator, same: bool = True) -> Tensor:
    """For each frame the numbers of M others, drawn with replacement; now and then it draws itself.

    Args:
        allowed: (B, T) bool, True = may be drawn; at least one in each row.
        M: how many.
        same: True: from the same recording; False: from all of the batch.

    Returns:
        (B, T, M) int64, numbers b·T + t, as ``contrastive`` takes them.

    >>> rng = torch.Generator().manual_seed(0)
    >>> neg = draw_negatives(torch.tensor([[True, True, False], [False, True, True]]), 40, rng)
    >>> [sorted(set(row.flatten().tolist())) for row in neg]
    [[0, 1], [4, 5]]
    """
    B, T = allowed.shape
    if same:
        step = torch.multinomial(allowed.float(), T * M, replacement=True, generator=rng)  # (B, T·M)
        return (step + T * torch.arange(B)[:, None]).view(B, T, M)
    return torch.multinomial(allowed.flatten().float(), B * T * M, replacement=True, generator=rng).view(B, T, M)


class SpeechEncoder(nn.Module):
    """Reads frames of which some are hidden, and says of each what it should be.

    Args:
        E: numbers in a frame.
        D: width of the model, even.
        n_heads: number of heads; it divides D.
        layers: number of layers.
        d_ff: width of the hidden layer in the feed-forward networks.
        longest: the most frames.
        dropout: the probability that a feature is dropped after each sub-layer.

    >>> model, frames = SpeechEncoder(E=12, D=8, n_heads=2, layers=2, d_ff=16), torch.randn(3, 5, 12)
    >>> real, hidden = torch.ones(3, 5, dtype=torch.bool), torch.zeros(3, 5, dtype=torch.bool)
    >>> z, c = model(frames, real, hidden)
    >>> z.shape, c.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 8]))
    """

    def __init__(
        self, E: int, D: int, n_heads: int, layers: int, d_ff: int, *, longest: int = 64, dropout: float = 0.0
    ):
        super().__init__()
        self.frame, self.hidden = nn.Linear(E, D), nn.Parameter(torch.randn(D))
        self.register_buffer("positions", sinusoidal_positions(longest, D), persistent=False)
        self.layers = nn.ModuleList(EncoderLayer(D, n_heads, d_ff, "pre", dropout) for _ in range(layers))
        self.last, self.target = Norm(D), nn.Linear(D, D)

    def forward(self, frames: Tensor, real: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read a batch.

        Args:
            frames: (B, T, E).
            real: (B, T) bool, True = a frame, False = a pad.
            hidden: (B, T) bool, True = the encoder sees one learned vector in its place; None: it sees all.

        Returns:
            z: (B, T, D) what each frame is, from the frame alone, hidden or not.
            c: (B, T, D) the states of the encoder.
        """
        x = self.frame(frames)  # (B, T, D)
        z = self.target(x)
        if hidden is not None:
            x = torch.where(hidden[..., None], self.hidden, x)
        x = x + self.positions[: x.shape[1]]
        for layer in self.layers:
            x, _ = layer(x, real[:, None, None, :])
        return z, self.last(x)
