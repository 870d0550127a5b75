"""Effective draws for each CPU second by the samplers that draw effects of units.

    SKBAYESEMBED_DATA=... python benchmarks/senses_units.py

Two senses of *bank* and *banks* in the State of the Union addresses, presidents being units, and
three of *kosmos*, works being units. Times are those of warm-up and draws, without the search for
modes, which all solvers have in common.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from senses import Clock, load

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import extract_snippets, fetch_state_of_the_union
from skbayesembed.posterior.summary import ess, rhat

_SAMPLERS = {
    "hmc": {"solver": "hmc", "draws": 500, "thin": 2},
    "gibbs": {"solver": "gibbs", "draws": 1000, "thin": 8},
}


def bank():
    """Counts, covariates and parameters."""
    addresses = fetch_state_of_the_union()
    uses = extract_snippets(
        addresses.data, ["bank", "banks"], times=addresses.year, units=addresses.president,
        stop_words="english", min_count=3,
    )  # fmt: skip
    bins = {"bins": range(1790, 2031, 40)}
    return uses.counts, {"times": uses.times, "units": uses.units}, {"n_senses": 2} | bins


def kosmos():
    """The same."""
    counts, given = load("kosmos_collocates")
    return counts, {n: given[n] for n in ("times", "genres", "units")}, {"n_senses": 3}


def main():
    for words in (bank, kosmos):
        counts, covariates, parameters = words()
        n_units = np.unique(covariates["units"]).size
        print(f"{words.__name__}: {counts.shape[0]} snippets of {n_units} units", flush=True)
        for name, options in _SAMPLERS.items():
            model = DiSCSenseModel(
                **parameters, n_starts=2, warmup=500, chains=2, random_state=0, **options
            )
            with warnings.catch_warnings(), Clock() as clock:
                warnings.simplefilter("ignore")
                begun = time.process_time()
                found = model.fit(counts, **covariates).posterior_
                seconds = time.process_time() - begun - clock.seconds
            prevalence, sd = found["prevalence"], found["unit_sd"]
            least = ess(prevalence).min()
            print(
                f"  {name}: {seconds:.0f} CPU s, R-hat {rhat(prevalence).max():.3f}; effective "
                f"draws a CPU s: unit_sd {ess(sd) / seconds:.2g}, least of prevalences "
                f"{least / seconds:.2g}; unit_sd {sd.mean():.3f}, log likelihood "
                f"{found.stats['log_likelihood'].mean():.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
