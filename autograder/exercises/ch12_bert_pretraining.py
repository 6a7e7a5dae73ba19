"""The exercises of chapter 12 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch12_bert_pretraining as probes
from unrolled import bert, bert_input, masked_words, schedules, wordpiece
from unrolled.normalisation import layer_norm

SETUP_NAMES = frozenset({"EPS", "BertEmbedParams", "Special", "layer_norm"})


# ---- 12.1 build_input ----

BUILD_INPUT = Exercise(
    number="12.1",
    references=(bert_input.build_input,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
)
_ROW = "Read the equation: what stands in the row, from left to right?"
_SEGMENTS = "Read what the task says about segments."
_MASK = "Read what the task says about the mask."
_LONG = "Read what the task says about a row that is too long."


@BUILD_INPUT.misconception(
    "The first [SEP] counts to the second sentence",
    fails=BUILD_INPUT.all_but("alone"),
    hints=(
        "Your ids are right. The segment of the first [SEP] is 1.",
        "A [SEP] closes a sentence and belongs to it: the first one has segment 0, the last one segment 1.",
        _SEGMENTS,
    ),
)
def build_input__first_sep_one(a, b, T, special):
    if b is None:
        row, first = [special.cls, *a[: T - 2], special.sep], T
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, first = [special.cls, *a[:m], special.sep, *b[:n], special.sep], m + 1
    pads = T - len(row)
    segments = [int(t >= first) for t in range(len(row))] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The last [SEP] counts to the first sentence",
    fails=BUILD_INPUT.all_but("alone"),
    hints=(
        "Your ids are right. The segment of the last [SEP] is 0.",
        "A [SEP] closes a sentence and belongs to it: the last one has segment 1, like b.",
        _SEGMENTS,
    ),
)
def build_input__last_sep_zero(a, b, T, special):
    if b is None:
        row, ones = [special.cls, *a[: T - 2], special.sep], 0
        zeros = len(row)
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, ones, zeros = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n, m + 2
    segments = zeros * [0] + ones * [1]
    segments = segments + (T - len(segments)) * [0]
    return torch.tensor(row + (T - len(row)) * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The last [SEP] is missing",
    fails=BUILD_INPUT.all_but("alone"),
    hints=(
        "Behind your second sentence the pads begin at once.",
        "Each sentence is closed by a [SEP], the second one too.",
        _ROW,
    ),
)
def build_input__final_sep_missing(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 2:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n]], n
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Pads get segment 1",
    fails=BUILD_INPUT.all_but("fits", "long_a", "long_b", "both", "untouched"),
    hints=(
        "Your ids are right. From the second sentence on, all segments are 1, those of the pads too.",
        "Pads belong to no sentence; they get 0. (The model does not look at them, but you declare the row.)",
        _SEGMENTS,
    ),
)
def build_input__pads_segment_one(a, b, T, special):
    if b is None:
        row, zeros = [special.cls, *a[: T - 2], special.sep], len(a[: T - 2]) + 2
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, zeros = [special.cls, *a[:m], special.sep, *b[:n], special.sep], m + 2
    segments = torch.tensor(zeros * [0] + (T - zeros) * [1])
    return torch.tensor(row + (T - len(row)) * [special.pad]), segments, torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Pads get segment 1, where there is a second sentence",
    fails=(
        "build_input_two",
        "build_input_ids",
        "build_input_clash",
    ),
    hints=(
        "Your ids are right. Behind the second sentence the segments stay at 1.",
        "Pads belong to no sentence; they get 0.",
        _SEGMENTS,
    ),
)
def build_input__pads_second_segment(a, b, T, special):
    if b is None:
        row, zeros = [special.cls, *a[: T - 2], special.sep], T
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, zeros = [special.cls, *a[:m], special.sep, *b[:n], special.sep], m + 2
    segments = torch.tensor(zeros * [0] + (T - zeros) * [1])
    return torch.tensor(row + (T - len(row)) * [special.pad]), segments, torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Pads are attended to",
    fails=BUILD_INPUT.all_but("fits", "long_a", "long_b", "both", "untouched"),
    hints=(
        "Your mask is True everywhere.",
        "At a pad there is nothing to look at: the mask is False there, and the row means the same however long it is.",
        _MASK,
    ),
)
def build_input__pads_attended(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.ones(T, dtype=torch.bool)


@BUILD_INPUT.misconception(
    "A word that has the id of the pad is masked",
    fails=("build_input_clash",),
    hints=(
        "Your mask is False at a place where a word stands.",
        "The mask was made by comparing ids with that of the pad. Count the tokens instead: a word may have that id.",
        _MASK,
    ),
)
def build_input__mask_by_id(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    ids = torch.tensor(row + pads * [special.pad])
    return ids, torch.tensor((len(row) - second) * [0] + second * [1] + pads * [0]), ids != special.pad


@BUILD_INPUT.misconception(
    "The segment changes at every id that looks like a [SEP]",
    fails=("build_input_clash",),
    hints=(
        "Where a word has the id of [SEP], your segments change in the middle of a sentence.",
        "The segments were found by looking for special.sep in the row. Count the tokens of a instead.",
        _SEGMENTS,
    ),
)
def build_input__segments_by_id(a, b, T, special):
    if b is None:
        row = [special.cls, *a[: T - 2], special.sep]
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row = [special.cls, *a[:m], special.sep, *b[:n], special.sep]
    pads = T - len(row)
    first = row.index(special.sep) + 1
    segments = first * [0] + (len(row) - first) * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The mask is the wrong way round",
    fails=BUILD_INPUT.all_but(),
    hints=(
        "Your mask is True at the pads and False at the tokens.",
        "True means that there is something to look at, in all masks of this book.",
        _MASK,
    ),
)
def build_input__mask_inverted(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) >= len(row)


@BUILD_INPUT.misconception(
    "The mask holds numbers, not True and False",
    fails=BUILD_INPUT.all_but(),
    hints=(
        "Your mask holds 1 and 0.",
        "A mask of numbers is added or compared in other ways than one of bool. Here masks are bool.",
        _MASK,
    ),
)
def build_input__mask_of_numbers(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.tensor(len(row) * [1] + pads * [0])


@BUILD_INPUT.misconception(
    "Truncation drops [CLS]: the end of the row is kept",
    fails=BUILD_INPUT.all_but("two", "ids", "clash"),
    hints=(
        "Where the row is too long, yours begins in the middle of the first sentence.",
        "The whole row was cut in front. Shorten the sentences before you put the row together: [CLS] must stay.",
        _LONG,
    ),
)
def build_input__cut_in_front(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a, special.sep], 0
    else:
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    segments = (len(row) - second) * [0] + second * [1]
    row, segments = row[-T:], segments[-T:]
    pads = T - len(row)
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments + pads * [0]), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Truncation drops the last [SEP]: the beginning of the row is kept",
    fails=BUILD_INPUT.all_but("two", "ids", "clash"),
    hints=(
        "Where the row is too long, yours ends without a [SEP].",
        "The whole row was cut at T. A long first sentence then leaves nothing of the second. Shorten the sentences "
        "before you put the row together.",
        _LONG,
    ),
)
def build_input__cut_at_the_end(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a, special.sep], 0
    else:
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    segments = (len(row) - second) * [0] + second * [1]
    row, segments = row[:T], segments[:T]
    pads = T - len(row)
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments + pads * [0]), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Only the second sentence is shortened",
    fails=BUILD_INPUT.all_but("two", "ids", "long_b", "alone", "clash"),
    hints=(
        "Where the first sentence is the longer one, you shorten the second.",
        "Tokens are taken from the longer of the two, whichever that is: otherwise nothing may be left of b.",
        _LONG,
    ),
)
def build_input__only_b(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        a = a[: T - 3]
        b = b[: T - 3 - len(a)]
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Only the first sentence is shortened",
    fails=(
        "build_input_long_b",
        "build_input_both",
        "build_input_untouched",
    ),
    hints=(
        "Where the second sentence is the longer one, you shorten the first.",
        "Tokens are taken from the longer of the two, whichever that is: otherwise nothing may be left of a.",
        _LONG,
    ),
)
def build_input__only_a(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        b = b[: T - 3]
        a = a[: T - 3 - len(b)]
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Each sentence gets half of the room, even if the other does not need its half",
    fails=(
        "build_input_fits",
        "build_input_long_a",
        "build_input_long_b",
    ),
    hints=(
        "Where one sentence is long and the other short, your row has pads although words were thrown away.",
        "Both were cut at half of the room. Only the longer one gives way, until the two fit together.",
        _LONG,
    ),
)
def build_input__halves(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        if len(a) + len(b) > T - 3:
            a, b = a[: (T - 2) // 2], b[: (T - 3) // 2]
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Where both are as long, the first sentence gives way",
    fails=(
        "build_input_both",
        "build_input_untouched",
    ),
    hints=(
        "Where both sentences are too long, your a is a token shorter than it should be, and b a token longer.",
        "The task says which one loses a token where both are as long: it is b.",
        _LONG,
    ),
)
def build_input__tie_a(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m >= n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The shorter sentence gives way",
    fails=BUILD_INPUT.all_but("two", "ids", "alone", "clash"),
    hints=(
        "Where the row is too long, the shorter of your sentences vanishes first.",
        "The comparison is the wrong way round.",
        _LONG,
    ),
)
def build_input__shorter(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if 0 < m < n or n == 0 else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "Tokens are taken away in front",
    fails=BUILD_INPUT.all_but("two", "ids", "clash"),
    hints=(
        "Your row has the right length, but sentences that are too long lose their first words, not their last.",
        "pop(0) takes the first token. The last one is to go.",
        _LONG,
    ),
)
def build_input__loses_the_beginning(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[max(0, len(a) - T + 2) :], special.sep], 0
    else:
        a, b = list(a), list(b)
        while len(a) + len(b) > T - 3:
            (a if len(a) > len(b) else b).pop(0)
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The caller's lists are shortened",
    fails=(
        "build_input_both",
        "build_input_untouched",
    ),
    hints=(
        "Your row is right, but afterwards the lists that were passed in are shorter.",
        "pop changes the list of the caller. Copy it first, or take a slice.",
        "Read what the task says about the lists a and b.",
    ),
)
def build_input__pops(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        while len(a) + len(b) > T - 3:
            (a if len(a) > len(b) else b).pop()
        row, second = [special.cls, *a, special.sep, *b, special.sep], len(b) + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The special tokens are forgotten when the room is counted",
    fails=BUILD_INPUT.all_but("two", "ids", "clash"),
    hints=(
        "Where sentences are too long, your row is longer than T.",
        "[CLS] and two [SEP] need three places; only the rest is for words.",
        _LONG,
    ),
)
def build_input__room_forgotten(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[:T], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = max(0, T - len(row))
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(len(row) + pads) < len(row)


@BUILD_INPUT.misconception(
    "[CLS] is missing",
    fails=BUILD_INPUT.all_but(),
    hints=(
        "Your row begins with a word.",
        "The first place is that of [CLS]; its state will stand for the whole row.",
        _ROW,
    ),
)
def build_input__cls_missing(a, b, T, special):
    if b is None:
        row, second = [*a[: T - 1], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 2:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [*a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The second sentence opens with a [CLS] of its own",
    fails=BUILD_INPUT.all_but("alone"),
    hints=(
        "In your row a [CLS] stands before the second sentence.",
        "There is one [CLS], at the very beginning. The sentences are told apart by [SEP] and by their segments.",
        _ROW,
    ),
)
def build_input__second_cls(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 4:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, special.cls, *b[:n], special.sep], n + 2
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "One sentence alone gets a second [SEP]",
    fails=("build_input_alone",),
    hints=(
        "With two sentences you are right. One sentence alone ends with two [SEP] in your row.",
        "None was taken for an empty second sentence. Without b there is nothing to close.",
        "Read what the task says about b.",
    ),
)
def build_input__alone_with_two(a, b, T, special):
    b = b or []
    m, n = len(a), len(b)
    while m + n > T - 3:
        m, n = (m - 1, n) if m > n else (m, n - 1)
    row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "One sentence alone is cut a token too early",
    fails=("build_input_alone",),
    hints=(
        "With two sentences you are right. One sentence alone, if it is too long, loses a token too many.",
        "Without b there are two special tokens, not three.",
        "Read what the task says about b.",
    ),
)
def build_input__alone_too_short(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 3], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The pads stand in front",
    fails=BUILD_INPUT.all_but("fits", "long_a", "long_b", "both", "untouched"),
    hints=(
        "Your row begins with pads.",
        "Pads fill up the end of the row: [CLS] stands at place 0 in every row.",
        _ROW,
    ),
)
def build_input__pads_in_front(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = pads * [0] + (len(row) - second) * [0] + second * [1]
    return torch.tensor(pads * [special.pad] + row), torch.tensor(segments), torch.arange(T) >= pads


@BUILD_INPUT.misconception(
    "There are no pads",
    fails=BUILD_INPUT.all_but("fits", "long_a", "long_b", "both", "untouched"),
    hints=(
        "Your row is shorter than T.",
        "Rows of a batch must have one length: pads fill them up to T.",
        _ROW,
    ),
)
def build_input__no_pads(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    segments = (len(row) - second) * [0] + second * [1]
    return torch.tensor(row), torch.tensor(segments), torch.ones(len(row), dtype=torch.bool)


@BUILD_INPUT.misconception(
    "The segments are counted from 1",
    fails=BUILD_INPUT.all_but(),
    hints=(
        "Your segments are 1 and 2.",
        "There are two rows in the table of segments, with the numbers 0 and 1.",
        _SEGMENTS,
    ),
)
def build_input__segments_from_one(a, b, T, special):
    if b is None:
        row, second = [special.cls, *a[: T - 2], special.sep], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [special.cls, *a[:m], special.sep, *b[:n], special.sep], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [1] + second * [2] + pads * [0]
    return torch.tensor(row + pads * [special.pad]), torch.tensor(segments), torch.arange(T) < len(row)


@BUILD_INPUT.misconception(
    "The ids of the special tokens are those of our own vocabularies, whatever special says",
    fails=("build_input_ids",),
    hints=(
        "With our own vocabularies you are right; with other ids of the special tokens your row is not.",
        "0, 2 and 3 stand in your code. Other vocabularies have other ids: use special.pad, special.cls, special.sep.",
        "Read what the task says about special.",
    ),
)
def build_input__ids_fixed(a, b, T, special):
    if b is None:
        row, second = [2, *a[: T - 2], 3], 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            m, n = (m - 1, n) if m > n else (m, n - 1)
        row, second = [2, *a[:m], 3, *b[:n], 3], n + 1
    pads = T - len(row)
    segments = (len(row) - second) * [0] + second * [1] + pads * [0]
    return torch.tensor(row + pads * [0]), torch.tensor(segments), torch.arange(T) < len(row)


# ---- 12.2 mlm_mask ----

MLM_MASK = Exercise(
    number="12.2",
    references=(masked_words.mlm_mask,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=3,
    equivalent=dict.fromkeys(
        (
            "hidden = torch.where(u[1] <= 0.8, special.mask, random_ids)",
            "masked = torch.where(chosen & (u[1] <= 0.9), hidden, x)",
        ),
        "a random number hits a border with probability 0.",
    ),
)
_CHOSEN = "Read the first equation: which tokens may be chosen?"
_SPLIT = "Read the second equation: three cases, and each token is in exactly one of them."
_ASKED = "Read what the task says about labels and weights."


@MLM_MASK.convention(
    "exactly a share rate of the words of each row is chosen, those with the smallest u[0], where the task throws a "
    "coin for each word"
)
def mlm_mask__exact(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = torch.zeros_like(real)
    for row in range(len(x)):
        words = real[row].nonzero()[:, 0]
        k = min(len(words), max(1, round(rate * len(words))))
        chosen[row, words[u[0, row, words].argsort()[:k]]] = True
    masked = x.clone()
    masked[chosen & (u[1] < 0.8)] = special.mask
    random = chosen & (u[1] >= 0.8) & (u[1] < 0.9)
    masked[random] = random_ids[random]
    return masked, x.clone(), chosen


@MLM_MASK.convention(
    "exactly a share rate of each row is chosen, rounded down, where the task throws a coin for each word"
)
def mlm_mask__exact_rounded_down(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = torch.zeros_like(real)
    for row in range(len(x)):
        words = real[row].nonzero()[:, 0]
        k = min(len(words), max(1, int(rate * len(words))))
        chosen[row, words[u[0, row, words].argsort()[:k]]] = True
    masked = x.clone()
    masked[chosen & (u[1] < 0.8)] = special.mask
    random = chosen & (u[1] >= 0.8) & (u[1] < 0.9)
    masked[random] = random_ids[random]
    return masked, x.clone(), chosen


@MLM_MASK.convention(
    "exactly a share rate of each row is chosen, and [CLS] and [SEP] are counted in the share but never chosen, as in "
    "Google's program"
)
def mlm_mask__exact_google(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = torch.zeros_like(real)
    for row in range(len(x)):
        words = real[row].nonzero()[:, 0]
        k = min(len(words), max(1, round(rate * int((x[row] != special.pad).sum()))))
        chosen[row, words[u[0, row, words].argsort()[:k]]] = True
    masked = x.clone()
    masked[chosen & (u[1] < 0.8)] = special.mask
    random = chosen & (u[1] >= 0.8) & (u[1] < 0.9)
    masked[random] = random_ids[random]
    return masked, x.clone(), chosen


@MLM_MASK.convention("an unknown word is never chosen, where the task lets it be chosen")
def mlm_mask__unknown_spared(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad) & (x != special.unk)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.convention("the words with the largest u[0] are chosen, where the task takes the smallest")
def mlm_mask__largest(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] >= 1 - rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.convention(
    "the last two cases have changed places: from 0.8 on kept, from 0.9 on random. The shares are the same"
)
def mlm_mask__kept_before_random(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.convention(
    "one number for both questions: u[0] below 0.8, 0.9 and 1 times the rate makes the three cases, and u[1] is "
    "not used"
)
def mlm_mask__one_number_cut(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(real & (u[0] < 0.8 * rate), special.mask, x)
    masked = torch.where(real & (u[0] >= 0.8 * rate) & (u[0] < 0.9 * rate), random_ids, masked)
    return masked, x.clone(), chosen


@MLM_MASK.misconception(
    "Special tokens and pads are chosen too",
    fails=MLM_MASK.all_but(),
    hints=(
        "[CLS], [SEP] and pads vanish from your rows.",
        "Only words can be guessed. A pad that is asked for teaches nothing, and without [SEP] the row falls apart.",
        _CHOSEN,
    ),
)
def mlm_mask__all_chosen_from(x, u, random_ids, special, rate=0.15):
    chosen = u[0] < rate
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "[CLS] and [SEP] are chosen too",
    fails=MLM_MASK.all_but(),
    hints=(
        "Pads are left alone, but [CLS] and [SEP] vanish from some of your rows.",
        "They are no words: there is nothing to guess.",
        _CHOSEN,
    ),
)
def mlm_mask__specials_chosen(x, u, random_ids, special, rate=0.15):
    chosen = (x != special.pad) & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "Pads are chosen too",
    fails=MLM_MASK.all_but(),
    hints=(
        "[CLS] and [SEP] are left alone, but some of your pads become something else.",
        "A pad that is asked for is a word that is always right: the loss falls and nothing is learned.",
        _CHOSEN,
    ),
)
def mlm_mask__pads_chosen(x, u, random_ids, special, rate=0.15):
    chosen = (x != special.cls) & (x != special.sep) & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The share is taken of the whole row, pads included",
    fails=MLM_MASK.all_but("all"),
    hints=(
        "In your rows too many words are chosen; the more pads, the more.",
        "The number of words to choose was counted from T. Pads are no words: short sentences would nearly vanish.",
        _CHOSEN,
    ),
)
def mlm_mask__share_of_the_row(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = torch.zeros_like(real)
    for row in range(len(x)):
        words = real[row].nonzero()[:, 0]
        k = min(len(words), max(1, round(rate * x.shape[1])))
        chosen[row, words[u[0, row, words].argsort()[:k]]] = True
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The rate is raised to make up for pads and special tokens",
    fails=MLM_MASK.all_but("all"),
    hints=(
        "In your rows too many words are chosen; the more pads, the more.",
        "The rate was multiplied by all places over words. It is a share of the words already.",
        _CHOSEN,
    ),
)
def mlm_mask__rate_raised(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate * x.shape[1] / real.sum(dim=1, keepdim=True))
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "Every chosen word becomes [MASK]",
    fails=MLM_MASK.all_but(),
    hints=(
        "The right words are chosen, but all of them are hidden.",
        "One in ten is exchanged and one in ten stays: else the model would think only where it sees [MASK], which "
        "later tasks never show it.",
        _SPLIT,
    ),
)
def mlm_mask__always_mask(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    return torch.where(chosen, special.mask, x), x.clone(), chosen


@MLM_MASK.misconception(
    "Nothing is exchanged: 80 % are hidden and the rest stays",
    fails=MLM_MASK.all_but(),
    hints=(
        "Your random_ids never appear.",
        "The middle case is missing: from 0.8 to 0.9 a word is exchanged for another.",
        _SPLIT,
    ),
)
def mlm_mask__no_random(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    return torch.where(chosen & (u[1] < 0.8), special.mask, x), x.clone(), chosen


@MLM_MASK.misconception(
    "Nothing stays: 80 % are hidden and the rest is exchanged",
    fails=MLM_MASK.all_but(),
    hints=(
        "Every chosen word of yours is hidden or exchanged.",
        "The last case is missing: from 0.9 on a chosen word stays as it is, and is asked for all the same.",
        _SPLIT,
    ),
)
def mlm_mask__none_kept(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The cases overlap: a word below 0.1 is hidden first and exchanged afterwards",
    fails=MLM_MASK.all_but(),
    hints=(
        "Some words that should be [MASK] are exchanged, and too many stay.",
        "80, 10 and 10 % were compared with u[1] independently, each from 0. They share out the line from 0 to 1: "
        "where one case ends the next begins.",
        _SPLIT,
    ),
)
def mlm_mask__overlapping(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] < 0.1), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The second case overwrites the first: everything below 0.9 is exchanged",
    fails=MLM_MASK.all_but(),
    hints=(
        "In your rows there is no [MASK].",
        "Two conditions one after the other: u[1] < 0.9 is true for all that were hidden before, too.",
        _SPLIT,
    ),
)
def mlm_mask__overwritten(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "New random numbers are drawn for 80 % and for 10 %",
    fails=MLM_MASK.all_but(),
    hints=(
        "The right words are chosen, but what becomes of them does not follow u[1].",
        "Two draws that know nothing of each other do not share out the words: some are hidden and exchanged, more "
        "than one in ten stays. u[1] is passed in; use it alone.",
        _SPLIT,
    ),
)
def mlm_mask__drawn_anew(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (torch.rand(x.shape) < 0.8), special.mask, x)
    return torch.where(chosen & (torch.rand(x.shape) < 0.1), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The shares have changed places: one in ten is hidden, eight in ten stay",
    fails=MLM_MASK.all_but(),
    hints=(
        "Most of your chosen words stay as they are.",
        "The borders are at 0.1 and 0.2 in your code. The first case reaches up to 0.8.",
        _SPLIT,
    ),
)
def mlm_mask__most_kept(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.1), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.1) & (u[1] < 0.2), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "One number answers both questions: what is chosen is always below 0.8",
    fails=MLM_MASK.all_but(),
    hints=(
        "With the usual rate all your chosen words become [MASK].",
        "u[0] was used twice. Whatever is below the rate is below 0.8 as well: the second question needs a number of "
        "its own, u[1].",
        _SPLIT,
    ),
)
def mlm_mask__one_number(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[0] < 0.8), special.mask, x)
    return torch.where(chosen & (u[0] >= 0.8) & (u[0] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "u[0] and u[1] are exchanged",
    fails=MLM_MASK.all_but(),
    hints=(
        "You choose other words than those with a small u[0].",
        "u[0] chooses; u[1] decides what becomes of the chosen.",
        "Read what the task says about u.",
    ),
)
def mlm_mask__exchanged(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[1] < rate)
    masked = torch.where(chosen & (u[0] < 0.8), special.mask, x)
    return torch.where(chosen & (u[0] >= 0.8) & (u[0] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The rate is the share that is left alone",
    fails=MLM_MASK.all_but(),
    hints=(
        "With the usual rate nearly all of your words are chosen.",
        "u[0] above the rate was taken. Below it is what has the probability rate.",
        _CHOSEN,
    ),
)
def mlm_mask__rate_left_alone(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] >= rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The rate is always 0.15",
    fails=MLM_MASK.all_but("rows"),
    hints=(
        "With the usual rate you are right; with others the same words are chosen.",
        "0.15 stands in your code. Use the argument.",
        "Read what the task says about rate.",
    ),
)
def mlm_mask__rate_fixed(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < 0.15)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The input is changed in place, and the labels with it",
    fails=MLM_MASK.all_but(),
    hints=(
        "Your labels hold [MASK], and the x of the caller is changed.",
        "Labels and masked are one and the same tensor: x[…] = … writes into both. Copy x before you hide anything; "
        "else the right words are lost.",
        _ASKED,
    ),
)
def mlm_mask__in_place(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    random = chosen & (u[1] >= 0.8) & (u[1] < 0.9)
    labels = x
    x[chosen & (u[1] < 0.8)] = special.mask
    x[random] = random_ids[random]
    return x, labels, chosen


@MLM_MASK.misconception(
    "The input is changed in place, after the labels were copied",
    fails=("mlm_mask_untouched",),
    hints=(
        "Your results are right, but afterwards the x of the caller is changed.",
        "x[…] = … writes into what was passed in. In the next epoch the words would be gone. Write into a copy.",
        "Read what the task says about x.",
    ),
)
def mlm_mask__in_place_copied(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    random = chosen & (u[1] >= 0.8) & (u[1] < 0.9)
    labels = x.clone()
    x[chosen & (u[1] < 0.8)] = special.mask
    x[random] = random_ids[random]
    return x, labels, chosen


@MLM_MASK.misconception(
    "The labels are the masked inputs",
    fails=MLM_MASK.all_but(),
    hints=(
        "x is as it was, but your labels hold [MASK] and exchanged words.",
        "The labels were taken after the words had been hidden. The model would learn to repeat [MASK].",
        _ASKED,
    ),
)
def mlm_mask__labels_masked(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    masked = torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked)
    return masked, masked.clone(), chosen


@MLM_MASK.misconception(
    "Words that stay are not asked for",
    fails=MLM_MASK.all_but(),
    hints=(
        "What the model reads is right. Your weights are 0 at some chosen words.",
        "A word that stays as it is was chosen too: the model does not know which words it may trust, and so it must "
        "think about all of them.",
        _ASKED,
    ),
)
def mlm_mask__kept_not_asked(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    masked = torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked)
    return masked, x.clone(), chosen & (u[1] < 0.9)


@MLM_MASK.misconception(
    "Only hidden words are asked for",
    fails=MLM_MASK.all_but(),
    hints=(
        "What the model reads is right. Your weights are 1 only where it reads [MASK].",
        "Exchanged words and words that stay were chosen too; otherwise they would be there for nothing.",
        _ASKED,
    ),
)
def mlm_mask__only_hidden_asked(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    masked = torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked)
    return masked, x.clone(), masked == special.mask


@MLM_MASK.misconception(
    "All words are asked for",
    fails=MLM_MASK.all_but("all"),
    hints=(
        "What the model reads is right. Your weights are 1 at every word.",
        "Words that were not chosen stand in the input: to repeat them is no task.",
        _ASKED,
    ),
)
def mlm_mask__all_asked(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), real


@MLM_MASK.misconception(
    "The weights are the wrong way round",
    fails=MLM_MASK.all_but(),
    hints=(
        "What the model reads is right. Your weights are 0 where words were chosen and 1 elsewhere.",
        "1 means that the word counts in the loss.",
        _ASKED,
    ),
)
def mlm_mask__weights_inverted(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), ~chosen


@MLM_MASK.misconception(
    "Words are exchanged that were not chosen",
    fails=MLM_MASK.all_but("all"),
    hints=(
        "Some words are exchanged although their u[0] is above the rate.",
        "The middle case looks at u[1] only. All three cases are for chosen words.",
        _SPLIT,
    ),
)
def mlm_mask__random_anywhere(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(real & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "Words are hidden that were not chosen",
    fails=MLM_MASK.all_but("all"),
    hints=(
        "In your rows most words are hidden, chosen or not.",
        "The first case looks at u[1] only: that hides 80 % of all words. It is for chosen words.",
        _SPLIT,
    ),
)
def mlm_mask__mask_anywhere(x, u, random_ids, special, rate=0.15):
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)
    chosen = real & (u[0] < rate)
    masked = torch.where(real & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "The ids of the special tokens are those of our own vocabularies, whatever special says",
    fails=("mlm_mask_ids",),
    hints=(
        "With our own vocabularies you are right; with other ids of the special tokens you are not.",
        "0, 2, 3 and 4 stand in your code. Use special.pad, special.cls, special.sep and special.mask.",
        "Read what the task says about special.",
    ),
)
def mlm_mask__ids_fixed(x, u, random_ids, special, rate=0.15):
    real = (x != 0) & (x != 2) & (x != 3)
    chosen = real & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), 4, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


@MLM_MASK.misconception(
    "Every id above 4 is taken for a word, whatever special says",
    fails=("mlm_mask_ids", "mlm_mask_unknown"),
    hints=(
        "With our own vocabularies you are right; with other ids of the special tokens you are not.",
        "x > 4 asks for the order of our own vocabularies. Compare x with special.cls, special.sep and special.pad. "
        "(It spares unknown words as well; that alone would be accepted.)",
        "Read what the task says about special.",
    ),
)
def mlm_mask__above_four(x, u, random_ids, special, rate=0.15):
    chosen = (x > 4) & (u[0] < rate)
    masked = torch.where(chosen & (u[1] < 0.8), special.mask, x)
    return torch.where(chosen & (u[1] >= 0.8) & (u[1] < 0.9), random_ids, masked), x.clone(), chosen


# ---- 12.3 mlm_loss ----

MLM_LOSS = Exercise(
    number="12.3",
    references=(masked_words.mlm_loss,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
    equivalent={
        "surprise = -log_p.gather(-1, labels[..., None])[..., -1]": "the axis has one entry, the first and the last."
    },
    not_applicable={
        "labels are the masked inputs": "the loss is given its labels; the mistake is made, and named, in mlm_mask."
    },
)
_LOSS = "Read the equation: what is summed, and what is it divided by?"
_SURPRISE = "Read the equation of the surprise."


@MLM_LOSS.convention("the denominator is larger by 1e-5, as in Google's program, so that it is never 0")
def mlm_loss__small_number(logits, labels, weights):
    surprise = -torch.log_softmax(logits, dim=-1).gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / (weights.sum() + 1e-5)


@MLM_LOSS.misconception(
    "The mean is taken first and weighted afterwards: the weights do nothing",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Your loss is that of all tokens, whatever the weights are.",
        "cross_entropy returned one number, the mean over everything. That number times w, summed, over the sum of w "
        "is the same number again. Ask for the losses one by one, with reduction='none'.",
        _LOSS,
    ),
)
def mlm_loss__mean_first(logits, labels, weights):
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
    return (loss * weights).sum() / weights.sum().clamp(min=1e-9)


@MLM_LOSS.misconception(
    "The mean is taken first and weighted afterwards, and with nothing chosen the loss is NaN",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Your loss is that of all tokens, whatever the weights are; with nothing chosen it is NaN.",
        "cross_entropy returned one number, the mean over everything. That number times w, summed, over the sum of w "
        "is the same number again. Ask for the losses one by one, with reduction='none'.",
        _LOSS,
    ),
)
def mlm_loss__mean_first_nan(logits, labels, weights):
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
    return (loss * weights).sum() / weights.sum()


@MLM_LOSS.misconception(
    "The mean of the sequence is taken first and weighted afterwards",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Your loss counts all tokens of a row, chosen or not.",
        "The surprise was averaged over the steps before the weights came in. Weigh each token first.",
        _LOSS,
    ),
)
def mlm_loss__row_mean_first(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none").mean(dim=1, keepdim=True)
    return (surprise * weights).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The weights are not used",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Your loss is that of all tokens, whatever the weights are.",
        "Tokens that were not chosen stand in the input: to know them is no merit, and they drown the others.",
        _LOSS,
    ),
)
def mlm_loss__weights_unused(logits, labels, weights):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


@MLM_LOSS.misconception(
    "The word with id 0 is ignored",
    fails=MLM_LOSS.all_but("single"),
    hints=(
        "Where the right word has the id 0, it does not count in your loss.",
        "ignore_index=0 is for padded labels. Here the weights say what counts, and 0 is a word like the others.",
        "Read what the task says about labels.",
    ),
)
def mlm_loss__zero_ignored(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none", ignore_index=0)
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The word with id 0 is ignored, and not counted either",
    fails=MLM_LOSS.all_but("single"),
    hints=(
        "Where the right word has the id 0, it does not count in your loss.",
        "A mask labels != 0 was added to the weights. They alone say what counts, and 0 is a word like the others.",
        "Read what the task says about labels.",
    ),
)
def mlm_loss__zero_not_counted(logits, labels, weights):
    weights = weights * (labels != 0)
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "Divided by all positions",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Your loss is too small; only where all tokens are chosen is it right.",
        "The mean runs over B · T positions, most of which are 0. It is to run over the chosen ones.",
        _LOSS,
    ),
)
def mlm_loss__all_positions(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return (weights * surprise).mean()


@MLM_LOSS.misconception(
    "Divided by the number of rows",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your loss grows with the number of chosen tokens in a row.",
        "The sum was divided by B. Divide by the sum of the weights.",
        _LOSS,
    ),
)
def mlm_loss__per_row(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return (weights * surprise).sum() / len(logits)


@MLM_LOSS.misconception(
    "The sum is not divided",
    fails=MLM_LOSS.all_but("single"),
    hints=(
        "With one chosen token you are right; with more, your loss is too large.",
        "A sum grows with the batch. The mean over the chosen tokens is asked for.",
        _LOSS,
    ),
)
def mlm_loss__sum(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return (weights * surprise).sum()


@MLM_LOSS.misconception(
    "The mean of the means of the rows",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Your loss is right where all rows have as many chosen tokens; otherwise it is not.",
        "Each row was averaged for itself, then the rows. A token in a row with few chosen ones weighs more then.",
        _LOSS,
    ),
)
def mlm_loss__mean_of_rows(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    rows = (weights * surprise).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    return rows.mean()


@MLM_LOSS.misconception(
    "With nothing chosen the loss is NaN",
    fails=("mlm_loss_none",),
    hints=(
        "You are right where something was chosen. With nothing chosen there comes NaN, and so it does in the "
        "gradients.",
        "0 / 0. One batch like that, and all parameters are NaN. Keep the denominator away from 0.",
        "Read what the task says about a batch in which nothing was chosen.",
    ),
)
def mlm_loss__nan(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return (weights * surprise).sum() / weights.sum()


@MLM_LOSS.misconception(
    "With nothing chosen the loss is NaN: a mean over no token",
    fails=("mlm_loss_none",),
    hints=(
        "You are right where something was chosen. With nothing chosen the loss is NaN.",
        "The mean of no numbers at all was taken; cross_entropy does so if it ignores every token. Sum, and divide by "
        "a number that is never 0.",
        "Read what the task says about a batch in which nothing was chosen.",
    ),
)
def mlm_loss__nan_ignored(logits, labels, weights):
    asked = labels.masked_fill(weights == 0, -100)
    return F.cross_entropy(logits.mT, asked, ignore_index=-100)


@MLM_LOSS.misconception(
    "With nothing chosen the loss is a constant: no gradient reaches the scores",
    fails=("mlm_loss_none",),
    hints=(
        "You are right where something was chosen. With nothing chosen there comes a 0 that does not depend on the "
        "scores.",
        "backward() of such a number raises an error, in the middle of a training. Let the 0 come out of the sum: "
        "divide by a number that is never 0.",
        "Read what the task says about gradients if nothing was chosen.",
    ),
)
def mlm_loss__constant(logits, labels, weights):
    if weights.sum() == 0:
        return torch.tensor(0.0)
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return (weights * surprise).sum() / weights.sum()


@MLM_LOSS.misconception(
    "The sign is missing",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your loss is negative.",
        "The logarithm of a probability is at most 0; the surprise is its opposite.",
        _SURPRISE,
    ),
)
def mlm_loss__sign(logits, labels, weights):
    log_p = torch.log_softmax(logits, dim=-1).gather(-1, labels[..., None])[..., 0]
    return (weights * log_p).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The softmax is taken twice",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your losses are all near log V, however sure the model is.",
        "cross_entropy was given probabilities. It takes scores and does the softmax itself.",
        _SURPRISE,
    ),
)
def mlm_loss__softmax_twice(logits, labels, weights):
    surprise = F.cross_entropy(logits.softmax(-1).mT, labels, reduction="none")
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The logarithm of a softmax that is rounded to 0",
    fails=("mlm_loss_large",),
    hints=(
        "With scores of usual size you are right; with large ones the loss is infinite or NaN.",
        "softmax first and log afterwards: a probability that is too small becomes 0, and its logarithm -inf. Take "
        "both in one, log_softmax.",
        "Read what the task says about the size of the scores.",
    ),
)
def mlm_loss__rounded(logits, labels, weights):
    surprise = -logits.softmax(-1).log().gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "A small number is added inside the logarithm",
    fails=("mlm_loss_large",),
    hints=(
        "With scores of usual size you are nearly right; no loss of yours is above 27.6.",
        "1e-12 inside the logarithm bounds it, and where it binds the gradient is gone. log_softmax needs no such "
        "help.",
        "Read what the task says about the size of the scores.",
    ),
)
def mlm_loss__bounded(logits, labels, weights):
    surprise = -(logits.softmax(-1) + 1e-12).log().gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "A small number, 1e-9, is added inside the logarithm",
    fails=("mlm_loss_large",),
    hints=(
        "With scores of usual size you are nearly right; no loss of yours is above 20.8.",
        "1e-9 inside the logarithm bounds it, and where it binds the gradient is gone. log_softmax needs no such help.",
        "Read what the task says about the size of the scores.",
    ),
)
def mlm_loss__bounded_lower(logits, labels, weights):
    surprise = -(logits.softmax(-1) + 1e-9).log().gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The probability is missing its logarithm",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your loss lies between -1 and 0, or between 0 and 1.",
        "1 minus the probability was summed. The surprise is its negative logarithm.",
        _SURPRISE,
    ),
)
def mlm_loss__no_logarithm(logits, labels, weights):
    surprise = 1 - logits.softmax(-1).gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The scores are taken for logarithms of probabilities",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your loss can be negative and has no lower bound.",
        "The softmax is missing: scores are no probabilities until they sum to 1.",
        _SURPRISE,
    ),
)
def mlm_loss__no_softmax(logits, labels, weights):
    surprise = -logits.gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The softmax runs over the steps",
    fails=MLM_LOSS.all_but(),
    hints=(
        "In your answer the loss of one token depends on the scores at other steps.",
        "The softmax has the wrong axis: words compete with words, at one step.",
        _SURPRISE,
    ),
)
def mlm_loss__over_steps(logits, labels, weights):
    surprise = -torch.log_softmax(logits, dim=1).gather(-1, labels[..., None])[..., 0]
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "Logarithms to the base 2",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your loss is too large by a factor of 1.44.",
        "Bits, where nats are asked for.",
        "Read what the task says about the unit.",
    ),
)
def mlm_loss__bits(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none") / math.log(2)
    return (weights * surprise).sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The weights multiply the scores",
    fails=MLM_LOSS.all_but("all"),
    hints=(
        "Tokens that were not chosen cost log V each in your loss.",
        "Scores that are multiplied by 0 are all equal, and that is not nothing. Multiply the losses.",
        _LOSS,
    ),
)
def mlm_loss__scores_weighted(logits, labels, weights):
    surprise = F.cross_entropy((logits * weights[..., None]).mT, labels, reduction="none")
    return surprise.sum() / weights.sum().clamp(min=1)


@MLM_LOSS.misconception(
    "The tokens that were not chosen are counted",
    fails=MLM_LOSS.all_but(),
    hints=(
        "Your loss is that of the tokens whose weight is 0.",
        "1 - w stands where w belongs.",
        _LOSS,
    ),
)
def mlm_loss__inverted(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return ((1 - weights) * surprise).sum() / (1 - weights).sum().clamp(min=1)


@MLM_LOSS.misconception(
    "No gradient reaches the scores",
    fails=("mlm_loss_none", "mlm_loss_gradients"),
    hints=(
        "Your loss is right, but nothing can be learned from it.",
        "item, detach or a new tensor made of numbers cuts the loss off from the scores.",
        "Read what the task says about gradients.",
    ),
)
def mlm_loss__cut_off(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return torch.tensor(((weights * surprise).sum() / weights.sum().clamp(min=1)).item())


@MLM_LOSS.misconception(
    "A loss for each token is returned, not their mean",
    fails=MLM_LOSS.all_but(),
    hints=(
        "A table came back, and one number is asked for.",
        "Sum over all positions before you divide.",
        _LOSS,
    ),
)
def mlm_loss__not_summed(logits, labels, weights):
    surprise = F.cross_entropy(logits.mT, labels, reduction="none")
    return weights * surprise / weights.sum().clamp(min=1)


# ---- 12.4 nsp_pairs ----

NSP_PAIRS = Exercise(
    number="12.4",
    references=(bert_input.nsp_pairs,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    equivalent={
        "pairs, rows = ([], iter(u))": "numbers in tensors are compared and multiplied like numbers in lists.",
    },
)
_PAIRS = "Read the equation, and what the task says about e and j."
_WHICH = "Read what the task says about which sentences open a pair."
_FOLLOWS = "Read what the task returns."


@NSP_PAIRS.convention("b follows where the first number is at least one half, where the task has it below")
def nsp_pairs__upper_half(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 >= 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The random sentence may be the true next one: it is drawn from all documents",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Some of your pairs that do not follow come from the same document.",
        "The document was drawn from all, its own among them. Now and then the true next sentence is drawn, and is "
        "called a wrong one.",
        _PAIRS,
    ),
)
def nsp_pairs__any_document(docs, u):
    pairs, rows = [], iter(u.tolist())
    for doc in docs:
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = docs[int(u_1 * len(docs))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The random sentence is drawn from all sentences in one heap",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Some of your pairs that do not follow come from the same document.",
        "All sentences were thrown together and one was drawn: it may be the true next one, and long documents are "
        "drawn more often. First an other document, then a sentence of it.",
        _PAIRS,
    ),
)
def nsp_pairs__one_heap(docs, u):
    pairs, rows = [], iter(u.tolist())
    heap = [sentence for doc in docs for sentence in doc]
    for doc in docs:
        for i in range(len(doc) - 1):
            u_0, u_1, _ = next(rows)
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], heap[int(u_1 * len(heap))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The random sentence is drawn from the other sentences in one heap",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your pairs are possible ones, but not those that u asks for.",
        "The sentences of all other documents were thrown together: long documents are drawn more often. First a "
        "document, by the second number, then a sentence of it, by the third.",
        _PAIRS,
    ),
)
def nsp_pairs__other_heap(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        heap = [sentence for other in docs[:d] + docs[d + 1 :] for sentence in other]
        for i in range(len(doc) - 1):
            u_0, u_1, _ = next(rows)
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], heap[int(u_1 * len(heap))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The random sentence is always of the same document",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "All your pairs come from one document each.",
        "The sentence was drawn from the document of a. Then the topic never changes, and the true next sentence may "
        "be drawn as well.",
        _PAIRS,
    ),
)
def nsp_pairs__same_document(docs, u):
    pairs, rows = [], iter(u.tolist())
    for doc in docs:
        for i in range(len(doc) - 1):
            u_0, _, u_2 = next(rows)
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], doc[int(u_2 * len(doc))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The document itself is left out in the wrong way: where it is drawn, the next one is taken",
    fails=NSP_PAIRS.all_but("two"),
    hints=(
        "Your random sentences never come from the document of a, but not from the document that u asks for.",
        "One of all D documents was drawn, and exchanged for the next if it was a's own: the next one is then drawn "
        "twice as often. Draw among the D - 1 others.",
        _PAIRS,
    ),
)
def nsp_pairs__moved_on(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            e = int(u_1 * len(docs))
            other = docs[(e + 1) % len(docs) if e == d else e]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "A document's own number is exchanged for the next; the others are not moved up",
    fails=NSP_PAIRS.all_but("two"),
    hints=(
        "Your random sentences never come from the document of a, but some documents are never drawn, and one is drawn "
        "twice as often.",
        "e runs over the D - 1 others. From a's own number on, *every* e stands for the document one further: e >= d, "
        "where you have e == d.",
        _PAIRS,
    ),
)
def nsp_pairs__only_own_moved(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            e = int(u_1 * (len(docs) - 1))
            other = docs[e + 1 if e == d else e]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "At exactly one half b follows",
    fails=("nsp_pairs_borders",),
    hints=(
        "You are right but where the first number is exactly one half.",
        "The equation has u < 1/2, and you have u <= 1/2.",
        _PAIRS,
    ),
)
def nsp_pairs__half_included(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 <= 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The labels are flipped",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your sentences are right. Every label is the opposite.",
        "The third item says whether b follows. (Google's program counts the other way, 1 for a random sentence; here "
        "the name is follows.)",
        _FOLLOWS,
    ),
)
def nsp_pairs__flipped(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], False) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], True))
    return pairs


@NSP_PAIRS.misconception(
    "Only a third of the pairs follow",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Too few of your pairs follow.",
        "The border is one third in your code. Both answers should be as frequent, so that always saying the same "
        "gains nothing.",
        _PAIRS,
    ),
)
def nsp_pairs__a_third(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 1 / 3 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "Only 15 % of the pairs are false",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Nearly all your pairs follow.",
        "0.85 is for hiding words. Here both answers should be as frequent.",
        _PAIRS,
    ),
)
def nsp_pairs__rate_of_words(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.85 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "All pairs follow",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "All your labels are True.",
        "A question with one answer teaches nothing. About half of the pairs get a sentence from elsewhere.",
        _PAIRS,
    ),
)
def nsp_pairs__all_follow(docs, u):
    return [(doc[i], doc[i + 1], True) for doc in docs for i in range(len(doc) - 1)]


@NSP_PAIRS.misconception(
    "True and false pairs by turns",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your pairs follow and do not follow by turns, whatever u says.",
        "Every second pair is false: that is half of them, but it is not random, and the first number of u is not "
        "used.",
        _PAIRS,
    ),
)
def nsp_pairs__by_turns(docs, u):
    pairs = []
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            _, u_1, u_2 = u[len(pairs)].tolist()
            other = others[int(u_1 * len(others))]
            drawn = (doc[i], other[int(u_2 * len(other))], False)
            pairs.append(drawn if len(pairs) % 2 else (doc[i], doc[i + 1], True))
    return pairs


@NSP_PAIRS.misconception(
    "Each sentence opens two pairs, a true one and a false one",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your list is twice as long as it should be.",
        "Both pairs were made. One of the two is, by the first number of u.",
        _WHICH,
    ),
)
def nsp_pairs__two_of_each(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            _, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True))
            pairs.append((doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "Pairs reach over the end of a document",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "In some of your pairs that follow, the second sentence opens another document.",
        "All documents were strung together. The last sentence of a document has no next one.",
        _WHICH,
    ),
)
def nsp_pairs__over_the_end(docs, u):
    flat = [(d, sentence) for d, doc in enumerate(docs) for sentence in doc]
    pairs = []
    for k in range(min(len(flat) - 1, len(u))):
        (d, a), (_, following) = flat[k], flat[k + 1]
        u_0, u_1, u_2 = u[k].tolist()
        others = docs[:d] + docs[d + 1 :]
        other = others[int(u_1 * len(others))]
        pairs.append((a, following, True) if u_0 < 0.5 else (a, other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "No sentence is used twice: the pairs do not overlap",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your list is about half as long as it should be.",
        "After a pair you went on two sentences. Every sentence but the last opens a pair, also one that closed the "
        "pair before.",
        _WHICH,
    ),
)
def nsp_pairs__no_overlap(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(0, len(doc) - 1, 2):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The first sentence is drawn as well",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Where b does not follow, your a is not the sentence that opens the pair.",
        "Both sentences come from the other document. Only b is drawn.",
        _PAIRS,
    ),
)
def nsp_pairs__both_drawn(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            drawn = other[int(u_2 * len(other))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (drawn, doc[i + 1], False))
    return pairs


@NSP_PAIRS.misconception(
    "One number draws document and sentence",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your documents are the right ones, but the sentences are not.",
        "The second number was used twice: from early documents you draw early sentences only. The third one draws the "
        "sentence.",
        _PAIRS,
    ),
)
def nsp_pairs__one_number(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, _ = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_1 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The second number draws the sentence and the third the document",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your pairs are possible ones, but not those that u asks for.",
        "The second and the third number of u have changed places.",
        _PAIRS,
    ),
)
def nsp_pairs__numbers_exchanged(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_2 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_1 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "Always the first sentence of the other document",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Where b does not follow, yours is always the opening of a document.",
        "Openings are easy to tell. The third number of u draws any of the sentences.",
        _PAIRS,
    ),
)
def nsp_pairs__first_sentence(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, _ = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[0], False))
    return pairs


@NSP_PAIRS.misconception(
    "The sentence is taken from the next document",
    fails=NSP_PAIRS.all_but("two"),
    hints=(
        "Where b does not follow, yours always comes from the document behind that of a.",
        "The document is to be drawn, by the second number of u. Neighbours may be about the same thing.",
        _PAIRS,
    ),
)
def nsp_pairs__next_document(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        other = docs[(d + 1) % len(docs)]
        for i in range(len(doc) - 1):
            u_0, _, u_2 = next(rows)
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "The numbers are rounded, not cut off",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your documents and sentences are often the one behind the right one.",
        "round(u · n) can be n, and then there is no such sentence, or it starts again; and the first is drawn half as "
        "often. Cut off, as int does.",
        _PAIRS,
    ),
)
def nsp_pairs__rounded(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[min(round(u_1 * len(others)), len(others) - 1)]
            drawn = other[min(round(u_2 * len(other)), len(other) - 1)]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], drawn, False))
    return pairs


@NSP_PAIRS.misconception(
    "The last document or sentence is never drawn",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your draws are a little too far in front.",
        "u · (n - 1) stays below n - 1. Numbers from 0 to n - 1 are n numbers.",
        _PAIRS,
    ),
)
def nsp_pairs__last_never(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * (len(others) - 1))]
            drawn = other[int(u_2 * (len(other) - 1))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], drawn, False))
    return pairs


@NSP_PAIRS.misconception(
    "u is read from its beginning for each document",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "Your first document is right; in the others the draws are those of the first.",
        "u was indexed by the sentence, which starts at 0 in each document. Count the pairs of all documents.",
        "Read what the task says about the rows of u.",
    ),
)
def nsp_pairs__u_restarts(docs, u):
    pairs = []
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = u[i].tolist()
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "Documents of one sentence are thrown away",
    fails=("nsp_pairs_single",),
    hints=(
        "Where some documents have only one sentence, you draw from the wrong documents.",
        "They open no pair, but their sentence may be drawn.",
        _FOLLOWS,
    ),
)
def nsp_pairs__short_thrown_away(docs, u):
    pairs, rows = [], iter(u.tolist())
    docs = [doc for doc in docs if len(doc) > 1]
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            other = others[int(u_1 * len(others))]
            pairs.append((doc[i], doc[i + 1], True) if u_0 < 0.5 else (doc[i], other[int(u_2 * len(other))], False))
    return pairs


@NSP_PAIRS.misconception(
    "What was drawn is taken out of its document",
    fails=NSP_PAIRS.all_but(),
    hints=(
        "After the call sentences are missing in the documents, and with them later pairs.",
        "pop takes the sentence away for good. Only look at it.",
        "Read what the task says about what is changed.",
    ),
)
def nsp_pairs__pops(docs, u):
    pairs, rows = [], iter(u.tolist())
    for d in range(len(docs)):
        i = 0
        while i < len(docs[d]) - 1:
            u_0, u_1, u_2 = next(rows)
            others = [other for e, other in enumerate(docs) if e != d and other]
            other = others[int(u_1 * len(others))]
            a, following = docs[d][i], docs[d][i + 1]
            pairs.append((a, following, True) if u_0 < 0.5 else (a, other.pop(int(u_2 * len(other))), False))
            i += 1
    return pairs


# ---- 12.5 bert_embed ----

BERT_EMBED = Exercise(
    number="12.5",
    references=(bert.bert_embed,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)
_SUM = "Read the equation: which three vectors are added?"
_NORMED = "Read the equation: what is normalised, and with which eps?"


@BERT_EMBED.misconception(
    "The segment is missing",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your result does not depend on the segments.",
        "Two vectors were added; or the number of the segment, which the norm takes away again. The third vector says "
        "which sentence a token stands in: look it up in its table.",
        _SUM,
    ),
)
def bert_embed__no_segment(ids, segments, params):
    x = params.tokens[ids] + params.positions[: ids.shape[1]]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "The position is missing",
    fails=BERT_EMBED.all_but(),
    hints=(
        "In your answer a token has the same vector wherever it stands.",
        "Two vectors were added. Without the third, attention cannot tell one order of the words from another.",
        _SUM,
    ),
)
def bert_embed__no_position(ids, segments, params):
    return layer_norm(params.tokens[ids] + params.segments[segments], params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "The three vectors are put side by side",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are three times as wide as they should be.",
        "cat makes one long vector of three; here they are added, and the width stays D.",
        _SUM,
    ),
)
def bert_embed__concatenated(ids, segments, params):
    positions = params.positions[: ids.shape[1]].expand(*ids.shape, -1)
    x = torch.cat([params.tokens[ids], params.segments[segments], positions], dim=-1)
    return layer_norm(x, params.g.repeat(3), params.b.repeat(3), 1e-12)


@BERT_EMBED.misconception(
    "The three vectors are put side by side, and not normalised",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are three times as wide as they should be.",
        "cat makes one long vector of three; here they are added, and the width stays D. The norm is missing, too.",
        _SUM,
    ),
)
def bert_embed__concatenated_plain(ids, segments, params):
    positions = params.positions[: ids.shape[1]].expand(*ids.shape, -1)
    return torch.cat([params.tokens[ids], params.segments[segments], positions], dim=-1)


@BERT_EMBED.misconception(
    "There is no normalisation",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are the plain sums.",
        "BERT normalises the sum before the first layer, which has its norm at its end.",
        _NORMED,
    ),
)
def bert_embed__no_norm(ids, segments, params):
    return params.tokens[ids] + params.segments[segments] + params.positions[: ids.shape[1]]


@BERT_EMBED.misconception(
    "Scale and shift of the normalisation are missing",
    fails=BERT_EMBED.all_but(),
    hints=(
        "All your vectors have mean 0 and variance 1.",
        "g and b are not used.",
        _NORMED,
    ),
)
def bert_embed__no_scale(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[: ids.shape[1]]
    return layer_norm(x, torch.ones(x.shape[-1]), torch.zeros(x.shape[-1]), 1e-12)


@BERT_EMBED.misconception(
    "g and b are exchanged",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are scaled by the shift, and shifted by the scale.",
        "g comes first in layer_norm, then b.",
        _NORMED,
    ),
)
def bert_embed__g_and_b(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[: ids.shape[1]]
    return layer_norm(x, params.b, params.g, 1e-12)


@BERT_EMBED.misconception(
    "The eps is 1e-5",
    fails=("bert_embed_small",),
    hints=(
        "With large numbers you are right; with small ones, as at the start of a training, you are off by a little.",
        "The default of the norm was used. BERT's eps is 1e-12.",
        _NORMED,
    ),
)
def bert_embed__usual_eps(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[: ids.shape[1]]
    return layer_norm(x, params.g, params.b)


@BERT_EMBED.misconception(
    "The variance is divided by D - 1",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are all a little too short, by the same factor.",
        "torch's var and std divide by D - 1 unless told otherwise. The norm divides by D; layer_norm does it for you.",
        _NORMED,
    ),
)
def bert_embed__sample_variance(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[: ids.shape[1]]
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-12).sqrt()
    return params.g * x + params.b


@BERT_EMBED.misconception(
    "The positions are counted from 1",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Each of your tokens has the position of the next one; the longest row has one too few.",
        "The first step is t = 0, and its vector is the first of the table.",
        "Read what the task says about t.",
    ),
)
def bert_embed__from_one(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[1 : ids.shape[1] + 1]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "The positions start again in the second sentence",
    fails=BERT_EMBED.all_but("one"),
    hints=(
        "In the first sentence you are right. In the second your positions begin at 0 again.",
        "Places are counted over the whole row. Which sentence it is, the segment says.",
        "Read the equation: which index has the table of positions?",
    ),
)
def bert_embed__restarted(ids, segments, params):
    t = torch.arange(ids.shape[1]).expand_as(ids)
    start = torch.where(segments == 1, t, ids.shape[1]).amin(dim=1, keepdim=True)
    x = params.tokens[ids] + params.segments[segments] + params.positions[torch.where(segments == 1, t - start, t)]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "Every token has the position 0",
    fails=BERT_EMBED.all_but("one"),
    hints=(
        "In your answer a token has the same vector wherever it stands.",
        "The first row of the table was added to all steps. Step t gets row t.",
        "Read the equation: which index has the table of positions?",
    ),
)
def bert_embed__always_first(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[0]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "The tokens are multiplied by √D, as in the Transformer",
    fails=BERT_EMBED.all_but(),
    hints=(
        "In your vectors the tokens weigh too much against segments and positions.",
        "The √D is that of chapter 9. BERT's tables are all of one size, and are added as they are.",
        _SUM,
    ),
)
def bert_embed__scaled(ids, segments, params):
    tokens = params.tokens[ids] * math.sqrt(params.tokens.shape[1])
    x = tokens + params.segments[segments] + params.positions[: ids.shape[1]]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "Only the tokens are normalised",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are normalised before segments and positions are added.",
        "The sum of all three is what the norm takes.",
        _NORMED,
    ),
)
def bert_embed__tokens_normed(ids, segments, params):
    x = layer_norm(params.tokens[ids], params.g, params.b, 1e-12)
    return x + params.segments[segments] + params.positions[: ids.shape[1]]


@BERT_EMBED.misconception(
    "Each of the three is normalised for itself",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are sums of three normalised ones.",
        "First add, then normalise, once.",
        _NORMED,
    ),
)
def bert_embed__each_normed(ids, segments, params):
    parts = params.tokens[ids], params.segments[segments], params.positions[: ids.shape[1]]
    return sum(layer_norm(part, params.g, params.b, 1e-12) for part in parts)


@BERT_EMBED.misconception(
    "The norm comes before the positions",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your positions are added to vectors that were normalised before.",
        "The sum of all three is what the norm takes.",
        _NORMED,
    ),
)
def bert_embed__positions_after(ids, segments, params):
    x = layer_norm(params.tokens[ids] + params.segments[segments], params.g, params.b, 1e-12)
    return x + params.positions[: ids.shape[1]]


@BERT_EMBED.misconception(
    "The segments are exchanged",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Tokens of the first sentence get the vector of the second, and the other way round.",
        "Segment 0 is row 0 of the table.",
        "Read what the task says about segments.",
    ),
)
def bert_embed__segments_exchanged(ids, segments, params):
    x = params.tokens[ids] + params.segments[1 - segments] + params.positions[: ids.shape[1]]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "The three vectors are multiplied",
    fails=BERT_EMBED.all_but(),
    hints=(
        "Your vectors are products.",
        "The three are added.",
        _SUM,
    ),
)
def bert_embed__multiplied(ids, segments, params):
    x = params.tokens[ids] * params.segments[segments] * params.positions[: ids.shape[1]]
    return layer_norm(x, params.g, params.b, 1e-12)


@BERT_EMBED.misconception(
    "The norm runs over the steps",
    fails=BERT_EMBED.all_but(),
    hints=(
        "In your answer the vector of one token depends on the others in its row.",
        "The statistics were taken over the steps. Each vector is normalised over its own features.",
        _NORMED,
    ),
)
def bert_embed__over_steps(ids, segments, params):
    x = params.tokens[ids] + params.segments[segments] + params.positions[: ids.shape[1]]
    return params.g * (x - x.mean(1, keepdim=True)) / (x.var(1, correction=0, keepdim=True) + 1e-12).sqrt() + params.b


@BERT_EMBED.misconception(
    "No gradient reaches the tables",
    fails=("bert_embed_gradients",),
    hints=(
        "Your vectors are right, but the tables cannot learn.",
        "detach, no_grad or a copy of the numbers cuts the tables off.",
        "Read what the task says about gradients.",
    ),
)
def bert_embed__cut_off(ids, segments, params):
    x = params.tokens.detach()[ids] + params.segments.detach()[segments] + params.positions.detach()[: ids.shape[1]]
    return layer_norm(x, params.g, params.b, 1e-12)


# ---- 12.6 wordpiece_encode ----

WORDPIECE = Exercise(
    number="12.6",
    references=(wordpiece.wordpiece_encode,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
)
_LONGEST = "Read the equation: which of the places j is taken?"
_MARKS = "Read the equation: how is a piece written that does not begin the word?"
_UNKNOWN = "Read what the task says about a place where no piece fits."


@WORDPIECE.misconception(
    "The shortest match is taken first",
    fails=WORDPIECE.all_but(),
    hints=(
        "Your pieces are mostly single letters.",
        "The search starts with one letter and stops at the first piece that fits. Begin with the longest.",
        _LONGEST,
    ),
)
def wordpiece_encode__shortest(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        for j in range(i + 1, len(word) + 1):
            if mark + word[i:j] in vocab:
                break
        else:
            return [unk]
        pieces.append(mark + word[i:j])
        i = j
    return pieces


@WORDPIECE.misconception(
    "The continuation has no marks: later pieces are looked up as if they began a word",
    fails=WORDPIECE.all_but(),
    hints=(
        "None of your pieces begins with ##.",
        "A piece that continues a word is another entry of the vocabulary than one that begins a word.",
        _MARKS,
    ),
)
def wordpiece_encode__no_marks(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        ends = [j for j in range(i + 1, len(word) + 1) if word[i:j] in vocab]
        if not ends:
            return [unk]
        pieces.append(word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "The marks are lost in the result",
    fails=WORDPIECE.all_but(),
    hints=(
        "The word is cut in the right places, but none of your pieces begins with ##.",
        "The marks belong to the piece: without them its id is not found, and the word cannot be put together again.",
        _MARKS,
    ),
)
def wordpiece_encode__marks_lost(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            return [unk]
        pieces.append(word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "The marks are written, but not looked up",
    fails=WORDPIECE.all_but(),
    hints=(
        "Some of your pieces with ## are not in the vocabulary.",
        "Later pieces were looked up without their marks, and got them afterwards.",
        _MARKS,
    ),
)
def wordpiece_encode__marks_added(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        ends = [j for j in range(i + 1, len(word) + 1) if word[i:j] in vocab]
        if not ends:
            return [unk]
        pieces.append(("##" if i > 0 else "") + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "The first piece has marks, too",
    fails=WORDPIECE.all_but(),
    hints=(
        "All your pieces begin with ##.",
        "The first piece begins the word: it has no marks.",
        _MARKS,
    ),
)
def wordpiece_encode__always_marks(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        ends = [j for j in range(i + 1, len(word) + 1) if "##" + word[i:j] in vocab]
        if not ends:
            return [unk]
        pieces.append("##" + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "Where no piece with marks fits, one without is taken",
    fails=(
        "wordpiece_encode_trap",
        "wordpiece_encode_random",
    ),
    hints=(
        "Some words that are unknown are cut in your answer, with a piece in the middle that begins words.",
        "Inside a word only pieces with ## count. If none fits, the word is unknown.",
        _MARKS,
    ),
)
def wordpiece_encode__either(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        marks = ("##", "") if i > 0 else ("",)
        found = [mark + word[i:j] for mark in marks for j in range(len(word), i, -1) if mark + word[i:j] in vocab]
        if not found:
            return [unk]
        pieces.append(found[0])
        i += len(found[0]) - 2 * found[0].startswith("##")
    return pieces


@WORDPIECE.misconception(
    "Partial pieces are kept when the word is unknown",
    fails=WORDPIECE.all_but("simple", "long"),
    hints=(
        "Of unknown words your answer has the beginning, and then [UNK].",
        "Where no piece fits, the whole word is unknown: what was found before is thrown away.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__beginning_kept(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            return [*pieces, unk]
        pieces.append(mark + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "Partial pieces are kept, and nothing marks the word as unknown",
    fails=WORDPIECE.all_but("simple", "long"),
    hints=(
        "Of unknown words your answer has the beginning, and nothing else.",
        "The search stops where no piece fits, and returns what it has. The whole word is unknown then.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__stops(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            break
        pieces.append(mark + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "A letter that does not fit becomes [UNK], and the search goes on",
    fails=WORDPIECE.all_but("simple", "long"),
    hints=(
        "Your unknown words are cut into pieces with [UNK] between them.",
        "One letter was stepped over. A word of which a part is unknown is unknown as a whole.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__steps_over(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        pieces.append(mark + word[i : max(ends)] if ends else unk)
        i = max(ends, default=i + 1)
    return pieces


@WORDPIECE.misconception(
    "A letter that does not fit is left out",
    fails=WORDPIECE.all_but("simple", "long"),
    hints=(
        "Letters are missing in your pieces of unknown words.",
        "What does not fit was stepped over in silence. A word of which a part is unknown is unknown as a whole.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__left_out(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        pieces += [mark + word[i : max(ends)]] if ends else []
        i = max(ends, default=i + 1)
    return pieces


@WORDPIECE.misconception(
    "An unknown word has no pieces",
    fails=WORDPIECE.all_but("simple", "long"),
    hints=(
        "For unknown words your list is empty.",
        "The word would vanish from the sentence. One [UNK] stands for it.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__vanishes(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            return []
        pieces.append(mark + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "An unknown word is returned as it is",
    fails=WORDPIECE.all_but("simple", "long"),
    hints=(
        "For unknown words you return the word itself.",
        "It is not in the vocabulary and has no id. One [UNK] stands for it.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__word_itself(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            return [word]
        pieces.append(mark + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "The name of the unknown token is fixed",
    fails=("wordpiece_encode_names",),
    hints=(
        "With the usual name you are right; another name for unknown words is not used.",
        '"[UNK]" stands in your code. Use the argument.',
        "Read what the task says about unk.",
    ),
)
def wordpiece_encode__name_fixed(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            return ["[UNK]"]
        pieces.append(mark + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "The longest match is searched from the right",
    fails=WORDPIECE.all_but("simple", "unknown", "marks"),
    hints=(
        "Your last pieces are as long as possible, not your first ones.",
        "The word was cut from its end. The first piece is the longest beginning that is in the vocabulary.",
        _LONGEST,
    ),
)
def wordpiece_encode__from_the_right(word, vocab, unk="[UNK]"):
    pieces, j = [], len(word)
    while j > 0:
        starts = [i for i in range(j) if ("##" if i > 0 else "") + word[i:j] in vocab]
        if not starts:
            return [unk]
        i = min(starts)
        pieces.insert(0, ("##" if i > 0 else "") + word[i:j])
        j = i
    return pieces


@WORDPIECE.misconception(
    "The longest piece anywhere in the word comes first",
    fails=(
        "wordpiece_encode_long",
        "wordpiece_encode_random",
    ),
    hints=(
        "Your words are cut around their longest piece.",
        "The longest piece was looked for at all places. The search goes from the left: only pieces that begin where "
        "the last one ended count.",
        _LONGEST,
    ),
)
def wordpiece_encode__longest_anywhere(word, vocab, unk="[UNK]"):
    def cut(start, end):
        if start == end:
            return []
        for size in range(end - start, 0, -1):
            for i in range(start, end - size + 1):
                piece = ("##" if i > 0 else "") + word[i : i + size]
                if piece in vocab:
                    left, right = cut(start, i), cut(i + size, end)
                    return None if left is None or right is None else [*left, piece, *right]
        return None

    pieces = cut(0, len(word))
    return [unk] if pieces is None else pieces


@WORDPIECE.misconception(
    "The fewest pieces are found, by trying everything",
    fails=WORDPIECE.all_but("simple", "unknown", "marks"),
    hints=(
        "Your cuts have fewer pieces than asked for, or cut words that should be unknown.",
        "The search went back and tried shorter beginnings. The rule is greedy: the longest piece from the left, and "
        "never back.",
        _LONGEST,
    ),
)
def wordpiece_encode__fewest(word, vocab, unk="[UNK]"):
    best = [[]] + [None] * len(word)
    for j in range(1, len(word) + 1):
        for i in range(j):
            piece = ("##" if i > 0 else "") + word[i:j]
            if best[i] is not None and piece in vocab and (best[j] is None or len(best[i]) + 1 < len(best[j])):
                best[j] = [*best[i], piece]
    return [unk] if best[-1] is None else best[-1]


@WORDPIECE.misconception(
    "Where the longest match leads nowhere, a shorter one is tried",
    fails=(
        "wordpiece_encode_trap",
        "wordpiece_encode_random",
    ),
    hints=(
        "Some words that should be unknown are cut in your answer.",
        "The search went back. The rule is greedy: if nothing fits behind the longest piece, the word is unknown.",
        _UNKNOWN,
    ),
)
def wordpiece_encode__goes_back(word, vocab, unk="[UNK]"):
    def cut(i):
        if i == len(word):
            return []
        for j in range(len(word), i, -1):
            piece = ("##" if i > 0 else "") + word[i:j]
            rest = cut(j) if piece in vocab else None
            if rest is not None:
                return [piece, *rest]
        return None

    pieces = cut(0)
    return [unk] if pieces is None else pieces


@WORDPIECE.misconception(
    "The whole rest is never tried: the last letter is always alone",
    fails=WORDPIECE.all_but("trap", "names"),
    hints=(
        "Your words never end with a long piece.",
        "The range of ends stops one too early: word[i:j] with j = len(word) is the rest up to the last letter.",
        _LONGEST,
    ),
)
def wordpiece_encode__end_left_out(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, max(len(word), i + 2)) if mark + word[i:j] in vocab]
        if not ends:
            return [unk]
        pieces.append(mark + word[i : max(ends)])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "Only the first piece is found",
    fails=WORDPIECE.all_but(),
    hints=(
        "You return one piece, and the rest of the word is missing.",
        "return stands inside the loop. Collect the pieces and return them at the end.",
        "Read the equation: until where does it go on?",
    ),
)
def wordpiece_encode__first_only(word, vocab, unk="[UNK]"):
    for j in range(len(word), 0, -1):
        if word[:j] in vocab:
            return [word[:j]]
    return [unk] if word else []


@WORDPIECE.misconception(
    "A known beginning and the rest letter by letter",
    fails=WORDPIECE.all_but("trap", "names"),
    hints=(
        "Your first piece is right; behind it stand single letters.",
        "Each further piece is the longest that fits, too.",
        _LONGEST,
    ),
)
def wordpiece_encode__rest_in_letters(word, vocab, unk="[UNK]"):
    for j in range(len(word), 0, -1):
        if word[:j] in vocab:
            pieces = [word[:j], *("##" + letter for letter in word[j:])]
            return pieces if all(piece in vocab for piece in pieces) else [unk]
    return [unk] if word else []


@WORDPIECE.misconception(
    "The ids of the pieces are returned",
    fails=WORDPIECE.all_but(),
    hints=(
        "Numbers came back, and pieces are asked for.",
        "The vocabulary may be a set, which has no ids.",
        "Read what the task returns.",
    ),
)
def wordpiece_encode__ids(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        ends = [j for j in range(i + 1, len(word) + 1) if mark + word[i:j] in vocab]
        if not ends:
            return [vocab[unk]]
        pieces.append(vocab[mark + word[i : max(ends)]])
        i = max(ends)
    return pieces


@WORDPIECE.misconception(
    "An empty word is called unknown",
    fails=("wordpiece_encode_names",),
    hints=(
        "All words are cut as they should be. Of no letters at all you make an unknown word.",
        "Nothing was left to be cut: at no place a piece was missing. The result is an empty list.",
        "Read what the task says about an empty word.",
    ),
)
def wordpiece_encode__empty_unknown(word, vocab, unk="[UNK]"):
    pieces, i = [], 0
    while i < len(word):
        j = next((j for j in range(len(word), i, -1) if ("##" if i else "") + word[i:j] in vocab), None)
        if j is None:
            return [unk]
        pieces.append(("##" if i else "") + word[i:j])
        i = j
    return pieces or [unk]


# ---- 12.7 linear_warmup_decay ----

WARMUP_DECAY = Exercise(
    number="12.7",
    references=(schedules.linear_warmup_decay,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)
_LINES = "Read the equation: two lines that meet at w, and 0 behind n."
_BORDER = "Read what the task says about warmup."


@WARMUP_DECAY.misconception(
    "The falling line starts at step 0, not at the peak",
    fails=WARMUP_DECAY.all_but("rising", "none", "only"),
    hints=(
        "While it warms up you are right. Then your step size jumps below its peak.",
        "(n - s) / n falls from step 0 on; at the end of the warm-up it has lost w / n already. (Google's program "
        "has it so. The line of the equation starts at the peak.)",
        _LINES,
    ),
)
def linear_warmup_decay__from_zero(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / total)


@WARMUP_DECAY.misconception(
    "Both lines are multiplied: it decays from step 0 while it warms up",
    fails=WARMUP_DECAY.all_but("none"),
    hints=(
        "Your step size is too small everywhere, and its peak is not reached.",
        "The decay over all steps was multiplied by the warm-up. Before w only the rising line counts, afterwards only "
        "the falling one.",
        _LINES,
    ),
)
def linear_warmup_decay__multiplied(step, warmup, total, peak):
    rising = min(1.0, step / warmup) if warmup else 1.0
    return peak * rising * max(0.0, (total - step) / total)


@WARMUP_DECAY.misconception(
    "Behind the end it is negative",
    fails=(
        "linear_warmup_decay_end",
        "linear_warmup_decay_only",
    ),
    hints=(
        "You are right up to the end. Behind it your step size is negative.",
        "The line goes on below 0: the training would climb. Stop it at 0.",
        _LINES,
    ),
)
def linear_warmup_decay__negative(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * (total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "Behind the end it rises again",
    fails=(
        "linear_warmup_decay_end",
        "linear_warmup_decay_only",
    ),
    hints=(
        "You are right up to the end. Behind it your step size grows.",
        "The absolute value hides the sign. Behind the end it is 0.",
        _LINES,
    ),
)
def linear_warmup_decay__rises_again(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * abs(total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "The warm-up is counted twice: the end comes w steps too late",
    fails=WARMUP_DECAY.all_but("rising", "none"),
    hints=(
        "At the end your step size is not 0 yet.",
        "The steps after the warm-up were counted from 0, and so the fall takes n steps. The warm-up is among the n.",
        "Read what the task says about total.",
    ),
)
def linear_warmup_decay__too_late(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, 1 - (step - warmup) / total)


@WARMUP_DECAY.misconception(
    "The warm-up is counted twice: the end comes w steps too early",
    fails=WARMUP_DECAY.all_but("rising", "none", "only"),
    hints=(
        "Your step size is 0 before the end.",
        "The warm-up was taken away from the steps that are left, though they do not hold it any more.",
        "Read what the task says about total.",
    ),
)
def linear_warmup_decay__too_early(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - warmup - step) / max(1, total - warmup))


@WARMUP_DECAY.misconception(
    "The falling line is too steep: it starts above the peak or ends too early",
    fails=WARMUP_DECAY.all_but("rising", "none"),
    hints=(
        "After the warm-up your step size falls too fast.",
        "The steps since the warm-up were divided by those that are left of it twice: n - 2w.",
        _LINES,
    ),
)
def linear_warmup_decay__steep(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, 1 - (step - warmup) / max(1, total - 2 * warmup))


@WARMUP_DECAY.misconception(
    "Without a warm-up it divides by zero",
    fails=("linear_warmup_decay_none",),
    hints=(
        "You are right where there is a warm-up. Without one there is an error.",
        "step / warmup was computed before it was known whether the step lies in the warm-up. With w = 0 none does.",
        _BORDER,
    ),
)
def linear_warmup_decay__divides_by_zero(step, warmup, total, peak):
    rising = step / warmup
    falling = max(0.0, (total - step) / max(1, total - warmup))
    return peak * (rising if step < warmup else falling)


@WARMUP_DECAY.misconception(
    "With nothing but a warm-up it divides by zero",
    fails=("linear_warmup_decay_only",),
    hints=(
        "You are right where something follows the warm-up. If nothing does, there is an error.",
        "n - w is 0 there. At s = n the step size is 0 anyway: ask for that first.",
        _BORDER,
    ),
)
def linear_warmup_decay__divides_at_the_end(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / (total - warmup))


@WARMUP_DECAY.misconception(
    "Without a warm-up, and with nothing else, it divides by zero",
    fails=(
        "linear_warmup_decay_none",
        "linear_warmup_decay_only",
    ),
    hints=(
        "Where there are a warm-up and a fall you are right. Where one of them is missing there is an error.",
        "The smaller of two lines is a good idea; but w and n - w may be 0.",
        _BORDER,
    ),
)
def linear_warmup_decay__minimum(step, warmup, total, peak):
    return peak * max(0.0, min(step / warmup, (total - step) / (total - warmup)))


@WARMUP_DECAY.misconception(
    "Without a warm-up the first step is 0",
    fails=("linear_warmup_decay_none",),
    hints=(
        "You are right but for step 0 without a warm-up, where yours is 0.",
        "A warm-up of 0 was made one of 1, so that nothing is divided by 0. With w = 0 the first step is at the peak.",
        _BORDER,
    ),
)
def linear_warmup_decay__at_least_one(step, warmup, total, peak):
    warmup = max(1, warmup)
    if step < warmup:
        return peak * step / warmup
    return peak * max(0, total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "The smaller of two lines: without a warm-up the first step is 0",
    fails=("linear_warmup_decay_none",),
    hints=(
        "You are right but for step 0 without a warm-up, where yours is 0.",
        "The rising line is step / max(1, w): at step 0 it is 0 even if there is no warm-up. With w = 0 leave it out.",
        _BORDER,
    ),
)
def linear_warmup_decay__minimum_at_least_one(step, warmup, total, peak):
    return peak * min(step / max(1, warmup), max(0, (total - step) / max(1, total - warmup)))


@WARMUP_DECAY.misconception(
    "There is no warm-up",
    fails=WARMUP_DECAY.all_but("none"),
    hints=(
        "Your step size starts at its peak.",
        "The rising line is missing: the first steps, with untrained weights, are to be small.",
        _LINES,
    ),
)
def linear_warmup_decay__no_warm_up(step, warmup, total, peak):
    return peak * max(0.0, (total - step) / total)


@WARMUP_DECAY.misconception(
    "It stays at its peak up to the warm-up",
    fails=WARMUP_DECAY.all_but("falling", "end", "none"),
    hints=(
        "After the warm-up you are right; before it your step size is the peak.",
        "The rising line is missing.",
        _LINES,
    ),
)
def linear_warmup_decay__flat_start(step, warmup, total, peak):
    if step < warmup:
        return peak
    return peak * max(0, total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "After the warm-up it stays at its peak",
    fails=WARMUP_DECAY.all_but("rising"),
    hints=(
        "While it warms up you are right; afterwards your step size does not fall.",
        "The falling line is missing.",
        _LINES,
    ),
)
def linear_warmup_decay__constant(step, warmup, total, peak):
    return peak * step / warmup if step < warmup else peak


@WARMUP_DECAY.misconception(
    "It falls as one over the root of the step, as in the Transformer",
    fails=WARMUP_DECAY.all_but("rising"),
    hints=(
        "While it warms up you are right; afterwards your step size falls fast and then slowly, and is not 0 at the "
        "end.",
        "That is the rule of chapter 9. BERT's falls along a line.",
        _LINES,
    ),
)
def linear_warmup_decay__root(step, warmup, total, peak):
    return peak * step / warmup if step < warmup else peak * math.sqrt(max(1, warmup) / max(1, step))


@WARMUP_DECAY.misconception(
    "It falls along a cosine",
    fails=WARMUP_DECAY.all_but("rising", "only"),
    hints=(
        "You are right while it warms up and at the end; in between your step size is first too large, then too small.",
        "Half a wave, as later models have it. BERT's falls along a line.",
        _LINES,
    ),
)
def linear_warmup_decay__cosine(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    if step >= total:
        return 0.0
    return peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


@WARMUP_DECAY.misconception(
    "The steps are counted one too far",
    fails=WARMUP_DECAY.all_but(),
    hints=(
        "Your curve is right, but one step early; at step 0 it is not 0.",
        "1 was added to the step. The step is used as it is.",
        "Read what the task says about step.",
    ),
)
def linear_warmup_decay__one_too_far(step, warmup, total, peak):
    step = step + 1
    if step < warmup:
        return peak * step / warmup
    return peak * max(0, total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "The steps of the warm-up are counted from 1",
    fails=WARMUP_DECAY.all_but("falling", "end", "none"),
    hints=(
        "After the warm-up you are right; before it you are one step early, and at step 0 it is not 0.",
        "1 was added while it warms up. The step is used as it is.",
        "Read what the task says about step.",
    ),
)
def linear_warmup_decay__warm_up_from_one(step, warmup, total, peak):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * max(0, total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "The peak is not used",
    fails=WARMUP_DECAY.all_but(),
    hints=(
        "Your curve has the right shape, but its largest value is 1.",
        "The factor before the fractions is missing.",
        _LINES,
    ),
)
def linear_warmup_decay__no_peak(step, warmup, total, peak):
    if step < warmup:
        return step / warmup
    return max(0, total - step) / max(1, total - warmup)


@WARMUP_DECAY.misconception(
    "The fractions are rounded down to 0",
    fails=WARMUP_DECAY.all_but(),
    hints=(
        "Your step size is 0 nearly everywhere.",
        "// divides without remainder: below the peak everything is 0.",
        _LINES,
    ),
)
def linear_warmup_decay__rounded_down(step, warmup, total, peak):
    if step < warmup:
        return peak * (step // warmup)
    return peak * (max(0, total - step) // max(1, total - warmup))


@WARMUP_DECAY.misconception(
    "After the warm-up it rises on: the falling line is upside down",
    fails=WARMUP_DECAY.all_but("rising"),
    hints=(
        "At the end of the warm-up your step size jumps to 0 and rises to its peak at the end.",
        "The share of steps done was taken, where that of the steps left is asked for.",
        _LINES,
    ),
)
def linear_warmup_decay__upside_down(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * min(1.0, (step - warmup) / max(1, total - warmup))


EXERCISES = (BUILD_INPUT, MLM_MASK, MLM_LOSS, NSP_PAIRS, BERT_EMBED, WORDPIECE, WARMUP_DECAY)
