"""The documentation site: `dev/docs` builds it from the Markdown pages of this folder."""

project = 'Kiln'
author = 'the authors of Kiln'
copyright = author
extensions = ['myst_parser']
source_suffix = {'.md': 'markdown'}
root_doc = 'index'
exclude_patterns = ['data']

# Anchors are those of GitHub, so that links work in both places.
myst_heading_anchors = 4
# Blocks hold what programs print, which no highlighter understands. Links are checked by a test (`docs::links`), which also
# knows the files outside of this folder.
suppress_warnings = ['misc.highlighting_failure', 'myst.xref_missing']

html_theme = 'furo'
html_title = 'Kiln'
html_copy_source = False
html_show_sphinx = False
