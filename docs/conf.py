"""The site of the documents, for Sphinx: make docs. docs/decisions/13-the-site-is-made-by-sphinx.md has the reasons.

The source folder is the repository's root: README.md, CONTRIBUTING.md and docs/
link to each other as they do on GitHub.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torusweep

sys.path.insert(0, str(Path(__file__).with_name("site")))  # the extension docstrings

project = "torusweep"
version = release = torusweep.__version__
copyright = "the authors of torusweep; MIT licence"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_click", "sphinx_copybutton", "docstrings"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "benchmarks/README.md"]
exclude_patterns = [
    ".*",
    "build",
    "results",
    "paper.md",
    "**/.ipynb_checkpoints",
]  # the first three are not even walked

html_theme = "furo"
html_title = f"torusweep {release}"
html_static_path = ["site/torusweep.css"]
html_css_files = ["torusweep.css"]
html_extra_path = ["site/index.html"]  # leads from the site's root to docs/index.html
html_copy_source = False
html_show_sphinx = False
smartquotes = False  # -- and quotes are of commands

highlight_language = "text"  # indented blocks are commands, formulas and tables alike
copybutton_prompt_text = "$ "  # of a console's text, the button copies the commands alone
myst_heading_anchors = 4  # with GitHub's anchors
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "force"  # what a notebook shows is what this version answers
nb_execution_timeout = 240
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # a sweep writes its results
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
