"""From tags to spans, and how many of them were found (chapter 5)."""

from __future__ import annotations


def bio_spans(tags: list[str]) -> list[tuple[str, int, int]]:
    """The spans that a row of BIO tags marks, from left to right.

    "B-X" begins a span of type X, "I-X" continues it, "O" is outside of all spans. A span ends
    before the next "B-...", the next "O", the next tag of another type, or with the row. An "I-X"
    that has no span of type X to continue begins one all the same: networks write such rows.

    Args:
        tags: one tag for each word: "O", or "B-" or "I-" and a type. Where there is only one type
            the tags may be plain "B" and "I": then the type is "". The list is not changed.

    Returns:
        A list of (type, start, end): the span holds the words start, ..., end - 1, so that
        words[start:end] is what it covers. A row without spans gives an empty list.

    Built in chapter 5.

    >>> bio_spans(["B-PER", "I-PER", "O", "B-LOC", "B-LOC"])
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    >>> bio_spans(["O", "I-LOC", "I-LOC", "I-PER"])  # no B: spans all the same
    [('LOC', 1, 3), ('PER', 3, 4)]
    >>> bio_spans(["B", "I", "O"])
    [('', 0, 2)]
    """
    spans = []
    before = "O"
    for t, tag in enumerate(tags):
        kind = tag[2:]
        if tag != "O":
            if tag[0] == "I" and before != "O" and kind == before[2:]:
                _, start, _ = spans.pop()  # it goes on
            else:
                start = t
            spans.append((kind, start, t + 1))
        before = tag
    return spans


def span_f1(gold: list[list[str]], predicted: list[list[str]]) -> float:
    r"""The F1 of spans: were the right ones found, and are those that were found right?

    $$ P = \frac{\text{hits}}{\text{predicted spans}}, \quad
       R = \frac{\text{hits}}{\text{gold spans}}, \quad
       F_1 = \frac{2PR}{P + R}
           = \frac{2 \cdot \text{hits}}{\text{predicted spans} + \text{gold spans}} $$ (eq-span-f1)

    A hit is a predicted span that is also a gold span of the same row: same type, same start,
    same end. Hits and spans are counted over all rows together before anything is divided
    (micro average).

    Args:
        gold: the right tags, one list for each row, as ``bio_spans`` takes them.
        predicted: the tags to be judged; as many rows, each as long as in gold.

    Returns:
        F1, between 0 and 1; 0 if there is no span at all on either side. The lists are not changed.

    Built in chapter 5.

    >>> gold = [["B-PER", "I-PER", "O"], ["B-LOC", "O", "B-LOC"]]
    >>> predicted = [["B-PER", "O", "O"], ["B-LOC", "O", "B-LOC"]]
    >>> round(span_f1(gold, predicted), 3)  # two hits, three spans on either side
    0.667
    """
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted = set(bio_spans(right))
        found = set(bio_spans(guess))
        hits += len(wanted & found)
        total += len(wanted) + len(found)
    return 2 * hits / total if total else 0.0  # eq-span-f1
