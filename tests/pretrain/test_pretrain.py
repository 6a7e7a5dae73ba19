"""Pretraining as a program: the same curve in one process and in two, after a kill too, and what it refuses."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch
from launching import ENVIRONMENT, command, log, run

from unrolled.bert_input import Special
from unrolled.bert_model import BertForPretraining
from unrolled.masked_words import mlm_loss
from unrolled.pretrain.__main__ import main
from unrolled.pretrain.config import Config, Data, Model, Training, read_config
from unrolled.pretrain.loss import PretrainingLoss
from unrolled.pretrain.rows import Stream, learn_pieces, read_documents
from unrolled.wikipedia import documents


def killed_at(step: int, signal_, config: Path, out: Path, processes: int = 1, rank: int | None = None) -> int:
    """Start a run, and kill it, or one of its ranks, as soon as it has logged a step; its exit status."""
    running = subprocess.Popen(
        command(config, out, processes), env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and running.poll() is None:
        if (out / "log.jsonl").exists() and (out / "log.jsonl").read_bytes().count(b"\n") >= step:
            break
        time.sleep(0.002)
    os.kill(running.pid if rank is None else rank_of(running.pid, rank), signal_)
    return running.wait(timeout=300)


def rank_of(parent: int, rank: int) -> int:
    """The process of a rank, among the children of torchrun."""
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if f"\0RANK={rank}\0".encode() in b"\0" + Path(f"/proc/{child}/environ").read_bytes():
            return int(child)
    raise LookupError(f"no rank {rank}")


def same(first: Path, second: Path) -> None:
    """Two runs ended alike, to the last bit: weights, Adam's memory, and every line of the log."""
    assert (first / "checkpoint.safetensors").read_bytes() == (second / "checkpoint.safetensors").read_bytes()
    assert log(first) == log(second)


def test_two_processes_draw_the_curve_of_one(config, tmp_path):
    alone = run(config(), tmp_path / "one")
    assert [line["step"] for line in alone] == list(range(1, 13))
    for name, options in {"two": {"processes": 2}, "in parts": {}, "two in parts": {"processes": 2}}.items():
        lines = run(config(micro=4 if "parts" in name else 15), tmp_path / name, **options)
        for one, other in zip(alone, lines, strict=True):
            assert one == pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize("step", [1, 7])
def test_a_killed_run_ends_as_if_nothing_had_happened(config, tmp_path, step):
    chosen = config(dropout=0.1)
    run(chosen, tmp_path / "whole")
    assert killed_at(step, signal.SIGKILL, chosen, tmp_path / "killed") == -signal.SIGKILL
    run(chosen, tmp_path / "killed")
    same(tmp_path / "whole", tmp_path / "killed")


def test_a_run_of_two_of_which_one_is_killed(config, tmp_path):
    chosen = config(dropout=0.1, steps=40)
    run(chosen, tmp_path / "whole", processes=2)
    assert killed_at(7, signal.SIGKILL, chosen, tmp_path / "killed", processes=2, rank=1) != 0
    assert len(log(tmp_path / "killed")) < 40, "it was killed too late to show anything"
    run(chosen, tmp_path / "killed", processes=2)
    same(tmp_path / "whole", tmp_path / "killed")


def test_ctrl_c_saves_and_the_same_command_goes_on(config, tmp_path):
    chosen = config(dropout=0.1, steps=200)
    assert killed_at(3, signal.SIGINT, chosen, tmp_path / "stopped") == 130
    before = log(tmp_path / "stopped")
    assert 3 <= len(before) < 200
    after = run(chosen, tmp_path / "stopped")
    assert after[: len(before)] == before and len(after) == 200
    assert after == run(chosen, tmp_path / "whole")


def test_it_learns_and_draws(config, tmp_path):
    lines = run(config(steps=200), tmp_path / "run")
    first, last = (next(line for line in part if "words right" in line) for part in (lines, lines[::-1]))
    assert last["validation words"] < first["validation words"] - 0.5
    assert last["words right"] > first["words right"]
    assert (tmp_path / "run" / "loss.png").read_bytes().startswith(b"\x89PNG")


# ---- the parts ----


def test_the_same_pieces_each_time():
    """Whatever the order in which the threads of the library come."""
    docs = documents("validation")[:200]
    first = learn_pieces(docs, 400)
    assert len(first) == 400 and first.special == Special()
    assert all(learn_pieces(docs, 400).pieces == first.pieces for _ in range(4))


def stream(text: Path, batch: int = 6) -> Stream:
    config = Config(Data([str(text)], 120, 17), Model(12, 3, 1, 20, 0.0), Training(batch=batch))
    docs = read_documents(config, "train")
    tokenizer = learn_pieces(docs, 120)
    return Stream([[tokenizer.encode(s) for s in doc] for doc in docs], tokenizer, config)


def test_epochs_are_drawn_anew_and_steps_do_not_depend_on_their_past(text):
    a, b = stream(text), stream(text)
    late_step = a.epoch_rows // 6 + 1
    late = a.batch(late_step)
    b.batch(0)
    assert all(torch.equal(x, y) for x, y in zip(late, b.batch(late_step), strict=True))
    first, second = a._make_epoch(0)[0], a._make_epoch(1)[0]
    assert not torch.equal(first.follows, second.follows)


def test_the_loss_at_chosen_places_is_the_loss_over_all(text):
    batches = stream(text)
    batch = batches.batch(0)
    model = BertForPretraining(len(batches.tokenizer), 12, 3, 1, 20, longest=17, dropout=0.0).double()
    hidden, follows, right = PretrainingLoss(model)(batch)
    words, second = model(batch.ids, batch.segments, batch.mask)
    whole = mlm_loss(words, batch.labels, batch.chosen)
    assert hidden.item() / batch.chosen.sum().item() == pytest.approx(whole.item(), rel=1e-12)
    expected = torch.nn.functional.cross_entropy(second, batch.follows).item()
    assert follows.item() / 6 == pytest.approx(expected, rel=1e-12)
    assert right[0] == (words.argmax(-1) == batch.labels)[batch.chosen].sum()


# ---- what it refuses ----

WRONG = {
    "no toml": ("[data", "is not TOML"),
    "unknown section": ("[modle]\n", "there is no section [modle]; there are data, model, training."),
    "unknown key": ("[model]\nwidht = 3", "[model] knows no widht; it knows width, heads,"),
    "a word for a number": ("[model]\nwidth = 'wide'", "[model] width is a whole number, not 'wide'."),
    "a fraction of a layer": ("[model]\nlayers = 1.5", "[model] layers is a whole number, not 1.5."),
    "nothing": ("[training]\nsteps = 0", "[training] steps is 0; it must be above 0."),
    "heads that do not divide": ("[model]\nwidth = 10\nheads = 3", "3 heads cannot share a width of 10"),
    "all is dropped": ("[model]\ndropout = 1.0", "shares below 1"),
    "a section as a value": ("model = 3", "model is a section; write [model] on a line of its own."),
    "another text": ("[data]\ntext = 'books'", 'text is "wikipedia" or a list of files'),
    "no such file": ("[data]\ntext = ['nowhere.txt']", "nowhere.txt cannot be read as text"),
    "another precision": ("[training]\nprecision = 'half'", "precision is one of float32, bfloat16, not 'half'."),
    "too short": ("[data]\nlength = 4", "two sentences need at least 8"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_configuration_gets_one_sentence(tmp_path, capsys, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    source, sentence = WRONG[case]
    (tmp_path / "bert.toml").write_text(source)
    assert main(["bert.toml", "--out", "run"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("pretrain: ") and sentence in said and said.count("\n") == 1


def test_a_folder_of_another_run_is_left_alone(config, tmp_path, capsys):
    run(config(steps=2), tmp_path / "run")
    before = (tmp_path / "run" / "checkpoint.safetensors").read_bytes()
    assert main([str(config(steps=3)), "--out", str(tmp_path / "run")]) == 2
    assert "[training] steps was 2 and is now 3. Take another folder for --out." in capsys.readouterr().err
    assert (tmp_path / "run" / "checkpoint.safetensors").read_bytes() == before


def test_too_little_text_and_a_missing_configuration(tmp_path, capsys):
    (tmp_path / "short.txt").write_text("One.\nTwo.\n\nThree.\nFour.\n")
    (tmp_path / "bert.toml").write_text(f"[data]\ntext = ['{tmp_path}/short.txt']\nvocabulary = 50")
    assert main([str(tmp_path / "bert.toml"), "--out", str(tmp_path / "run")]) == 2
    assert "fewer pairs of sentences than a batch of 64" in capsys.readouterr().err
    assert main([str(tmp_path / "none.toml"), "--out", str(tmp_path / "run")]) == 2
    assert "none.toml cannot be read (No such file or directory)." in capsys.readouterr().err


def test_the_configuration_of_the_book_is_one(tmp_path):
    for path in (Path(__file__).parents[2] / "experiments").glob("pretrain_*.toml"):
        assert read_config(path).training.steps > 0
