"""How long chains of topics go on, and what to say of those that have not mixed."""

from __future__ import annotations

import numpy as np

from ..common.mixing import FEW_DRAWS, RHAT_LIMIT, SHARE_RHAT_LIMIT, rhat_text
from ..common.trial import two_digits
from ..common.warnings import note_user
from ..inference.gibbs import sample_gibbs
from ..inference.lengthening import lengthened, wanted
from ..posterior.summary import ess, rhat
from ..posterior.worst import shares_of

# Distance of draws up to which chains are made longer, and the tokens times topics that they may
# visit for it: some minutes of processor time.
_MOST_THIN, _MOST_VISITS = 16, 2e11
# Half of the topics have an R-hat above this where chains are in different places: twenty times as
# many sweeps did not bring them together (benchmarks/topics_mixing.py).
APART = 1.5
# Effective draws of half a chain with which R-hat is about 1.05, and times of autocorrelation after
# which a chain has left its start.
_OF_HALF, _LEAVES = 10, 5
# Above the limit of R-hat chains are taken four times as long at least, and twice below it: the
# effective draws of chains that are apart are hardly fewer than the chains, however slow these are.
_TIMES_FAR, _TIMES = 4, 2
# Chains whose topics resemble each other less than this are in different modes.
SAME = 0.8
# Draws of all chains from which few effective ones are told of, and from which there is a warning.
_TOLD, _WARNED = 200, 400


def run(estimator, problem, model, settings, seed, *, split_blocks=False):
    """Chains of a ``model``, as of `sample_gibbs`: as ``thin`` has them, longer where need be."""

    def sample(settings, states):
        return sample_gibbs(
            model,
            settings,
            n_chains=estimator.chains,
            seeds=seed,
            n_jobs=estimator.n_jobs,
            split_blocks=split_blocks,
            verbose=estimator.verbose,
            states=states,
        )

    if estimator.thin != "auto":
        return sample(settings, None)
    visits = estimator.chains * settings.draws * problem.documents.n_tokens
    most = min(_MOST_THIN, _MOST_VISITS / max(1, visits * estimator.n_components))
    n = wanted(settings, estimator.chains)
    return lengthened(sample, settings, lambda result: _tell_enough(result, n), int(max(1, most)))


def _tell_enough(result, n):
    """Whether the shares have ``n`` effective draws, or longer chains are no help."""
    shares = shares_of(result.draws["counts"])
    return not np.fmin.reduce(ess(shares)) < n or apart(rhat(shares))


def apart(found):
    """Whether chains with these R-hats of the shares are in different places."""
    return bool(np.nanmedian(found) > APART) if np.isfinite(found).any() else False


def _times_at_least(found):
    """How many times as long chains with these R-hats of shares are to be, at least."""
    return _TIMES_FAR if np.fmax.reduce(np.ravel(found)) > SHARE_RHAT_LIMIT else _TIMES


def agreement(posterior):
    """What chains that have not mixed have in common, in a sentence; empty of one chain."""
    if posterior.n_chains < 2:
        return ""
    means = shares_of(posterior["counts"]).mean(axis=1)
    off = 100 * np.ptp(means, axis=0) / np.maximum(means.mean(axis=0), 1e-300)
    alike = np.floor(100 * posterior.attrs["chain_similarity"] + 1e-9) / 100
    return (
        f"In all chains topics have the same words (cosines of {alike:.2f} or more), and their "
        f"shares differ by {two_digits(np.median(off))} % in the median, {two_digits(off.max())} % "
        "at most: use words and shares, without intervals, as far as that will do. Chains start "
        "from the same clusters: whether other starts come to these topics, fits with another "
        "random_state tell. "
    )


def longer(posterior, index):
    """What ``thin`` and ``warmup`` topics ``index`` call for, by their effective draws.

    Those of each chain are counted by themselves, as chains that are apart would call for far more
    than it takes to leave a start. Chains that are too short to show how slowly they move call for
    too little, so that ``thin`` and ``warmup`` are multiplied in any case, by more where R-hat is
    large. The number in the text is that of all chains, as `report` has it.
    """
    attrs, n_chains = posterior.attrs, posterior.n_chains
    shares = shares_of(posterior["counts"])[..., index]
    # a chain in which a share stands still has one
    found = sum(np.nan_to_num(ess(chain[None]), nan=1.0) for chain in shares)
    least = min(found.min(), shares[..., 0].size)
    sweeps = attrs["draws_made"] * attrs["thin"]
    slowness = n_chains * sweeps / least
    of_all = shares_of(posterior["counts"])
    together = np.fmin.reduce(ess(of_all, n_runs=posterior.n_runs))
    together = min(together, least) if np.isnan(together) else together
    more = _times_at_least(rhat(of_all, posterior.n_runs)[index])
    thin = _rounded_up(max(2 * _OF_HALF * slowness / attrs["draws_made"], more * attrs["thin"]))
    warmup = _rounded_up(max(_LEAVES * slowness, more * attrs["warmup"], 1))
    times = (warmup + attrs["draws_made"] * thin) / (attrs["warmup"] + sweeps)
    return (
        f"take at least thin={thin}, warmup={warmup} (it is {attrs['thin']} and "
        f"{attrs['warmup']}, with which one share has {two_digits(together)} effective draws), in "
        f"{two_digits(times)} times the time (more may be needed: chains that have not mixed do "
        "not show how slow they are)"
    )


def note_on_few(posterior, size, found):
    """Tell of a fit whose intervals of shares are rough, and of chains that would do.

    Parameters
    ----------
    posterior : Posterior
    size, found : ndarray of shape (n_topics,)
        Effective draws and R-hat of the shares.
    """
    attrs, n = posterior.attrs, posterior.n_chains * posterior.n_draws
    if attrs.get("converged") is False or not _TOLD <= n < _WARNED or np.isnan(size).all():
        return
    k = int(np.nanargmin(size))
    if size[k] >= FEW_DRAWS:
        return
    times = FEW_DRAWS / size[k]
    if found[k] > RHAT_LIMIT:
        times = max(times, _times_at_least(found[k]))
    thin, warmup = (_rounded_up(times * max(1, attrs[name])) for name in ("thin", "warmup"))
    rhat_of = "" if np.isnan(found[k]) else f" (R-hat {rhat_text(found[k])})"
    note_user(
        f"the {n} draws are worth only {size[k]:.0f} independent ones of the share of topic {k}"
        f"{rhat_of}. Words and mean shares are well known; for intervals of shares, and of effects "
        f"on them, {FEW_DRAWS} are wanted: thin={thin}, warmup={warmup} (it is {attrs['thin']} and "
        f"{attrs['warmup']}), in about {two_digits(times)} times the time."
    )


def _rounded_up(x):
    """The next whole number with two digits that are not zero."""
    unit = 10 ** max(0, int(np.floor(np.log10(x))) - 1)
    return int(np.ceil(x / unit - 1e-9)) * unit
