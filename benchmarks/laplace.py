"""Time and memory of ``solver="laplace"``: search for the mode, Hessian, draws, covariances.

    python benchmarks/laplace.py small
    python benchmarks/laplace.py congress

``small``: 20 components, 200 words, 1 million observations, where the Hessian is factorised.
``movielens``: 100 components, 603 words, 1 million observations. ``congress``: 100 components,
5,000 words, 10 million observations, Zipf frequencies: a million parameters, seen through products
with the Hessian. One size a process: the peak of memory is the process's. Numba's compilation is
left out by small fits beforehand.
"""

from __future__ import annotations

import argparse
import time
import warnings

from large import SIZES, peak_memory

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns import anchors
from skbayesembed.sgns import solvers as fitting
from skbayesembed.sgns.laplace import approximation, curvature

SIZES = {"small": {"n_components": 20, "n_words": 200, "n_pairs": 1_000_000}, **SIZES}
PARTS = {
    "table": (fitting, "build_model"),
    "mode by L-BFGS": (anchors, "fit_mode"),
    "mode by Newton": (approximation, "seek_mode"),
    "Hessian": (approximation, "gaussian_at"),
    "draws": (approximation.LaplaceApproximation, "deviations"),
    "covariances, exact": (approximation.LaplaceApproximation, "block_covariances"),
    "covariances, estimated": (approximation.LaplaceApproximation, "estimated_covariances"),
}


def clock(seconds):
    """Wrap the parts of a fit so that each notes its time, and all threads' CPU time."""

    def wrap(part, place, name):
        function = getattr(place, name)

        def timed(*args, **options):
            begin, cpu = time.perf_counter(), time.process_time()
            result = function(*args, **options)
            seconds[part] = time.perf_counter() - begin, time.process_time() - cpu
            wall, cpu = seconds[part]
            print(
                f"  {part}: {wall:.2f} s, CPU {cpu:.2f} s, {peak_memory():.2f} GB so far",
                flush=True,
            )
            return result

        setattr(place, name, timed)

    for part, (place, name) in PARTS.items():
        wrap(part, place, name)


def main():
    """Run one size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--max-iter", type=int, default=2000)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--prior-precision", type=float, default=1.0)
    parser.add_argument("--no-anchors", action="store_true")
    args = parser.parse_args()
    data = make_sgns(**SIZES[args.size], random_state=0)
    k = data.rho.shape[1]
    options = {
        "solver": "laplace",
        "prior_precision": args.prior_precision,
        "anchors": None if args.no_anchors else "pivot",
        "draws": args.draws,
        "n_jobs": args.n_jobs,
        "random_state": 0,
    }
    warnings.simplefilter("ignore")
    for factor_bytes in (0, curvature.FACTOR_BYTES):
        curvature.FACTOR_BYTES = factor_bytes
        for n_pairs in (300, 60_000):
            BayesianSGNS(5, **options).fit(make_sgns(120, 5, n_pairs, random_state=0).pairs)
    seconds = {}
    clock(seconds)
    before = peak_memory()
    begin, cpu = time.perf_counter(), time.process_time()
    model = BayesianSGNS(k, max_iter=args.max_iter, verbose=1, **options).fit(data.pairs)
    total, cpu = time.perf_counter() - begin, time.process_time() - cpu
    attrs = model.posterior_.attrs
    print(f"{args.size}: whole fit {total:.1f} s, CPU {cpu:.1f} s")
    print(f"  memory: {peak_memory():.2f} GB at the peak")
    print(f"  {before:.2f} GB with the data made; iterations of L-BFGS {model.n_iter_}")
    wall, cpu = (value / attrs["draws_made"] for value in seconds["draws"])
    print(f"  a draw: {wall:.3f} s, CPU {cpu:.3f} s, {attrs['draws_made']} made")
    for name, value in attrs.items():
        print(f"  {name}: {value}")


if __name__ == "__main__":
    main()
