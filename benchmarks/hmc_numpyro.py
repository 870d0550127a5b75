"""One chain of NumPyro's NUTS on a problem file of `hmc.py`, which calls this script.

    python hmc_numpyro.py PROBLEM DRAWS N_DRAWS N_WARMUP SEED

Runs under an interpreter that has NumPyro and need not have this package.
"""

from __future__ import annotations

import functools
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer import NUTS

jax.config.update("jax_enable_x64", True)


def main():
    """Warm up and sample, both compiled beforehand."""
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

    kernel = NUTS(potential_fn=potential)
    state = kernel.init(jax.random.PRNGKey(seed), n_warmup, jnp.asarray(data["start"]), (), {})

    def run(state, length):
        def step(state, _):
            state = kernel.sample(state, (), {})
            return state, (state.z, state.num_steps, state.diverging)

        return jax.lax.scan(step, state, length=length)

    # compiled ahead, so that it is not timed
    warm, sample = (
        jax.jit(functools.partial(run, length=n)).lower(state).compile()
        for n in (n_warmup, n_draws)
    )
    times = [time.process_time()]
    for phase in (warm, sample):
        state, found = phase(state)
        draws, steps, diverging = (np.asarray(x) for x in found)
        times.append(time.process_time())
    np.savez(
        out, draws=draws, warmup_seconds=times[1] - times[0], seconds=times[2] - times[1],
        gradients=steps, divergences=int(diverging.sum()),
    )  # fmt: skip


if __name__ == "__main__":
    main()
