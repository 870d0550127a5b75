"""What is recorded of draws: memory, labels, facts about the modes, draws' senses, diagnoses."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from ..common.mixing import (
    COORDINATE_RHAT_LIMIT,
    LIKELIHOOD,
    RHAT_LIMIT,
    beyond,
    note_drift,
    note_few,
    note_mixing,
)
from ..common.trial import two_digits
from ..common.warnings import warn_user
from ..inference.approximations import ReadApproximation
from ..inference.lengthening import lengthened, wanted
from ..inference.matching import mean_of_aligned, similarities
from ..inference.pooling import bytes_of_runs, note_runs, within
from ..inference.records import ChainRecord, gather
from ..posterior.naming import labels_in_words
from ..posterior.summary import ess, rhat
from ..posterior.trend import drift
from ..spine import APPROXIMATE, CHAINS, Footprint
from .exchanges import SAME
from .model import SenseModel
from .modes import Modes
from .priors import prior_of
from .starts import first_starts, that_matter

_DIMS = {
    "prevalence": ("genre", "period", "sense"),
    "chi": ("sense", "word"),
    "theta": ("period", "word"),
    "psi": ("sense", "period", "word"),
    "sigma": ("word",),
    "phi": ("genre", "period", "sense"),
    "unit_effects": ("unit", "sense"),
    "unit_sd": (),
}
# Where words have vectors.
_EMBEDDED = {"chi": ("sense", "dimension"), "theta": ("period", "dimension")}
# Bytes of the statistics of a draw: at most ten numbers.
_TRACE = 80
# As many draws take the memory of a search, of what it keeps of a mode, and of the draws that an
# approximation makes together; so many matrices of senses a search has for each period. Measured.
_SEARCHED, _KEPT, _BATCH, _FRAMES = 38, 13, 180, 10
# Likewise steps of a search and changes of its gradient, which are more than is made after it.
_REMEMBERED = 40
# R-hat of prevalences up to which chains that are longer often mix.
_SLIGHT = 1.1
# Acceptance of a chain, over the largest of one, below which it stands still for long.
_STANDING = 0.5
# Mean length of snippets above which it is worth a word that long ones mix slowly.
_MANY_WORDS = 200
# Distance of draws up to which chains are made longer.
_MOST_THIN = 8
# Draws of each chain by which chains are compared.
_COMPARED = 20


def footprint(estimator, training):
    """`Footprint` of draws of prevalences and word logits."""
    data, n_senses = training.data, estimator.n_senses
    by_period = n_senses * data.n_periods
    words = (n_senses + data.n_periods if estimator.model == "disc" else by_period) * data.n_words
    size = searched = words + data.n_genres * by_period
    if data.vectors is not None:
        effects = (n_senses + data.n_periods) * data.vectors.shape[1] + data.n_words
        size = effects + data.n_genres * by_period
    if data.works is not None:
        of_works = data.n_works * n_senses + data.n_genres * by_period
        size, searched = size + of_works, searched + of_works
    work = _work(estimator, data, 8 * searched, 8 * size)
    n_draws = int(estimator.draws) * (estimator.chains if estimator.solver in CHAINS else 1)
    approximate = estimator.solver in APPROXIMATE
    work += bytes_of_runs(training.vector_draws, n_draws * 8 * size, approximate)
    return Footprint(8 * size, _TRACE, 16 * size, covariance=False, work=work)


def _work(estimator, data, logits, draw):
    """Bytes of the search for modes, of so many of all logits, and of what is drawn together."""
    n_senses, n_starts = estimator.n_senses, first_starts(estimator.n_starts)
    of_snippets = 8 * n_senses * data.n_snippets
    # of every dimension of the vectors, the precision of its coordinates and its factor
    n_dims = 0 if data.vectors is None else data.vectors.shape[1]
    factors = 2 * 8 * n_dims * (n_senses + data.n_periods) ** 2
    search = _SEARCHED * logits + _FRAMES * 8 * n_senses**2 * data.n_periods + 6 * of_snippets
    search += factors
    if estimator.solver == "map":
        return search + _REMEMBERED * draw
    kept = n_starts * (_KEPT * logits + of_snippets)
    at_once = search * min(effective_n_jobs(estimator.n_jobs), n_starts)
    batch = _BATCH * draw if estimator.solver in APPROXIMATE else 0
    return int(kept + max(at_once, batch))


def labels(estimator, training, draws):
    """Dimensions of recorded arrays and what they run over."""
    genres = ["all"] if training.genres is None else [str(genre) for genre in training.genres]
    coords = {
        "genre": np.array(genres),
        "period": np.array([str(label) for label in training.periods.labels]),
        "sense": np.arange(estimator.n_senses),
        "word": training.words,
    }
    dims = _DIMS
    if training.data.vectors is not None:
        dims = _DIMS | _EMBEDDED
        coords["dimension"] = np.arange(training.data.vectors.shape[1])
    if training.units is not None:
        coords["unit"] = np.array([str(unit) for unit in training.units])
    return {name: dims[name] for name in dims if name in draws}, coords


def with_modes(result, modes):
    """A solver's `Result` with facts about the modes that its draws are from one of."""
    first = modes[0]
    starts = [mode.n_starts for mode in modes]
    by_others = " (0: found by exchanges of senses)" if 0 in starts else ""
    result.facts |= {
        "n_modes": len(modes), "modes_that_matter": len(that_matter(modes)[0]),
        "mode_share": first.share, "mode_starts": first.n_starts,
        "starts_by_mode": f"{', '.join(map(str, starts))} of {sum(starts)}{by_others}",
    }  # fmt: skip
    result.learned["modes_"] = Modes(modes)
    return result


def run(estimator, sample, settings):
    """Chains as ``thin`` has them: ``sample(settings, states)``, and longer where need be."""
    if estimator.thin != "auto":
        return sample(settings, None)
    n = wanted(settings, estimator.chains)
    return lengthened(sample, settings, lambda result: _tell_enough(result, n), _MOST_THIN)


def _tell_enough(result, n):
    """Whether prevalences have ``n`` effective draws, or longer chains are no help."""
    draws = result.draws["prevalence"]
    if draws.shape[-1] == 1:
        return True
    size, mixing = np.fmin.reduce(ess(draws), axis=None), np.fmax.reduce(rhat(draws), axis=None)
    return not size < n or mixing > _SLIGHT


def drawn(model, flat, facts, settings, rng):
    """`Result` of independent draws of an approximation of the flat parameters, as one chain."""
    approximation, record = ReadApproximation(model, flat), ChainRecord()
    for theta in approximation.thetas(settings.draws, rng):
        record.store(settings, model.observe(theta), model.trace(theta))
    result = gather([record], settings, False)
    result.facts |= facts
    result.approximation = approximation
    return result


def diagnose(estimator, training, posterior):
    """Warnings of chains in different modes, and of chains that have not mixed."""
    note_runs(posterior.attrs, posterior["prevalence"], "prevalences")
    if training.data.vectors is not None:
        posterior.attrs |= _without_vector(training.data)
    if estimator.solver not in CHAINS:
        return
    of_likelihood = rhat(posterior.stats["log_likelihood"], posterior.n_runs)
    if estimator.n_senses == 1:
        _look_at_likelihood(posterior, of_likelihood, training.data)
        return
    if posterior.n_chains > 1:
        given = estimator.n_senses, prior_of(estimator, training.data.works is not None)
        _compare_chains(posterior, [SenseModel(d, *given) for d in training.drawn])
    mixing = rhat(posterior["prevalence"], posterior.n_runs)
    # one diagnosis of a fit: prevalences that have not mixed tell why the likelihood has not
    told = np.fmax.reduce(mixing, axis=None) > RHAT_LIMIT
    _look_at_likelihood(posterior, of_likelihood, training.data, told)
    message = _of_unmixed(posterior, mixing, of_likelihood)
    note_mixing(posterior.attrs, mixing, "the prevalences of senses", message=message)
    values = posterior["prevalence"]
    labels = labels_in_words(posterior, "prevalence", values.shape[2:])
    flat = values.reshape(*values.shape[:2], -1)
    if posterior.n_runs == 1:
        _look_for_drift(posterior, labels, flat)
    size = ess(flat, n_runs=posterior.n_runs)
    note_few(posterior.attrs, size, labels, flat.shape[0] * flat.shape[1])


def _look_for_drift(posterior, labels, flat):
    """Warn where the log likelihood, or a prevalence, still goes one way in all chains."""
    # of all draws, of which prevalences may not be recorded
    likelihood = posterior.stats["log_likelihood"]
    found = np.append(drift(likelihood), drift(flat))
    draws = [likelihood, *np.moveaxis(flat, 2, 0)]
    note_drift(posterior.attrs, found, [LIKELIHOOD, *labels], draws)


def _without_vector(data):
    """Shares of words and tokens that have no vector: they are put where all entries are zero."""
    without = ~data.vectors.any(axis=1)
    tokens = np.bincount(data.words, data.counts, minlength=without.size)
    return {
        "words_without_vector": float(without.mean()),
        "tokens_without_vector": float(tokens[without].sum() / max(tokens.sum(), 1e-300)),
    }


def _look_at_likelihood(posterior, mixing, data, told=False):
    """Warn of word logits that are still on their way, which prevalences do not tell of.

    Only note it where another warning has ``told`` of it.
    """
    attrs = posterior.attrs
    if told:
        attrs["max_rhat_likelihood"] = float(mixing)
        return
    longest = "; snippets of very many words take longest, so cut them into shorter ones"
    advice = longest if data.lengths.mean() > _MANY_WORDS else ""
    note_mixing(
        attrs,
        mixing,
        "the log likelihood",
        name="max_rhat_likelihood",
        limit=COORDINATE_RHAT_LIMIT,
        message=(
            f"The chains have not mixed: {_on_likelihood(posterior, mixing)}, above "
            f"{COORDINATE_RHAT_LIMIT}. They are still on their way, or each is in a place of its "
            f"own. Raise warmup and draws{advice}."
        ),
    )


def _on_likelihood(posterior, mixing):
    means = ", ".join(f"{v:.1f}" for v in posterior.stats["log_likelihood"].mean(axis=1))
    return (
        "the split R-hat of the log likelihood is "
        f"{beyond(float(mixing), COORDINATE_RHAT_LIMIT)} (means by chain {means}; "
        "names='log_likelihood' of TraceDisplay)"
    )


def _of_unmixed(posterior, mixing, of_likelihood=1.0):
    """What to say of prevalences that have not mixed, with the one that did so least.

    With what there is to say of the likelihood, whose R-hat is ``of_likelihood``.
    """
    if np.all(np.isnan(mixing)):
        return None
    at = np.unravel_index(np.nanargmax(mixing), mixing.shape)
    largest, by_chain = mixing[at], posterior["prevalence"][(slice(None), slice(None), *at)]
    means = by_chain.mean(axis=1)
    # chains of equal means may differ in how they are spread, or drift together
    parts = f"It is that of sense {at[-1]}{_cell(posterior, at)}, whose means by chain are "
    parts += f"{_apart(means)} (standard deviation of its draws {two_digits(by_chain.std())})"
    if of_likelihood > COORDINATE_RHAT_LIMIT:
        parts += f"; {_on_likelihood(posterior, of_likelihood)}"
    longer = f"make chains longer (thin, which is {posterior.attrs['thin']}, and warmup)"
    others = "raise n_starts, label some snippets (y), or choose another n_senses"
    if largest <= _SLIGHT:
        advice = f"First {longer}: up to about {_SLIGHT} that is often enough. If it is not, "
        advice += f"one mode may hold more than one reading of the senses: {others}"
    else:
        advice = f"One mode may hold more than one reading of the senses: first {others}; longer "
        advice += f"chains alone seldom help above {_SLIGHT}"
    return (
        f"The chains have not mixed: the largest split R-hat of the prevalences of senses is "
        f"{beyond(largest, RHAT_LIMIT)}, above {RHAT_LIMIT}. {parts}. {advice}. "
        f"{_on_acceptance(posterior)}TraceDisplay shows chains.{within(posterior)}"
    )


def _on_acceptance(posterior):
    """What to do where a chain stands still, its steps too long for where it is; else empty."""
    if "step_size" not in posterior.stats:
        return ""
    accepted = posterior.stats["acceptance"].mean(axis=1)
    if accepted.min() >= _STANDING * accepted.max():
        return ""
    return (
        f"Chain {int(accepted.argmin())} accepted {100 * accepted.min():.0f} % of its moves and "
        f"chain {int(accepted.argmax())} {100 * accepted.max():.0f} %: steps are too long for "
        "where it is, so raise target_accept (0.95) and warmup as well. "
    )


def _cell(posterior, at):
    """Period and, of several, genre of an entry (genre, period, sense) of prevalences, in words."""
    dims, coords = posterior.dims["prevalence"], posterior.coords
    places = [str(coords[dim][i]) if dim in coords else str(i)
              for dim, i in zip(dims, at, strict=True)]  # fmt: skip
    n_genres, n_periods, _ = posterior["prevalence"].shape[2:]
    where = f" in {places[1]}" if n_periods > 1 else ""
    return where + (f" of genre {places[0]}" if n_genres > 1 else "")


def _apart(means):
    """Means of chains with the digits in which they differ, four at most."""
    for digits in (2, 3, 4):
        shown = [f"{mean:.{digits}f}" for mean in means]
        if len(set(shown)) == len(shown):
            break
    return " and ".join(shown) if len(shown) < 3 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _compare_chains(posterior, models):
    """Note how alike chains are in their senses; ConvergenceWarning if they differ too much.

    Draws of a chain are of the models in turn.
    """
    binding = models[0].binding
    chosen = np.linspace(0, posterior.n_draws - 1, min(posterior.n_draws, _COMPARED)).astype(int)
    weights = [
        mean_of_aligned(
            [models[i % posterior.n_runs].weights_of(posterior, c, i) for i in chosen], binding
        )
        for c in range(posterior.n_chains)
    ]
    least = float(similarities(weights, binding).min())
    posterior.attrs["chain_similarity"] = least
    if least < SAME:
        posterior.attrs["converged"] = False
        values = ", ".join(f"{v:.1f}" for v in posterior.stats["log_likelihood"].mean(axis=1))
        warn_user(
            "The chains are in different modes of the posterior (mean log likelihoods "
            f"{values}): their draws together are no posterior. Raise n_starts and warmup, "
            "or choose another n_senses.",
            ConvergenceWarning,
        )
