"""
Word vectors as features of a chunker
=====================================

Text chunking cuts a sentence into phrases: [NP the pound] [VP is widely expected to take] [NP
another sharp dive]. A linear classifier labels each token from the two words and tags on either
side (as Sakaya 2015, section 6.6), with and without the words' vectors. The vectors are learned
from unlabeled text and show which words are alike, which helps if labeled sentences are few.

The sentences are from the CoNLL-2000 shared task, and the plain text is the Brown corpus. Without
tags vectors add much, and most if there are few sentences. With tags they add little, as in the
thesis (93.79 without and 93.90 with them, by a conditional random field). The run below has samples
of up to 600 sentences. With all 7,936 training sentences (``SKBAYESEMBED_EXAMPLE_FULL=1``, some
minutes) vectors gained 3 points without tags and 0.2 with them.
"""

# %%
# The sentences
# -------------

import os
import re

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_brown, fetch_conll2000

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
# All training sentences besides samples of them: some minutes.
FULL = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FULL"))
WINDOW = (-2, -1, 0, 1, 2)


def plain(word):
    """Lower case, and digits become 0."""
    return re.sub(r"\d", "0", word.lower())


def sentences(subset):
    """Sentences as lists of (word, tag, chunk label)."""
    found = fetch_conll2000(subset=subset)
    return [
        [(plain(word), tag, label) for word, tag, label in zip(*sentence, strict=True)]
        for sentence in zip(found.data, found.pos, found.chunks, strict=True)
    ]


class Tokens:
    """Columns of the tokens of all sentences: words, tags, labels, sentence."""

    def __init__(self, sentences):
        self.sentence = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])
        columns = np.array([token for s in sentences for token in s], dtype=str).T
        self.labels = columns[2]
        self.words, self.word = np.unique(columns[0], return_inverse=True)
        self.tags, self.tag = np.unique(columns[1], return_inverse=True)

    def shifted(self, values, offset, nothing):
        """Values of the tokens ``offset`` places on; ``nothing`` beyond the sentence."""
        place = np.clip(np.arange(len(values)) + offset, 0, len(values) - 1)
        inside = self.sentence[place] == self.sentence
        inside &= place == np.arange(len(values)) + offset
        shape = (-1,) + (1,) * (values.ndim - 1)
        return np.where(inside.reshape(shape), values[place], nothing)


# %%
# Features
# --------
# The features are one-hot words, optionally tags, at the five positions of the window, and the
# vectors of the words there. Each word is passed to ``transform`` as a document of one token, which
# gives its posterior mean and, with ``features="mean_std"``, the standard deviation (zeros for a
# word without a vector). ``transform`` warns that most "documents" (12,859 of 17,346) have no known
# word: these are words beyond the 5,000 most frequent ones. They are rare, and 88 % of the tokens
# have a vector. Vectors have half the length of a one-hot entry, a choice made on the 1,000
# development sentences.


def one_hot(tokens, with_tags):
    blocks = []
    for offset in WINDOW:
        for values in (tokens.word, tokens.tag) if with_tags else (tokens.word,):
            n = values.max() + 1
            column = tokens.shifted(values, offset, n)
            row = np.arange(column.size)
            blocks.append(sparse.csr_matrix((np.ones(row.size), (row, column)), (row.size, n + 1)))
    return sparse.hstack(blocks, format="csr")


def vector_features(tokens, model, with_sd):
    model.set_params(features="mean_std")
    both = model.transform([[word] for word in tokens.words])
    known = np.array([word in model.vocabulary_ for word in tokens.words])
    parts = []
    for part in np.hsplit(both, 2)[: 2 if with_sd else 1]:
        part[known] -= part[known].mean(axis=0)
        parts.append(0.5 * part / np.sqrt((part[known] ** 2).sum(axis=1).mean()))
    vectors = np.hstack(parts)[tokens.word]
    return np.hstack([tokens.shifted(vectors, offset, 0.0) for offset in WINDOW])


# %%
# The score
# ---------
# F1 of whole chunks. A chunk is correct if its first token, last token and kind are.


def chunks(labels, sentence):
    """Rows (first token, token after the last, kind) of the chunks of IOB2 labels."""
    kind = np.array([label[2:] for label in labels])
    first = np.append(True, sentence[1:] != sentence[:-1])
    new = first | (kind != np.append("", kind[:-1])) | np.char.startswith(labels, "B-")
    start = np.flatnonzero(new & (kind != ""))
    stop = np.append(np.flatnonzero(new), kind.size)
    return set(zip(start, stop[np.searchsorted(stop, start, "right")], kind[start], strict=True))


def f1(labels, truth, sentence):
    found, true = chunks(labels, sentence), chunks(truth, sentence)
    return 2 * len(found & true) / (len(found) + len(true))


# %%
# Training on some of the sentences
# ---------------------------------


def train_and_score(base, vectors, tokens, train, test):
    """F1 on the test tokens of a linear classifier trained on the training tokens."""
    base = base[:, np.unique(base[train].indices)]
    features = base[train]
    if vectors is not None:
        features = sparse.hstack([features, sparse.csr_matrix(vectors[train])], format="csr")
    # what scikit-learn's linear models read
    features.indices, features.indptr = features.indices.astype("i4"), features.indptr.astype("i4")
    passes = int(np.clip(60_000 // train.size, 3, 6))
    classifier = SGDClassifier(
        loss="log_loss", alpha=3e-5, max_iter=passes, tol=None, average=True, random_state=0,
        n_jobs=2,
    )  # fmt: skip
    classifier.fit(features, tokens.labels[train])
    weights = classifier.coef_.T
    score = base[test] @ weights[: base.shape[1]] + classifier.intercept_
    if vectors is not None:
        score += vectors[test] @ weights[base.shape[1] :]
    predicted = classifier.classes_[score.argmax(axis=1)]
    return f1(predicted, tokens.labels[test], tokens.sentence[test])


def experiment():
    """F1 of every set of features: (size, tags, vectors) to an array of one score a sample."""
    train, test = sentences("train"), sentences("test")
    texts = [[word for word, _, _ in sentence] for sentence in train]
    if not FAST:
        texts += [[plain(word) for word in text] for text in fetch_brown().data]
    model = BayesianSGNS(
        n_components=5 if FAST else 20,
        solver="vi",
        window=2,
        negative_sampling="sampled",
        max_features=500 if FAST else 5000,
        draws=2,
        tol=1e-6,
        n_jobs=2,
        random_state=0,
    )
    model.fit(texts)
    print(
        f"vectors of {len(model.words_)} words from {sum(map(len, texts))} tokens: "
        f"{model.n_iter_} sweeps"
    )
    tokens = Tokens(train + test)
    tests = np.flatnonzero(tokens.sentence >= len(train))
    vectors = {"": None, "mean": vector_features(tokens, model, False)}
    vectors["mean, sd"] = vector_features(tokens, model, True)
    # as in the thesis, 1,000 sentences are for development and the others are trained on
    usable = np.random.default_rng(0).permutation(len(train))[1000:]
    samples = {30: 2} if FAST else {50: 5, 200: 5, 600: 3}
    if FULL:
        samples[len(usable)] = 1
    scores = {}
    for with_tags in (False, True):
        base = one_hot(tokens, with_tags)
        for size, n_samples in samples.items():
            for seed in range(n_samples):
                chosen = np.random.default_rng(seed).permutation(usable)[:size]
                rows = np.flatnonzero(np.isin(tokens.sentence, chosen))
                for name, block in vectors.items():
                    score = train_and_score(base, block, tokens, rows, tests)
                    scores.setdefault((size, with_tags, name), []).append(100 * score)
    return {key: np.array(value) for key, value in scores.items()}


# %%
# The run
# -------
# Means over samples of training sentences. With more than one sample, the standard error is that of
# the *difference* that vectors make on the same sentences.

scores = experiment()
print("\nchunk F1 on the test sentences (%)\n")
print("sentences  one-hot features  no vectors   gain by mean        gain by mean, sd")
for (size, with_tags, name), score in scores.items():
    if name:
        continue
    line = f"{size:9}  {'words and tags' if with_tags else 'words':16}  {score.mean():10.2f}"
    for part in ("mean", "mean, sd"):
        gain = scores[size, with_tags, part] - score
        line += f"   {gain.mean():+6.2f}"
        se = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else np.nan
        line += f" (se {se:.2f})   " if gain.size > 1 else " (1 sample) "
    print(line.rstrip())

# %%
# The picture
# -----------
# Tags carry most of what a chunker needs. Without a tagger, vectors provide part of it.

sizes = sorted({size for size, _, _ in scores})
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, with_tags in zip(axes, (False, True), strict=True):
    for name, marker, label in (
        ("", "o", "no vectors"),
        ("mean", "s", "means of vectors"),
        ("mean, sd", "^", "means and sds of vectors"),
    ):
        means = [scores[size, with_tags, name].mean() for size in sizes]
        axis.plot(sizes, means, marker + "-", fillstyle="none", label=label)
    title = "words and tags" if with_tags else "words alone"
    axis.set(xscale="log", xlabel="training sentences", ylabel="chunk F1 (%)", title=title)
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axis.minorticks_off()
    axis.legend()
