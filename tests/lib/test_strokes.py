"""Generated strokes and their network: the pen comes home, pads do not matter, alone it writes as with a teacher."""

import random

import torch
from agreement import assert_close

from unrolled.strokes import ALPHABET, LETTERS, PenWriter, learn_to_write, page, pen


def test_the_pen_draws_every_letter_where_it_belongs():
    for letter, strokes in LETTERS.items():
        moves, places = pen("l" + letter)
        assert sum(map(len, strokes)) == (places == 1).sum()
        assert (moves[places == 1][:, 2] == 0).sum() == len(strokes)  # it is lifted once for each stroke
        shift = moves[:, :2].double().cumsum(0)[-1] - torch.tensor(strokes[-1][-1], dtype=torch.float64)
        assert_close(shift, torch.tensor([0.6, 0.0], dtype=torch.float64), atol=1e-6)  # an l and a gap


def test_a_slant_moves_points_by_their_height():
    upright, slanted = (pen("uv", slant)[0].cumsum(0) for slant in (0.0, 0.5))
    assert_close(slanted[:, 0], upright[:, 0] + 0.5 * upright[:, 1], atol=1e-5)


def test_a_longer_neighbour_changes_nothing():
    torch.manual_seed(0)
    model = PenWriter(H=12, M=3)
    text, moves, real = page(["on", "melon"], random.Random(0))
    said, phi = model(text, moves)
    T = int(real[0].sum())
    alone, alone_phi = model(text[:1, :2], moves[:1, :T])
    assert_close(said[0, :T], alone[0], atol=1e-5)
    assert_close(phi[0, :T, :2], alone_phi[0], atol=1e-5)


def test_the_window_only_moves_forwards_and_writing_ends():
    torch.manual_seed(0)
    model = PenWriter(H=12)
    moves, read = model.write("tin")
    assert moves.shape == (len(read), 3) and read.shape[1] == 3
    assert set(moves[:, 2].tolist()) <= {0.0, 1.0} and len(moves) < 400
    state, places = model.first(1), []
    text = torch.eye(len(ALPHABET))[[0, 1, 2]][None]
    for move in moves:
        _, state, _ = model.step(move[None], state, text)
        places.append(state[2])
    assert (torch.cat(places).diff(dim=0) > 0).all()


def test_the_loss_falls():
    torch.manual_seed(0)
    losses = learn_to_write(PenWriter(H=16), updates=12, seed=0, lr=1e-2)
    assert losses[-1] < losses[0]
