"""The benchmarks' harness: what a row says, how a run resumes, and that the page is made from the results."""

import json

import bench
import group_growth
import group_library
import harness
import page
import pytest
import torch
from memory import peak_bytes
from peers import AdditiveDecoder, TorchBert, TorchGPT, TorchTransformer
from torch import nn

from unrolled.attention import AdditiveScore
from unrolled.bert_model import BertForPretraining
from unrolled.gpt import GPTConfig
from unrolled.gpt_model import GPT
from unrolled.transformer_model import Transformer
from unrolled.translators import AttentionSeq2Seq

RESULTS = json.loads(harness.RESULTS.read_text())


def test_results_have_the_form_that_is_promised():
    assert isinstance(RESULTS, list) and len({one["name"] for one in RESULTS}) == len(RESULTS)
    for one in RESULTS:
        assert {"name", "ours", "peer", "ratio", "goal", "holds", "unit", "group", "machine", "why"} <= set(one), one
        assert one["ratio"] == round(one["ours"] / one["peer"], 3), one["name"]
        assert one["holds"] == (None if one["goal"] is None else one["ours"] / one["peer"] <= one["goal"]), one["name"]
        assert one["group"] in bench.GROUPS and "torch 2." in one["machine"] and "load" in one["machine"]
        assert one["holds"] is not False or len(one["why"].split()) > 5, "what is missed has a reason"


def test_every_network_and_size_that_was_asked_for_is_measured():
    wanted = {f"{case.name}, {way}" for case in group_library.cases() for way in ("lesson", "fast path")}
    assert wanted == {one["name"] for one in RESULTS if one["group"] == "library"}
    networks = {case.name.rsplit(", ", 1)[0] for case in group_library.cases()}
    recurrent = {
        f"{k}, {f}" for k in ("RNN", "LSTM", "GRU") for f in ("one layer", "two layers", "both directions, padded")
    }
    others = {"encoder block", "decoder block", "Transformer", "GPT step", "BERT step"}
    assert networks == recurrent | others | {"Bahdanau attention", "multi-head attention"}
    for one in RESULTS:
        if one["group"] == "library":
            assert one["goal"] == (None if ", small, " in one["name"] else 1.15), one["name"]


def test_growth_fits_what_it_draws():
    drawn = [one for one in RESULTS if "points" in one]
    about = {(one["points"]["axis"], one["points"]["quantity"]) for one in drawn}
    assert about == {(axis, "time") for axis in ("length", "tokens written", "width of the beam", "words")} | {
        (axis, "memory") for axis in ("length", "words")
    }
    for one in drawn:
        assert one["ours"] == pytest.approx(group_growth.exponent(one["points"]["x"], one["points"]["y"]), rel=1e-3)


def test_the_page_is_made_from_the_results(tmp_path):
    made = page.write_page(tmp_path)
    assert made.read_text("utf8") == (page.DOCS / "bench.md").read_text("utf8"), (
        "run: python tests/bench/bench.py --page"
    )
    figures = {path.name for path in tmp_path.glob("*.svg")}
    assert figures == {path.name for path in page.DOCS.glob("bench_*.svg")} and len(figures) == 6
    text = made.read_text("utf8")
    assert ("The machine was busy" in text) == any("busy" in one["machine"] for one in RESULTS)
    for name in figures:
        assert f'src="{name}"' in text


def test_the_page_says_by_how_much_a_goal_is_missed_and_why():
    rows = [
        harness.row("LSTM, large, lesson", 30.0, 20.0, 1.2, "ms", why="it calls more functions"),
        harness.row("GRU, large, lesson", 22.0, 20.0, 1.2, "ms", why="it calls more functions"),
        harness.row("GRU, small, lesson", 99.0, 20.0, None, "ms", why="no goal"),
    ]
    assert [one["holds"] for one in rows] == [False, True, None]
    said = "\n".join(page.summary(rows))
    assert "Of 2 goals 1 hold." in said
    assert "LSTM, large, lesson (25 % over). Why: it calls more functions." in said and "GRU" not in said
    assert "**missed**" in page.line(rows[0]) and "≤ 1.2" in page.line(rows[0]) and "–" in page.line(rows[2])


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "results.json")
    asked, partial = [], tmp_path / "partial.json"

    def case(name: str, stop: bool = False) -> harness.Case:
        def run() -> list[dict]:
            asked.append(name)
            if stop:
                raise KeyboardInterrupt
            return [harness.row(name, 1.0, 3.0, 0.5, "ms", why="")]

        return harness.Case(name, run)

    with pytest.raises(KeyboardInterrupt):
        list(harness.measure("library", [case("a"), case("b", stop=True)], partial))
    found = list(harness.measure("library", [case("a"), case("b")], partial))
    assert asked == ["a", "b", "b"] and [rows[0]["name"] for _, rows in found] == ["a", "b"]
    other = {**harness.row("c", 1.0, 1.0, None, "ms", why=""), "group": "growth", "machine": "here"}
    harness.merge("growth", [other], bench.GROUPS)
    harness.merge("library", [row for _, rows in found for row in rows], bench.GROUPS)
    kept = json.loads((tmp_path / "results.json").read_text())
    assert [one["name"] for one in kept] == ["a", "b", "c"] and kept[0]["ratio"] == 0.333


def test_ctrl_c_says_how_to_go_on(monkeypatch, capsys):
    def stopped(group: str, again: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "run", stopped)
    assert bench.main(["--group", "growth"]) == 130
    assert "`make bench GROUP=growth` goes on from here" in capsys.readouterr().err


def test_a_group_that_does_not_exist_ends_in_one_sentence(capsys):
    assert bench.main(["--group", "weather"]) == 2
    said = capsys.readouterr().err
    assert "there is no group 'weather'; take one of library, learning, growth" in said and said.count("\n") == 1


def test_ways_take_turns():
    order = []
    found = harness.in_turns({name: lambda name=name: order.append(name) for name in "ab"}, seconds=0, least=3)
    assert order == list("ab" + "ab" + "ba" + "ab") and set(found) == {"a", "b"}


def test_memory_is_counted_to_the_byte():
    def run() -> None:
        first = torch.ones(1000)  # 4000 bytes
        second = first + 1  # 4000 more
        del first
        (second * 2).sum()  # 4000 in the place of the first, and the sum

    assert peak_bytes(run) == peak_bytes(run)
    assert 8000 <= peak_bytes(run) < 8000 + 1000


@pytest.mark.parametrize("name", [case.name for case in group_library.cases() if case.name.endswith("small")])
def test_all_ways_of_a_network_run(name, monkeypatch):
    ran = []

    def once(ways: dict) -> dict[str, float]:
        for way, run in ways.items():
            run()
            ran.append(way)
        return dict.fromkeys(ways, 1.0)

    monkeypatch.setattr(group_library, "in_turns", once)
    (case,) = (case for case in group_library.cases() if case.name == name)
    rows = case.run()
    assert ran == ["lesson", "fast path", "torch"] and [one["ratio"] for one in rows] == [1.0, 1.0]


def parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def test_peers_have_as_many_parameters_as_ours():
    sizes = {"D": 12, "n_heads": 3, "layers": 2, "d_ff": 20, "longest": 7}
    cfg = GPTConfig(V=50, context=7, D=12, n_heads=3, layers=2, d_ff=20)
    assert parameters(TorchGPT(cfg)) == parameters(GPT(cfg))
    assert parameters(TorchBert(50, **sizes)) == parameters(BertForPretraining(50, **sizes))
    assert parameters(TorchTransformer(50, **sizes)) == parameters(Transformer(50, 50, **sizes))
    reader = nn.Identity()
    reader.width = 5
    ours = AttentionSeq2Seq(reader, AdditiveScore(6, 5, 4), 50, 3, 6)
    assert parameters(AdditiveDecoder(50, 3, 6, 5, 4)) == parameters(ours) - parameters(ours.first)


def test_the_peer_with_bahdanaus_attention_computes_what_ours_does():
    reader, B, S = nn.Identity(), 3, 7
    reader.width = 5
    ours, peer = AttentionSeq2Seq(reader, AdditiveScore(6, 5, 4), 11, 3, 6), AdditiveDecoder(11, 3, 6, 5, 4)
    pairs = {"embedding": "embedding", "gru": "gru", "readout": "readout", "output": "output"}
    scores = {"W_query": ours.score.W, "W_key": ours.score.U, "w_value": ours.score.v}
    for name, layer in {**{name: getattr(ours, name) for name in pairs}, **scores}.items():
        getattr(peer, name).load_state_dict(layer.state_dict())
    states, lengths, y_in = torch.randn(B, S, 5), torch.tensor([7, 2, 4]), torch.randint(11, (B, 4))
    memory = group_library.Memory(states, torch.arange(S) < lengths[:, None])
    theirs = peer(y_in, torch.zeros(B, 6), states, lengths)
    torch.testing.assert_close(ours.write(y_in, torch.zeros(B, 6), memory)[0], theirs, rtol=0, atol=1e-5)


def test_a_machine_is_named_once_with_the_span_of_its_load():
    about = "two cores; {}load {} at the start; a day"
    said = [about.format("", "0.4"), about.format("busy with other work, ", "2.9"), about.format("", "1.0"), "load 3.0"]
    found = page.machines([{"machine": text} for text in said])
    assert found == ["two cores; load 0.4 to 2.9 at the start; a day", "load 3.0"]
