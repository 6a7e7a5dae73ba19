"""The judge's decisions beyond the tables of known mistakes: partial work, given functions, errors, precision."""

import math

import pytest
import torch

from autograder.exercises import find
from autograder.judge import better, judge, judge_functions
from autograder.probe import observe
from autograder.values import TimedOut
from unrolled import recurrent

STEP, FORWARD = find("rnn_step"), find("rnn_forward")


def test_every_kind_of_wrong_has_its_own_word():
    assert judge_functions(STEP, {"rnn_step": lambda x, h, params: 1 / 0}).kind == "error"
    assert judge_functions(STEP, {"rnn_step": lambda x, h, params: x.sum() * h}).kind == "wrong"
    assert judge_functions(STEP, {"rnn_step": lambda x, h, params: None}).kind == "wrong"
    assert judge(STEP, lambda questions: [TimedOut()] * len(questions)).kind == "timeout"


def test_a_trivial_answer_earns_nothing():
    for answer in (lambda *a: None, lambda *a: a[0], lambda *a: a[1], lambda *a: torch.zeros(3)):
        for exercise in (STEP, FORWARD, find("softmax"), find("cross_entropy"), find("pad_batch")):
            assert judge_functions(exercise, {exercise.id: answer}).points == 0, exercise.id


def test_a_line_left_from_the_stub_is_pointed_out():
    def rnn_step(x, h, params):
        raise NotImplementedError()

    assert "still in the cell" in judge_functions(STEP, {"rnn_step": rnn_step}).message


def test_of_two_functions_the_written_one_is_judged_and_the_other_named():
    def from_torch_gru(module):
        raise NotImplementedError()

    both = find("to_torch_lstm")
    verdict = judge_functions(both, {**both.functions, "from_torch_gru": from_torch_gru})
    assert verdict.kind == "wrong" and verdict.points == both.points / 2
    assert "from_torch_gru is not written yet. The rest: Right." in verdict.message
    known = next(k for k in both.misconceptions if k.id == "our_order")
    verdict = judge_functions(both, {"to_torch_lstm": known.implementation, "from_torch_gru": from_torch_gru})
    assert verdict.detail == known.id and verdict.points == 0
    assert "from_torch_gru is not written yet" in verdict.message and verdict.hints == known.hints


def test_float32_answers_are_asked_again_in_float32():
    def rnn_step(x, h, params):
        W_xh, W_hh, b, phi = params
        narrow = phi(x.float() @ W_xh.float().T + h.float() @ W_hh.float().T + b.float())
        return narrow

    asked = []

    def ask(questions):
        asked.extend(question.dtype for question in questions)
        return [observe(question, {"rnn_step": rnn_step}) for question in questions]

    assert judge(STEP, ask).kind == "correct"
    assert set(asked) == {"float64", "float32"}


def test_partial_work_earns_partial_credit():
    def rnn_step(x, h, params):
        return torch.tanh(x @ params.W_xh.T + h @ params.W_hh.T + params.b).detach()

    verdict = judge_functions(STEP, {"rnn_step": rnn_step})
    assert 0 < verdict.points < verdict.max_points
    assert {p.passed for p in verdict.properties} == {True, False}


def test_right_given_a_right_step():
    wrong = judge_functions(FORWARD, {"rnn_forward": lambda x, h0, params: x})
    right = judge_functions(FORWARD, {"rnn_forward": recurrent.rnn_forward})
    verdict = better(wrong, right, ("rnn_step",))
    assert verdict.kind == "correct-given" and verdict.points == FORWARD.points
    assert "given a right rnn_step" in verdict.message
    assert better(right, wrong, ("rnn_step",)) is right


def test_points_never_exceed_and_never_fall_below():
    for exercise in (STEP, FORWARD):
        for known in exercise.misconceptions:
            verdict = judge_functions(exercise, exercise.with_one(known.implementation))
            assert 0 <= verdict.points < exercise.points
            assert math.isclose(verdict.points, round(verdict.points, 2))


def test_the_notebook_keeps_its_own_random_state():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    judge_functions(find("from_torch_rnn"), find("from_torch_rnn").functions)
    assert torch.equal(torch.rand(2), expected)
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("seed", range(5))
def test_other_seeds_give_the_same_verdict(seed):
    known = STEP.misconceptions[0]
    seeds = (1000 + seed, 2**47 + seed)
    assert judge_functions(STEP, STEP.functions, seeds).kind == "correct"
    assert judge_functions(STEP, STEP.with_one(known.implementation), seeds).detail == known.id
