"""``python -m skbayesembed.calibration``: test the samplers, and write a page of what was found."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from .page import write_page
from .suite import MODELS, Calibration, calibrate


def chosen(models: list[str], samplers: list[str]) -> list[tuple[str, str]]:
    """Pairs of model and sampler whose names begin as asked for.

    Parameters
    ----------
    models : list of str
        Names, or what they begin with; all where empty.
    samplers : list of str
        ``solver`` or ``solver:kernel``; all where empty.

    Returns
    -------
    list of (str, str)
    """
    return [
        (name, sampler)
        for name, model in MODELS.items()
        if not models or any(name.lower().startswith(m.lower()) for m in models)
        for sampler in model.samplers
        if not samplers or sampler in samplers
    ]


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    out = argparse.ArgumentParser(prog="python -m skbayesembed.calibration", description=__doc__)
    out.add_argument("models", nargs="*", help="estimators, or what their names begin with")
    out.add_argument("--samplers", nargs="+", default=[], help="solver or solver:kernel")
    out.add_argument("--list", action="store_true", help="only list models and samplers")
    out.add_argument(
        "--share", type=float, default=0.1,
        help="of the whole run of 2,000 replications, which takes hours on two cores (default .1)",
    )  # fmt: skip
    out.add_argument("--seed", type=int, default=0, help="random_state (default 0)")
    out.add_argument("--n-jobs", type=int, default=1, help="processes (default 1)")
    out.add_argument(
        "--results", type=Path, default=Path("calibration"),
        help="folder that what is found is kept in; what is there is not made again",
    )  # fmt: skip
    out.add_argument("--page", type=Path, help="Markdown file to write, and its figure beside it")
    out.add_argument("--figure", type=Path, help="where the figure of the page goes instead")
    out.add_argument("--mutations", type=Path, help="table of mutations to put on the page")
    return out


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 1 if a sampler failed a test, else 0."""
    given = parser().parse_args(arguments)
    pairs = chosen(given.models, given.samplers)
    if not pairs:
        print("No model and sampler of these names; --list shows them.")
        return 2
    if given.list:
        for model, sampler in pairs:
            print(f"{model}: {sampler}")
        return 0
    given.results.mkdir(parents=True, exist_ok=True)
    found = []
    for model, sampler in pairs:
        label = re.sub(r"\W+", "-", f"{model} {sampler}").lower()
        path = given.results / f"{label}-{given.share:g}-{given.seed}.json"
        if path.exists():
            found.append(Calibration.load(path))
        else:
            found.append(
                calibrate(
                    model, sampler, share=given.share, random_state=given.seed,
                    n_jobs=given.n_jobs,
                )
            )  # fmt: skip
            found[-1].save(path)
        print(found[-1].line(), flush=True)
    if given.page:
        write_page(given.page, found, given.mutations, given.figure)
    return int(not all(one.passed for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
