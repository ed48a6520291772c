"""How Sphinx builds the documentation site; `make docs` writes it to out/site."""

from __future__ import annotations

import sys
from pathlib import Path

from flashmesh import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "flashmesh"
author = "The flashmesh authors"
project_copyright = "The flashmesh authors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "diagrams",
    "long_pages",
    "questions",
    "repository_links",
]
root_doc = "index"
exclude_patterns = ["_extensions"]

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
# A fence of this kind is a diagram, here as where Markdown is shown without this site.
myst_fence_as_directive = {"mermaid"}

# A copy of a command has neither its prompt nor what it prints.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

# Options keep their two hyphens.
smartquotes = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
# Names of classes as a user writes them, not of the modules that define them.
python_use_unqualified_type_names = True
add_module_names = False
# A name in backticks is code, as in Markdown.
default_role = "code"

html_theme = "furo"
html_title = f"flashmesh {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["folds.js"]
html_copy_source = False
html_show_sphinx = False
# The page is complete without a network: system fonts, no script from elsewhere.
html_theme_options = {"navigation_with_keys": True}
