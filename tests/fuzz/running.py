"""How hostile calls are tried."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.outcomes import complaint

# Calls of each kind in the default run, and in the long one: 17,500 in all.
FEW, MANY = 6, 2500


def try_calls(strategy, n_calls, offset):
    """Fail with the smallest call of a strategy about whose outcome there is a complaint.

    Parameters
    ----------
    strategy : hypothesis strategy
        Of callables with ``names``, one of which errors must name.
    n_calls : int
    offset : int
        Of the seed: the same calls are tried every time.
    """

    @seed(offset)
    @settings(
        max_examples=n_calls,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(strategy)
    def attempt(call):
        wrong = complaint(call, call.names, also=getattr(call, "also", ()))
        assert wrong is None, wrong

    attempt()
