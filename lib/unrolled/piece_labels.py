"""Labels belong to words, the model reads pieces: which piece gets the label? (chapter 13)"""

from __future__ import annotations

from unrolled.wordpiece import WordPiece

NONE = -100  # the label of what is not asked: cross_entropy leaves it out


def align_labels(word_ids: list[int | None], labels: list[int]) -> list[int]:
    """A label for every token of a row: that of its word at the word's first piece, else -100.

    Args:
        word_ids: for each token of a row, the number of the word that it is a piece of; None
            for [CLS], [SEP] and pads, which belong to no word. The pieces of a word stand side
            by side and the words in order, but one may have no piece, and those at the end may
            have been cut off. A row of a model without special tokens begins with a word.
        labels: the label of each word, any numbers; label 0 may stand for "outside".

    Returns:
        A list as long as word_ids. -100 is what ``F.cross_entropy`` leaves out: special tokens,
        and all pieces of a word but the first, are not asked. The lists are not changed.

    Built in chapter 13.

    >>> align_labels([None, 0, 1, 1, 1, 2, None, None], [7, 8, 0])  # word 1 has three pieces
    [-100, 7, 8, -100, -100, 0, -100, -100]
    """
    aligned, before = [], None
    for word in word_ids:
        first = word is not None and word != before
        aligned.append(labels[word] if first else -100)
        before = word
    return aligned


def pieces_of_words(words: list[str], tokenizer: WordPiece) -> tuple[list[int], list[int]]:
    """The pieces of a text that is already cut into words, and the number of the word that each belongs to.

    >>> tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "flight", "##s"])
    >>> pieces_of_words(["The", "flights"], tokenizer)
    ([5, 6, 7], [0, 1, 1])
    """
    ids, owners = [], []
    for number, word in enumerate(words):
        pieces = tokenizer.encode(word)
        ids += pieces
        owners += len(pieces) * [number]
    return ids, owners


def tagged_row(
    words: list[str], labels: list[int], T: int, tokenizer: WordPiece
) -> tuple[list[int], list[int], list[bool]]:
    """One tagged sentence as a row of T tokens, [CLS] pieces [SEP] pads: ids, aligned labels, mask.

    >>> tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "flight", "##s"])
    >>> tagged_row(["The", "flights"], [0, 1], 6, tokenizer)[:2]
    ([2, 5, 6, 7, 3, 0], [-100, 0, 1, -100, -100, -100])
    """
    pieces, owners = pieces_of_words(words, tokenizer)
    pieces, owners, special = pieces[: T - 2], owners[: T - 2], tokenizer.special
    pads = T - 2 - len(pieces)
    ids = [special.cls, *pieces, special.sep, *(pads * [special.pad])]
    word_ids = [None, *owners, None, *(pads * [None])]
    return ids, align_labels(word_ids, labels), (T - pads) * [True] + pads * [False]
