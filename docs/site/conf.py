"""How the documentation site is built: MyST pages in the theme Furo; called by build.py beside it."""

from __future__ import annotations

from konsil.version import __version__

project = "konsil"
author = "The konsil developers"
copyright = "The konsil developers, Apache License 2.0"
release = version = __version__
html_title = f"konsil {__version__}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["example/**"]
myst_enable_extensions = ["colon_fence", "deflist"]
# The pages' own headings are link targets, as they are where the repository is browsed.
myst_heading_anchors = 4
# `path/to/a/file.py` in prose is no page; links to files of the repository are rewritten by build.py.
suppress_warnings = ["myst.header"]
nitpicky = False

html_theme = "furo"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {
    "source_repository": "",
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#8fc1e3", "color-brand-content": "#8fc1e3"},
}
# Prompts and outputs are no part of what a reader copies.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
language = "en"
pygments_style = "friendly"
pygments_dark_style = "monokai"


def setup(app):
    """Tables in the pages' code blocks are plain text."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("csv", TextLexer)
