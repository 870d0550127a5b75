"""Sphinx configuration; build with ``sphinx-build -W -b html doc doc/_build/html``."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

from sphinx.util.fileutil import copy_asset_file

HERE = Path(__file__).parent
os.environ.setdefault("MPLBACKEND", "Agg")
_data = HERE.parents[1] / "shared" / "data"
if not os.environ.get("SKBAYESEMBED_DATA") and _data.is_dir():
    os.environ["SKBAYESEMBED_DATA"] = str(_data)

sys.path.insert(0, str(HERE))
import figure_fits  # noqa: E402
import gallery_data  # noqa: E402

project = "skbayesembed"
author = "skbayesembed developers"
copyright = "2026, skbayesembed developers"
_about = metadata("skbayesembed")
release = _about["Version"]
version = release


def repository() -> str | None:
    """Address of the repository: that of the package, or of the one that builds these pages."""
    for line in _about.get_all("Project-URL") or []:
        name, _, address = line.partition(", ")
        if name == "Repository":
            return address
    built_in = os.environ.get("GITHUB_REPOSITORY")
    return f"https://github.com/{built_in}" if built_in else None


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
exclude_patterns = ["_build", "_static", "first", "**.ipynb"]
default_role = "literal"

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 200)]
_link = "Sources and tests are in :doc:`the repository </contributing>`."
if repository():
    _link = f"`Repository <{repository()}>`__."
rst_prolog = f"""
.. |texts of figures| replace:: {figure_fits.SAYS}
.. |repository| replace:: {_link}
"""

html_theme = "pydata_sphinx_theme"
html_title = "skbayesembed"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    # studies have wide tables; patterns must not overlap
    "secondary_sidebar_items": {"[!s]**": ["page-toc"], "studies/*": [], "index": []},
    "navbar_align": "left",
}
if repository():
    html_theme_options["icon_links"] = [
        {"name": "Repository", "url": repository(), "icon": "fa-brands fa-github"}
    ]
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
    "reset_modules": (
        "matplotlib",
        "seaborn",
        "gallery_data.sharp_figures",
        "gallery_data.brief_warnings",
    ),
    "remove_config_comments": True,
    # examples print what is to be read; objects of figures are not
    "capture_repr": (),
    "show_memory": False,
    "download_all_examples": False,
    "matplotlib_animations": False,
}

# plt.show() in an example is for those who run it by hand.
warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)


def choose_examples(app, config):
    """Run those examples whose data are there; the gallery says what is left out and why."""
    run = str(config.plot_gallery) not in ("0", "False")
    config.plot_gallery = str(run)  # a text, as its default is: Sphinx 9 warns of others
    if not run:
        said = "The examples were not run for these pages."
    else:
        pattern, said = gallery_data.gallery(HERE.parent / "examples")
        config.sphinx_gallery_conf["filename_pattern"] = pattern
    config.rst_prolog += f".. |examples left out| replace:: {said or 'All have been run here.'}\n"


# Formulas are drawn by one file of MathJax among these pages, without a network, if the package
# that ships it is installed.
_mathjax = find_spec("sphinx-mathjax-offline")
if _mathjax:
    mathjax_path = "mathjax/tex-svg-full.js"


def copy_mathjax(app, exception):
    """Put MathJax beside the pages."""
    if _mathjax and exception is None and app.builder.format == "html":
        folder = Path(_mathjax.origin).parent / "static" / "mathjax"
        target = Path(app.outdir) / "_static" / "mathjax"
        target.mkdir(parents=True, exist_ok=True)
        copy_asset_file(str(folder / "tex-svg-full.js"), str(target))


def setup(app):
    """Connect what is above; the gallery reads its settings at priority 10."""
    app.connect("config-inited", choose_examples, priority=5)
    app.connect("build-finished", copy_mathjax)
