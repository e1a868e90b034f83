"""Configuration of the documentation: ``sphinx-build -W -b html docs docs/_build/html``."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]
# Notebooks run in processes of their own.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])

import tcsmt  # noqa: E402

project = "tcsmt"
author = "the tcsmt authors"
copyright = "the tcsmt authors"  # noqa: A001
version = release = tcsmt.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_design",
    "generated",
    "atlas",
    "page",
]
exclude_patterns = ["_build"]
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_excludepatterns: list[str] = []

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
add_module_names = False
highlight_language = "text"
smartquotes = False  # "--option" in running text stays as it is
suppress_warnings = ["myst.header"]

html_theme = "pydata_sphinx_theme"
html_title = f"tcsmt {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["filters.js", "units.js", "atlas.js"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
}
html_sidebars = {"index": [], "install": [], "tutorial": [], "changelog": []}
