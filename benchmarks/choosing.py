"""Which number of components, window and precision do held-out presidents prefer?

Inaugural addresses are dealt out by president to five folds; the mode is fitted to
four, and every president of the fifth is scored. Settings are compared by the differences of these
scores, president by president. The page "Choosing settings" of the guide has the tables.

    SKBAYESEMBED_DATA=... python benchmarks/choosing.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_inaugural
from skbayesembed.metrics import compare_models, score_units

DATA = Path(os.environ.get("SKBAYESEMBED_DATA", "."))


def addresses():
    """Texts of the inaugural addresses, and their presidents."""
    found = fetch_inaugural()
    return found.data, found.president


def compared(name, settings, texts, presidents):
    """Print the comparison of some settings, and return the best."""
    begun, found = time.process_time(), {}
    for setting in settings:
        options = ", ".join(f"{k}={v}" for k, v in setting.items())
        model = BayesianSGNS(solver="map", random_state=0, **setting)
        found[options] = score_units(model, texts, presidents)
    seconds = time.process_time() - begun
    print(f"\n{name}: {len(settings)} settings, {seconds:.0f} CPU-seconds")
    table = compare_models(found)
    print(table)
    by_name = dict(zip(found, settings, strict=True))
    return by_name[table.names[0]]


def main():
    """Precision and components together, then the window, then what ``"auto"`` would choose."""
    texts, presidents = addresses()
    print(f"{len(texts)} addresses of {len(set(presidents))} presidents")
    grid = [
        {"n_components": k, "prior_precision": precision}
        for k in (5, 20, 50)
        for precision in (4, 16, 64)
    ]
    best = compared("components and precision", grid, texts, presidents)
    windows = [best | {"window": window} for window in (2, 5, 10)]
    best = compared("window", windows, texts, presidents)
    compared("chosen and 'auto'", [best, best | {"prior_precision": "auto"}], texts, presidents)


if __name__ == "__main__":
    main()
