"""What each labelled equation is called, in the words that a reader would search for."""

from __future__ import annotations

NAMES = dict(
    row.split(" | ")
    for row in """
eq-leaky-average | Leaky average, the smallest recurrence
eq-causal-conv | Causal convolution over time
eq-receptive-field | Receptive field of stacked dilated convolutions
eq-rnn-step | One step of an RNN (Elman network)
eq-rnn-forward | Forward pass of an RNN, the loop over time
eq-softmax | Softmax
eq-torch-rnn | RNN step as torch writes it, with two biases
eq-cross-entropy | Cross-entropy loss over real tokens (padding left out)
eq-central-difference | Central difference, numerical gradient check
eq-step-backward | Backward pass of one RNN step
eq-bptt | Backpropagation through time (BPTT)
eq-jacobian-product | Jacobian product, vanishing and exploding gradient
eq-clip | Gradient clipping by the global norm
eq-truncated | Truncated backpropagation through time
eq-spectral-radius | Spectral radius, largest eigenvalue
eq-chain-rule | Chain rule of probability, language model
eq-bigram | Bigram model with add-k smoothing
eq-kneser-ney | Kneser–Ney smoothing
eq-hmm-forward | Forward algorithm of the hidden Markov model
eq-sequence-logprob | Log-probability of a sequence
eq-perplexity | Perplexity
eq-tying | Weight tying of embedding and output layer
eq-temperature | Softmax with temperature
eq-top-p | Top-p (nucleus) sampling
eq-inverse-cdf | Sampling by the inverse cumulative distribution
eq-sgns | Skip-gram with negative sampling (word2vec)
eq-lstm-gates | LSTM gates: forget gate, input gate, output gate, candidate
eq-lstm-cell | LSTM cell state: forget and add
eq-lstm-state | LSTM hidden state (output gate)
eq-peephole | LSTM with peepholes
eq-gru-gates | GRU gates: update gate, reset gate
eq-gru-before | GRU candidate, reset before the matrix
eq-gru-after | GRU candidate, reset after the matrix
eq-gru-state | GRU hidden state
eq-torch-gru | GRU as torch writes it
eq-carousel | Gradient of the LSTM cell, constant error carousel
eq-stack | Stacked (deep) RNN
eq-birnn | Bidirectional RNN
eq-deep-birnn | Deep bidirectional RNN
eq-bi-summary | Summary of a bidirectional RNN, its two last states
eq-masked-mean | Mean pooling with a mask
eq-span-f1 | Precision, recall and F1 of spans
eq-shift-right | Teacher forcing, target shifted right
eq-encoder | Encoder, bidirectional GRU
eq-context-vector | Context vector of the encoder
eq-decoder-state | Decoder state with context
eq-decoder-output | Decoder output scores
eq-greedy | Greedy decoding
eq-scheduled | Scheduled sampling
eq-edit-distance | Edit distance (Levenshtein)
eq-error-rate | Error rate by edit distance
eq-score-dot | Attention score: dot product
eq-score-bilinear | Attention score: bilinear (Luong, general)
eq-score-additive | Attention score: additive (Bahdanau)
eq-attention-weights | Attention weights, masked softmax
eq-attention-context | Context of attention, weighted mean
eq-attention-look | Decoder that looks: context and weights
eq-attention-state | Decoder state with attention
eq-attention-output | Decoder output with attention
eq-attention-pool | Attention pooling without a query
eq-image-attention | Attention over an image
eq-window-moves | Moving window of Graves, its parameters
eq-soft-window | Soft window of Graves
eq-qkv | Query, key and value projections
eq-attention | Scaled dot-product attention
eq-multi-head | Multi-head attention
eq-split-heads | Splitting into heads
eq-merge-heads | Merging heads
eq-causal-mask | Causal mask
eq-flops | Number of operations (FLOPs) of matrix products
eq-permutation-gap | Permutation equivariance, measured
eq-positions | Positional encoding, sines and cosines
eq-layer-norm | Layer normalisation
eq-feed-forward | Feed-forward network of the Transformer
eq-masks | Source and target masks of the Transformer
eq-post-norm | Post-norm residual
eq-pre-norm | Pre-norm residual
eq-encoder-layer | Encoder layer of the Transformer
eq-decoder-layer | Decoder layer of the Transformer
eq-embed | Embedding plus position, the input of the Transformer
eq-dropout | Dropout
eq-adam-moments | Adam, running means (moments)
eq-adam-step | Adam, the step
eq-noam | Learning rate with warm-up (Noam schedule)
eq-beam | Beam search score
eq-length | Length normalisation of a beam
eq-precision | Clipped n-gram precision
eq-bleu | BLEU
eq-rollout | Attention rollout
eq-induction | Induction score of a head
eq-windows | Windows of a long text, inputs and targets
eq-gpt-block | GPT block
eq-gelu | GELU in the feed-forward network
eq-bpe | Byte-pair encoding (BPE) merge
eq-generate | Autoregressive generation
eq-gpt-parameters | Number of parameters of a GPT
eq-triple | COMET, loss on the object of a triple
eq-bert-input | BERT input row: CLS, SEP, PAD
eq-mlm-chosen | Masked language model: which tokens are chosen
eq-mlm-mask | Masked language model: 80, 10, 10 rule
eq-mlm-loss | Masked language model loss
eq-nsp | Next sentence prediction pairs
eq-bert-embed | BERT embeddings: token, segment, position
eq-wordpiece | WordPiece tokenization
eq-warmup-decay | Learning rate with warm-up and linear decay
eq-classification-head | Classification head of BERT
eq-span-loss | Span loss for question answering
eq-best-span | Best answer span
eq-sentence-embedding | Sentence embedding, mean and unit length
eq-bradley-terry | Bradley–Terry preference probability
eq-bt-loss | Reward model loss (Bradley–Terry)
eq-kl-penalty | Reward with KL penalty
eq-policy-gradient | Policy gradient (REINFORCE) with a baseline
eq-patchify | Patches of an image
eq-vit-embed | Vision Transformer embedding
eq-cosine | Cosine similarity
eq-contrastive | Contrastive loss (InfoNCE, wav2vec 2.0)
eq-evidence | Evidence of a causal model with no leak
""".strip().splitlines()
)
