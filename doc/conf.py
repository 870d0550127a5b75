"""Sphinx configuration; build with ``sphinx-build -W -b html doc doc/_build/html``."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

sys.path.insert(0, str(Path(__file__).parent))
import figure_fits  # noqa: E402

project = "skbayesembed"
author = "skbayesembed developers"
copyright = "2026, skbayesembed developers"
release = installed_version("skbayesembed")
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "**.ipynb"]
default_role = "literal"

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 200)]
rst_prolog = f".. |texts of figures| replace:: {figure_fits.SAYS}"

html_theme = "pydata_sphinx_theme"
html_title = f"skbayesembed {release}"
html_static_path = ["_static"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_align": "left",
}
html_sidebars = {"index": [], "install": [], "changelog": [], "contributing": []}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("skbayesembed",),
    "reference_url": {"skbayesembed": None},
    "plot_gallery": True,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "download_all_examples": False,
    "matplotlib_animations": False,
}

# plt.show() in an example is for those who run it by hand.
warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)
