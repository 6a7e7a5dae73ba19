"""Letters as strokes of a pen, drawn by formulas, and a network that writes a text with a soft window (chapter 7).

Not handwriting: every letter is the same each time, up to a slant of the hand. What Graves (2013) used are recordings
of people, which we may not ship.
"""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor, nn

from unrolled.soft_window import soft_window


def _arc(x: float, y: float, rx: float, ry: float, start: float, end: float, n: int) -> list[tuple[float, float]]:
    """n points on an ellipse around (x, y), from one angle to another, in units of a half turn."""
    angles = [math.pi * (start + (end - start) * k / (n - 1)) for k in range(n)]
    return [(x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles]


LETTERS = {  # one or more strokes, each a row of points; a line of writing is 1 high, an l is 2
    "c": [_arc(0.5, 0.5, 0.5, 0.5, 0.3, 1.7, 7)],
    "e": [[(0.05, 0.5), (0.95, 0.5), *_arc(0.5, 0.5, 0.47, 0.5, 0.15, 1.7, 7)]],
    "i": [[(0.1, 1.0), (0.1, 0.0)], [(0.1, 1.4), (0.1, 1.5)]],
    "l": [[(0.1, 2.0), (0.1, 1.0), (0.1, 0.0)]],
    "m": [[(0.0, 0.0), (0.0, 1.0)], [*_arc(0.3, 0.6, 0.3, 0.4, 1, 0, 4), (0.6, 0.0)],
          [*_arc(0.9, 0.6, 0.3, 0.4, 1, 0, 4), (1.2, 0.0)]],
    "n": [[(0.0, 0.0), (0.0, 1.0)], [*_arc(0.4, 0.6, 0.4, 0.4, 1, 0, 4), (0.8, 0.0)]],
    "o": [_arc(0.5, 0.5, 0.5, 0.5, 0.5, 2.5, 9)],
    "t": [[(0.4, 1.7), (0.4, 0.0)], [(0.0, 1.1), (0.8, 1.1)]],
    "u": [[(0.0, 1.0), *_arc(0.4, 0.4, 0.4, 0.4, 1, 2, 4), (0.8, 1.0)], [(0.8, 0.4), (0.8, 0.0)]],
    "v": [[(0.0, 1.0), (0.4, 0.0), (0.8, 1.0)]],
}  # fmt: skip
ALPHABET = "".join(LETTERS)
GAP = 0.5  # between two letters


def pen(text: str, slant: float = 0.0) -> tuple[Tensor, Tensor]:
    """The way of the pen for a text.

    Args:
        text: of the letters of ALPHABET.
        slant: how far a point moves to the right for each unit of its height.

    Returns:
        moves: (T, 3) for each move: to the right, upwards, and 1 if the pen is on the paper, 0 if it is lifted.
        letters: (T,) int64, the place in the text (from 0) of the letter that each move belongs to.

    >>> moves, letters = pen("iv")
    >>> moves.shape, letters.tolist()
    (torch.Size([7, 3]), [0, 0, 0, 0, 1, 1, 1])
    """
    moves, letters, left, before = [], [], 0.0, (0.0, 0.0)
    for place, letter in enumerate(text):
        strokes = LETTERS[letter]
        for stroke in strokes:
            for k, (x, y) in enumerate(stroke):
                here = (left + x + slant * y, y)
                moves.append((here[0] - before[0], here[1] - before[1], float(k > 0)))
                letters.append(place)
                before = here
        left += max(x for stroke in strokes for x, _ in stroke) + GAP
    return torch.tensor(moves), torch.tensor(letters)


def texts(n: int, shortest: int, longest: int, rng: random.Random) -> list[str]:
    """Random texts.

    >>> texts(2, 3, 4, random.Random(0))
    ['tmin', 'vuvl']
    """
    return ["".join(rng.choices(ALPHABET, k=rng.randint(shortest, longest))) for _ in range(n)]


def _spelled(text: str) -> Tensor:
    """A text as (S, A), one column for each letter of the alphabet."""
    return torch.eye(len(ALPHABET))[[ALPHABET.index(letter) for letter in text]]


def page(rows: list[str], rng: random.Random) -> tuple[Tensor, Tensor, Tensor]:
    """Texts (B, S, A), one column for each letter; moves (B, T, 3); which moves are real (B, T). Padded with 0."""
    drawn = [pen(text, rng.uniform(-0.1, 0.4))[0] for text in rows]
    spelled = [_spelled(text) for text in rows]
    T = torch.tensor([len(moves) for moves in drawn])
    real = torch.arange(int(T.max())) < T[:, None]
    return nn.utils.rnn.pad_sequence(spelled, True), nn.utils.rnn.pad_sequence(drawn, True), real


class PenWriter(nn.Module):
    """One recurrent network that moves a pen, and a soft window through which it reads the text; no encoder.

    At each step it reads its last move and what the window showed; its state then shifts the window, and state and
    window together say the next move. Graves predicts a distribution of moves; here it is their mean.

    Args:
        H: width of the state.
        M: how many bumps the window has.
    """

    def __init__(self, H: int = 96, M: int = 2):
        super().__init__()
        self.gru, self.window = nn.GRUCell(3 + len(ALPHABET), H), nn.Linear(H, 3 * M)
        self.output, self.M = nn.Linear(H + len(ALPHABET), 3), M
        with torch.no_grad():
            self.window.bias[:M] = -2.0  # at first some seven moves to a letter

    def first(self, B: int) -> tuple[Tensor, Tensor, Tensor]:
        """State, window and places of the bumps before the first move."""
        return torch.zeros(B, self.gru.hidden_size), torch.zeros(B, len(ALPHABET)), torch.zeros(B, self.M)

    def step(self, move: Tensor, state: tuple[Tensor, Tensor, Tensor], text: Tensor) -> tuple[Tensor, tuple, Tensor]:
        """From the last move (B, 3): the next one with the score of the pen (B, 3), the state, the weights (B, S)."""
        h, w, kappa = state
        h = self.gru(torch.cat([move, w], dim=1), h)
        kappa_hat, beta_hat, alpha_hat = self.window(h)[:, None].chunk(3, dim=2)  # (B, 1, M) each
        phi, kappa = soft_window(kappa_hat, beta_hat, alpha_hat, kappa, text.shape[1])
        w = (phi @ text)[:, 0]  # (B, 1, S) @ (B, S, A) -> (B, A)
        return self.output(torch.cat([h, w], dim=1)), (h, w, kappa[:, -1]), phi[:, 0]

    def forward(self, text: Tensor, moves: Tensor) -> tuple[Tensor, Tensor]:
        """With the right moves given: what it would do at each step (B, T, 3), and where it reads (B, T, S)."""
        state, said, read = self.first(len(text)), [], []
        for move in nn.functional.pad(moves, (0, 0, 1, 0))[:, :-1].unbind(dim=1):
            out, state, phi = self.step(move, state, text)
            said.append(out)
            read.append(phi)
        return torch.stack(said, dim=1), torch.stack(read, dim=1)

    @torch.no_grad()
    def write(self, text: str, longest: int = 400) -> tuple[Tensor, Tensor]:
        """Alone: its moves (T, 3) and where it reads (T, S); it stops when the window is highest behind the text."""
        letters = torch.cat([_spelled(text), torch.zeros(1, len(ALPHABET))])
        state, move, moves, read = self.first(1), torch.zeros(1, 3), [], []
        while len(moves) < longest:
            out, state, phi = self.step(move, state, letters[None])
            if phi[0].argmax() == len(text):
                break
            move = torch.cat([out[:, :2], (out[:, 2:] > 0).float()], dim=1)
            moves.append(move[0])
            read.append(phi[0, :-1])
        return torch.stack(moves), torch.stack(read)


def learn_to_write(model: PenWriter, updates: int, seed: int, lr: float = 5e-3) -> list[float]:
    """Train on random texts of 3 to 6 letters; return the losses."""
    rng, losses = random.Random(seed), []
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for done in range(updates):
        text, moves, real = page(texts(32, 3, 6, rng), rng)
        said, _ = model(text, moves)
        far = ((said - moves)[..., :2] ** 2).sum(-1)
        down = nn.functional.binary_cross_entropy_with_logits(said[..., 2], moves[..., 2], reduction="none")
        loss = (4 * far + down)[real].mean()
        optimizer.param_groups[0]["lr"] = lr * (1 - done / updates)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
