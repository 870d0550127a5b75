"""The best of several searches for the mode of largest density, as a point estimate."""

from __future__ import annotations

import numpy as np

from ..common.compiling import waiting_time
from ..common.random import generators
from ..common.searches import Unreached
from ..common.trial import Measured, current
from ..common.warnings import warn_user
from ..inference.contracts import Result
from ..inference.mode import find_mode
from ..inference.threads import OneBlasThread
from .mode import order_of_labels
from .model import SenseModel, permuted
from .modes import Modes
from .starts import first_starts, tell_first


def solve(estimator, problem, settings, seed):
    """Search from draws of the prior, a `Result` of one draw."""
    model = SenseModel(problem.data, problem.n_senses, problem.prior)
    best = None
    rngs, trial = generators(problem.seed, first_starts(estimator.n_starts)), current()
    if trial is not None:
        with OneBlasThread(), trial.repeated(len(rngs)):
            _search(estimator, model, model.init(rngs[0]))
        raise Measured
    with OneBlasThread(), waiting_time() as clock:
        for i, rng in enumerate(rngs):
            if i == 1:
                tell_first(clock(), 1, len(rngs))
            theta, facts = _search(estimator, model, model.init(rng))
            if best is None or facts["lp"] > best[1]["lp"]:
                best = theta, facts
            if facts["interrupted"]:
                best[1]["interrupted"] = True
                break
    theta, facts = best
    if not (facts["converged"] or facts["interrupted"]):
        warn_user(
            f"The mode was not reached in max_iter={estimator.max_iter} iterations: raise "
            "max_iter, or tol.",
            Unreached,
        )
    order = np.arange(problem.n_senses)
    if not (problem.data.labels >= 0).any():
        order = np.argsort(-model.sense_proba(model.unpack(theta)).sum(axis=0), kind="stable")
    values = permuted(model.observe(theta), order)
    draws = {name: value[None, None] for name, value in values.items()}
    return Result(draws, facts=facts, learned={"modes_": Modes()})


def _search(estimator, model, start):
    """A search for the mode; once more where other names of senses explain the known ones."""
    options = {"max_iter": estimator.max_iter, "tol": estimator.tol, "warn": False}
    options["keep"] = True
    theta, facts = find_mode(model, start, **options)
    arrays = model.unpack(theta)
    order = order_of_labels(model.data, model.n_senses, model.prior, arrays)
    if facts["interrupted"] or np.array_equal(order, np.arange(order.size)):
        return theta, facts
    return find_mode(model, model.pack(permuted(arrays, order)), **options)
