"""One chain of NumPyro's NUTS on a problem file of `hmc.py`, which calls this script.

    python hmc_numpyro.py PROBLEM DRAWS N_DRAWS N_WARMUP SEED

Runs under an interpreter that has NumPyro and need not have this package.
"""

from __future__ import annotations

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer import MCMC, NUTS

jax.config.update("jax_enable_x64", True)


def main():
    """Warm up and sample twice each, and time the second, compiled, time."""
    problem, out, *numbers = sys.argv[1:]
    n_draws, n_warmup, seed = (int(x) for x in numbers)
    data = np.load(problem)
    n, kappa = jnp.asarray(data["n"]), jnp.asarray(data["kappa"])
    anchors, values = data["anchors"], data["values"]
    n_words, k = len(n), values.shape[1]
    free = np.setdiff1d(np.arange(n_words), anchors)
    precision = float(data["precision"])

    def potential(theta):
        rho = theta[: n_words * k].reshape(n_words, k)
        alpha = jnp.zeros((n_words, k)).at[anchors].set(values)
        alpha = alpha.at[free].set(theta[n_words * k :].reshape(-1, k))
        t = rho @ alpha.T
        log_likelihood = jnp.sum(kappa * t - n * (jnp.abs(t) / 2 + jnp.log1p(jnp.exp(-jnp.abs(t)))))
        return 0.5 * precision * jnp.sum(theta**2) - log_likelihood

    mcmc = MCMC(
        NUTS(potential_fn=potential), num_warmup=n_warmup, num_samples=n_draws, progress_bar=False
    )
    fields = ("num_steps", "diverging")
    start = jnp.asarray(data["start"])
    for key in (seed + 1000, seed):  # the first compiles
        begin = time.process_time()
        mcmc.warmup(jax.random.PRNGKey(key), init_params=start, extra_fields=fields)
        warmup_seconds = time.process_time() - begin
    for _ in range(2):  # the first compiles
        begin = time.process_time()
        mcmc.run(mcmc.post_warmup_state.rng_key, extra_fields=fields)
        draws = np.asarray(mcmc.get_samples())
        seconds = time.process_time() - begin
        mcmc.post_warmup_state = mcmc.last_state
    extra = mcmc.get_extra_fields()
    np.savez(
        out, draws=draws, warmup_seconds=warmup_seconds, seconds=seconds,
        gradients=np.asarray(extra["num_steps"]), divergences=int(extra["diverging"].sum()),
    )  # fmt: skip


if __name__ == "__main__":
    main()
