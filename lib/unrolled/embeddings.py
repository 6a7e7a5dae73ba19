"""Word vectors counted from raw text, without any label: who stands beside whom (chapter 1)."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import coo_matrix
from torch import Tensor


def ppmi_vectors(ids: np.ndarray, V: int, E: int, window: int = 5) -> Tensor:
    """One vector per word, from how often two words stand within ``window`` words of each other.

    The positive pointwise mutual information max(0, log p(a, b) / (p(a) p(b))) of all pairs is a V x V table; its E
    strongest directions are the vectors. Factorising that table is what word2vec does implicitly
    (Levy and Goldberg 2014).

    Args:
        ids: (n,) the text as word ids; 0 and 1 (pad and unknown) count as gaps.
        V: size of the vocabulary.
        E: length of a vector.
        window: how far apart two words may stand.

    Returns:
        (V, E) vectors of mean length one; words that never occur have zeros.
    """
    from sklearn.decomposition import TruncatedSVD  # here, because its import takes a second

    counts = coo_matrix((V, V)).tocsr()
    for distance in range(1, window + 1):
        left, right = ids[:-distance], ids[distance:]
        kept = (left > 1) & (right > 1)
        pairs = coo_matrix((np.ones(kept.sum()), (left[kept], right[kept])), shape=(V, V)).tocsr()
        counts = counts + pairs + pairs.T
    table, n = counts.tocoo(), counts.sum()
    share = np.asarray(counts.sum(0)).ravel() / n
    pmi = np.log(table.data / n / (share[table.row] * share[table.col]))
    ppmi = coo_matrix((np.maximum(pmi, 0), (table.row, table.col)), shape=(V, V)).tocsr()
    vectors = TruncatedSVD(E, random_state=0).fit_transform(ppmi) if E < V else ppmi.toarray()
    lengths = np.linalg.norm(vectors, axis=1)
    return torch.tensor(vectors / lengths[lengths > 0].mean(), dtype=torch.float32)
