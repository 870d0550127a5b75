"""Bayesian embedding, sense and topic models as scikit-learn estimators."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from .corpus.vocabulary import Vocabulary, build_vocabulary
from .dynamic.estimator import DynamicSGNS
from .io.models import load
from .posterior.posterior import Posterior
from .regression import regress
from .senses.estimator import DiSCSenseModel
from .senses.priors import SensePrior
from .settings import over_settings
from .sgns.counting import PairCounts
from .sgns.estimator import BayesianSGNS
from .sgns.priors import GraphPrior, GroupedPrior, InformativePrior
from .sgns.shards import PairShard, count_pairs
from .topics.estimator import GaussianLDA

try:
    __version__ = version("skbayesembed")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "BayesianSGNS",
    "DiSCSenseModel",
    "DynamicSGNS",
    "GaussianLDA",
    "GraphPrior",
    "GroupedPrior",
    "InformativePrior",
    "PairCounts",
    "PairShard",
    "Posterior",
    "SensePrior",
    "Vocabulary",
    "__version__",
    "build_vocabulary",
    "count_pairs",
    "load",
    "over_settings",
    "regress",
]
