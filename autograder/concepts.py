"""The 103 concepts of the five lecture decks: what each is, which deck has it, which chapters teach it.

``claims`` names the chapters that must put the concept to a test, because a deck says something of it that can be
measured. The table of the book (docs/concepts.md) and ``autograder coverage`` are made from this list.
"""

from __future__ import annotations

from dataclasses import dataclass

PARTS = {"I": range(0, 6), "II": range(6, 11), "III": range(11, 16)}


@dataclass(frozen=True)
class Concept:
    """One thing the decks teach; ``chapters`` is empty for what the back matter holds."""

    id: str
    title: str
    decks: str
    chapters: tuple[int, ...]
    claims: tuple[int, ...] = ()


def _concepts(table: str) -> tuple[Concept, ...]:
    """Rows of ``id | title | decks | chapters``; a chapter with a star must hold a claim check."""
    found = []
    for row in table.strip().splitlines():
        name, title, decks, places = (cell.strip() for cell in row.split("|"))
        chapters = tuple(int(place.strip("*")) for place in places.split())
        found.append(Concept(name, title, decks, chapters, tuple(int(p[:-1]) for p in places.split() if p[-1] == "*")))
    return tuple(found)


CONCEPTS = _concepts("""
C01 | Sequences have no fixed size: video, audio, words, prices | 000 | 1
C02 | A fully connected net on padded sentences relearns a phrase at every position | 000 | 1*
C03 | Words become learned vectors; frozen or trained | 000 003 | 1* 3*
C04 | Convolution over time: shared weights, finite receptive field, invariance or equivariance | 000 001 | 1*
C05 | Language as a temporal process: n-grams, HMM, sliding windows, padding | 003 | 1* 3*
C06 | The Elman network: last hidden state as an extra input | 003 | 1
C07 | The recurrence and its four notations in the decks | 000 001 003 004 | 1
C08 | The state encodes all inputs so far; three shared matrices; equal treatment of the inputs | 000 004 | 1*
C09 | Unrolling: a network as deep as the sequence, with tied weights | 000 001 | 1*
C10 | The forward pass as a loop | 003 | 1
C11 | torch's nn.RNN: shapes, layers, what it returns | 004 | 1*
C12 | Backpropagation through time | 000 001 | 2*
C13 | The Jacobian product and its largest eigenvalue: vanishing and exploding | 000 004 | 2*
C14 | How far an RNN remembers: 5 to 10 steps? | 000 | 2* 4*
C15 | May a decision depend on hundreds of words ago? | 003 | 2*
C16 | In theory every input counts for ever, in practice it is cut off | 004 | 2*
C17 | Language models and the chain rule | 001 003 004 | 3
C18 | The probability of a sequence from the outputs of the network | 003 | 3*
C19 | Self-supervision and the cross-entropy of the next word | 003 | 3
C20 | Teacher forcing | 003 | 3 6
C21 | Weight tying: one matrix in and out | 003 | 3*
C22 | Generation from the start symbol: Shannon's game, min-char-rnn, sampling against argmax | 003 004 | 3*
C23 | Classification from the last hidden state | 000 003 004 | 5
C24 | Pooling all hidden states | 003 004 | 5
C25 | Tagging: one label per item | 000 001 003 | 5
C26 | Opinion mining with B, I and O | 001 | 5
C27 | States of a language model reused for other tasks | 001 | 5*
C28 | What text classification is used for | 003 | 5
C29 | Tasks that generate text | 001 003 | 6
C30 | Captions and stories for images | 004 | 6 7
C31 | Stacked and deep bidirectional networks | 001 002 003 004 | 5
C32 | Bidirectional networks and their two last states | 001 002 003 004 | 5
C33 | Deep bidirectional LSTM for speech | 001 | 5
C34 | Agreement over a distance | 003 004 | 4*
C35 | The LSTM erases, writes and reads | 002 | 4*
C36 | What a gate is | 003 | 4
C37 | The equations of the LSTM | 003 | 4
C38 | Peepholes | 001 | 4
C39 | The self-loop of the cell and the length of its gradient | 000 | 4*
C40 | How far an LSTM remembers: more than 100 steps? | 000 | 4*
C41 | 1997: explicit memory, learned use | 004 | 4
C42 | Gated units are drop-in: stacking, plain backpropagation, cost | 002 003 | 4 5
C43 | The GRU | 001 002 | 4*
C44 | The GRU keeps by closing its update gate | 002 | 4*
C45 | GRU or LSTM: parameters, speed, quality | 001 002 | 4*
C46 | Encoder and decoder: the probability of one sequence given another | 000 001 002 003 004 | 6
C47 | Lengths and word order differ; the end symbol | 003 004 | 6
C48 | The context vector | 003 | 6
C49 | Context at the first step only, or at every step | 003 | 6*
C50 | Greedy decoding | 003 | 6
C51 | The bottleneck of the last state | 000 001 003 | 6*
C52 | Attention as a weighted sum of states | 000 | 7
C53 | One set of weights per output step | 000 001 003 004 | 7*
C54 | Dot and bilinear scores | 003 | 7
C55 | Attention avoids the bottleneck and uncovers the alignment | 000 004 | 7*
C56 | Attention on long sentences | 002 | 7*
C57 | A direct connection for information and gradient | 004 | 7
C58 | Attention over an image | 000 | 7
C59 | Handwriting conditioned on text: the soft window | 004 | 7*
C60 | Self-attention, and whether an item attends to itself | 000 | 8*
C61 | Query, key and value | 002 | 8
C62 | All outputs at once: a few matrix products | 000 002 | 8
C63 | Scaled dot-product attention | 001 002 | 8*
C64 | Multi-head attention | 000 001 002 | 8 10
C65 | Three uses of attention in the Transformer | 001 | 9
C66 | Position encodings | 000 001 002 | 9*
C67 | Residuals, normalisation, dropout | 000 001 | 9
C68 | Adam with warm-up and decay | 001 | 9*
C69 | Beam search and the length | 001 | 10
C70 | Is attention cheap? Counting the operations | 001 | 8*
C71 | Sequential steps of an RNN and of a Transformer | 000 002 004 | 8*
C72 | RNN against Transformer | 002 | 9*
C73 | Self-attention in place of recurrence | 002 | 8
C74 | What "it" refers to | 002 | 10
C75 | Translation and scale | 000 001 004 | 9 10
C76 | The Transformer as a program that writes tokens | 001 | 10
C77 | The GPT block looks back only | 001 | 11
C78 | Striding over a long text | 002 | 11*
C79 | GPT-2 to GPT-4 and human feedback | 002 | 14*
C80 | BERT: encodings from both sides | 001 002 | 12 13
C81 | [CLS] and [SEP] | 001 | 12* 13
C82 | Token, segment and position embeddings | 001 | 12
C83 | Masked language modelling | 001 | 12*
C84 | Next sentence prediction | 001 | 12
C85 | The size of BERT-Large | 001 | 12*
C86 | The text BERT was trained on | 002 | 12*
C87 | How BERT was trained | 002 | 12*
C88 | Fine-tuning: add a layer, freeze or tune | 001 002 | 13
C89 | COMET: completing a knowledge base by generation | 001 | 11
C90 | Relatives: RoBERTa, ViT, wav2vec | 000 004 | 14
C91 | Frameworks then and now | 001 | 0
C92 | What changed between 1987 and 2021 | 001 | 9
C93 | What a reader should know: representations, word2vec, invariance, unfolding, softmax | 001 | 1 3 6
C94 | A history: 1986 to ChatGPT | 004 | 0*
C95 | In a deep bidirectional network each layer reads both directions of the one below | 001 | 5
C96 | Attention as a soft look-up of keys and values | 001 002 | 8
C97 | One set of pretrained weights starts every task | 001 002 | 13*
C98 | LSTM as the default; the Transformer and the two "it" sentences | 002 | 4* 10*
C99 | What an encoder may be; autoencoders | 001 002 003 | 6
C100 | The full cross-entropy; the distribution at each step; n-gram and HMM baselines | 003 004 | 3
C101 | The striding picture; the index as position against sines | 000 002 | 11 9*
C102 | The Iris program of the decks, then and now | 001 | 0*
C103 | Every reading of the decks in one list | 000 001 002 003 004 |
""")
