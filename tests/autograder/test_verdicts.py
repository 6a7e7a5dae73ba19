"""The verdict on every right and every wrong implementation that the course knows."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from autograder.exercises import all_exercises, chapter_modules, chapter_of, load_variants
from autograder.judge import CHECK_SEEDS, judge_functions
from autograder.probe import Question, observe
from autograder.setup_cell import SETUP
from autograder.source import bound_names, free_names, renamed_source, shortcut
from autograder.values import Raised, equal

load_variants()
EXERCISES = list({id(exercise): exercise for exercise in all_exercises().values()}.values())
OTHER_SEEDS = (11, 12, 13)

# How many mistakes the syllabus lists for an exercise; the judge must know at least as many.
LISTED = {
    "leaky_average": 5,
    "pad_batch": 4,
    "causal_conv1d": 4,
    "rnn_step": 5,
    "rnn_forward": 5,
    "softmax": 4,
    "from_torch_rnn": 4,
    "cross_entropy": 5,
    "numerical_grad": 3,
    "rnn_step_backward": 4,
    "bptt": 3,
    "jacobian_product": 3,
    "clip_global_norm": 5,
    "truncated_bptt": 3,
    "spectral_radius": 3,
    "bigram_logprobs": 3,
    "lm_windows": 5,
    "sequence_logprob": 4,
    "perplexity": 3,
    "tie": 3,
    "next_token_probs": 4,
    "sample_sequence": 3,
    "sgns_loss": 3,
    "lstm_step": 7,
    "peephole_lstm_step": 4,
    "gru_step": 3,
    "to_torch_lstm": 4,
    "init_forget_bias": 4,
    "direct_cell_gradient": 3,
    "detach_state": 3,
    "stack": 3,
    "birnn": 5,
    "deep_birnn": 3,
    "bi_summary": 2,
    "masked_mean": 4,
    "bio_spans": 4,
    "span_f1": 4,
    "shift_right": 4,
    "encode": 3,
    "decode": 4,
    "greedy": 4,
    "scheduled_inputs": 3,
    "edit_distance": 2,
    "error_rate": 1,
    "score_dot": 2,
    "score_bilinear": 2,
    "score_additive": 2,
    "attention_weights": 5,
    "context": 3,
    "attn_decoder_step": 2,
    "attention_pool": 3,
    "image_attention": 3,
    "soft_window": 4,
    "scaled_dot_product_attention": 7,
    "split_heads": 4,
    "multi_head_attention": 6,
    "causal_mask": 3,
    "flops": 3,
    "permutation_gap": 3,
    "sinusoidal_positions": 5,
    "layer_norm": 4,
    "feed_forward": 3,
    "make_masks": 3,
    "encoder_layer": 4,
    "decoder_layer": 4,
    "embed": 3,
    "dropout": 3,
    "adam_step": 3,
    "noam_lr": 4,
    "beam_search": 6,
    "rank_hypotheses": 3,
    "bleu": 5,
    "attention_rollout": 3,
    "induction_score": 3,
    "windows": 4,
    "gpt_block": 3,
    "bpe_train": 4,
    "bpe_encode": 3,
    "generate": 4,
    "count_parameters": 3,
    "triple_example": 3,
    "build_input": 4,
    "mlm_mask": 5,
    "mlm_loss": 3,
    "nsp_pairs": 4,
    "bert_embed": 4,
    "wordpiece_encode": 4,
    "linear_warmup_decay": 4,
    "classification_head": 4,
    "span_loss": 4,
    "set_trainable": 4,
    "map_checkpoint": 5,
    "align_labels": 4,
    "sentence_embedding": 3,
    "bt_loss": 4,
    "pg_loss": 4,
    "patchify": 3,
    "vit_embed": 3,
    "contrastive": 4,
    "name_the_bug": 8,
}


def _cases(kind: str) -> list:
    return [
        pytest.param(exercise, item, id=f"{exercise.id}-{getattr(item, 'id', None) or item.__name__}")
        for exercise in EXERCISES
        for item in getattr(exercise, kind)
    ]


each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
each_misconception = pytest.mark.parametrize("exercise, known", _cases("misconceptions"))
each_variant = pytest.mark.parametrize("exercise, variant", _cases("variants"))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _observations(exercise, implementation, seeds=CHECK_SEEDS) -> dict:
    functions = exercise.with_one(implementation)
    return {(probe.id, seed): observe(Question(probe, seed), functions) for probe in exercise.probes for seed in seeds}


def _failed(verdict) -> tuple[str, ...]:
    return tuple(p.probe for p in verdict.properties if not p.passed)


@each_exercise
def test_reference_is_correct(exercise):
    verdict = judge_functions(exercise, exercise.functions)
    assert verdict.label == "correct"
    assert verdict.points == verdict.max_points == exercise.points


@each_exercise
def test_reference_answers_every_question(exercise):
    for (probe, seed), seen in _observations(exercise, exercise.references[0], CHECK_SEEDS + OTHER_SEEDS).items():
        assert not isinstance(seen, Raised), f"{probe}, seed {seed}: {seen}"


@each_variant
def test_variant_is_correct(exercise, variant):
    verdict = judge_functions(exercise, exercise.with_one(variant), OTHER_SEEDS)  # the first seeds: test_soundness.py
    assert verdict.label == "correct", f"{verdict.message} {_failed(verdict)}"
    assert verdict.points == exercise.points


@each_misconception
def test_misconception_is_named(exercise, known):
    verdict = judge_functions(exercise, exercise.with_one(known.implementation), OTHER_SEEDS)
    assert verdict.label == f"misconception:{known.id}"
    assert verdict.hints == known.hints
    assert set(_failed(verdict)) == set(known.fails)
    assert known.fails
    assert exercise.points == 0 or verdict.points < exercise.points


@each_exercise
def test_misconceptions_differ_by_a_value_from_the_answer_and_from_each_other(exercise):
    right = _observations(exercise, exercise.references[0])
    seen = {known.id: _observations(exercise, known.implementation) for known in exercise.misconceptions}
    for known, wrong in seen.items():
        assert any(isinstance(wrong[asked], dict) and equal(right[asked], wrong[asked]) for asked in right), known
    for first, second in combinations(seen, 2):
        same = all(equal(seen[first][asked], seen[second][asked]) is None for asked in seen[first])
        assert not same, f"{first} and {second} cannot be told apart"


@pytest.mark.parametrize("exercise, convention", _cases("conventions"))
def test_convention_is_correct(exercise, convention):
    verdict = judge_functions(exercise, exercise.with_one(convention.implementation))
    assert verdict.label == f"correct-other-convention:{convention.id}"
    assert verdict.points == exercise.points


def _zeros_like(value):
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, tuple):
        items = [_zeros_like(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, (int, float, list, str)):
        return type(value)()  # 0, 0.0, [], ""
    return value


@each_exercise
@pytest.mark.parametrize("kind", ["nothing", "the first argument", "zeros"])
def test_trivial_answer_earns_nothing(exercise, kind):
    def trivial(reference):
        def answer(*arguments, **named):
            if kind == "zeros":
                return _zeros_like(reference(*arguments, **named))
            return arguments[0] if kind == "the first argument" else None

        return answer

    verdict = judge_functions(exercise, {name: trivial(reference) for name, reference in exercise.functions.items()})
    assert verdict.points == 0
    assert set(_failed(verdict)) == {probe.id for probe in exercise.credited}


@each_exercise
def test_probes_come_in_both_kinds(exercise):
    assert len(exercise.credited) >= 3
    assert any(probe.weight == 0 for probe in exercise.probes), "add a naming probe"
    titles = [probe.title for probe in exercise.probes]
    assert len(set(titles)) == len(titles)


@each_exercise
def test_listed_mistakes_are_known(exercise):
    assert len(exercise.misconceptions) >= LISTED[exercise.id]


@each_exercise
def test_at_least_three_variants(exercise):
    assert len(exercise.variants) >= 3


@each_exercise
def test_hints_have_three_levels(exercise):
    for known in exercise.misconceptions:
        assert len(known.hints) == len({hint.strip() for hint in known.hints}) == 3, known.id
        assert all(hint.strip() for hint in known.hints), known.id
        assert known.title.strip() and not known.title.endswith("."), known.id


@each_exercise
def test_titles_are_different(exercise):
    titles = [known.title for known in exercise.misconceptions]
    assert len(set(titles)) == len(titles)


@each_exercise
def test_not_applicable_gives_reasons(exercise):
    assert all(listed.strip() and reason.strip() for listed, reason in exercise.not_applicable.items())


@each_exercise
def test_implementations_fit_into_a_cell(exercise):
    """Pasted into the exercise's cell, each implementation finds its names and uses no forbidden call."""
    allowed = (
        bound_names(SETUP)
        | chapter_modules()[chapter_of(exercise)].SETUP_NAMES
        | set(exercise.uses)
        | set(exercise.functions)
    )
    known = [k.implementation for k in (*exercise.misconceptions, *exercise.conventions)]
    for implementation in (*known, *exercise.variants):
        source = renamed_source(implementation)
        assert free_names(source) <= allowed, implementation.__name__
        assert shortcut(source, exercise) is None, implementation.__name__


def test_numbers_and_points():
    by_chapter = {chapter: module.EXERCISES for chapter, module in chapter_modules().items()}
    for chapter, exercises in by_chapter.items():
        expected = [f"{int(chapter[:2])}.{place}" for place in range(1, len(exercises) + 1)]
        assert [exercise.number for exercise in exercises] == expected
        assert all(1 <= exercise.difficulty <= 3 and exercise.minutes > 0 for exercise in exercises)
    assert sum(exercise.points for exercise in by_chapter["01_recurrence"]) == 14
