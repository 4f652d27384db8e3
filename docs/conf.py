"""The documentation site: `make docs`. All warnings are errors, especially broken references.

The guide of `docs/guide`, the papers' pages, and references generated from the program itself
(`docs/_ext`): commands, the scenario file's keys, schemes, profiles. The Python reference comes from
docstrings; those of the native engine are in `_engine.pyi`, and a test checks that its objects have the
same text. Warnings are errors, and a test follows every link.
"""

import sys
from pathlib import Path

import airtcp.play

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "airtcp"
author = "the airtcp authors"
copyright = author  # noqa: A001 Sphinx calls it so
version = release = airtcp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "reference",
    "paper_links",
    "search_index",
    "engine_signatures",
]
exclude_patterns = ["_build", "_ext", "contributing"]  # those who read recipes have the sources beside them
nitpicky = True
# Types of other libraries, whose documentation is unavailable to the build; type variables; names of unions.
nitpick_ignore_regex = [
    ("py:.*", r"(np|npt|numpy|polars|matplotlib|concurrent|collections|typing|pathlib|os)\..*"),
    ("py:.*", r"airtcp\..*\.T|(.*\.)?Columns|Figure|Axes|Path|PathLike|Format|ScenarioLike|Control|Traffic"),
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"airtcp {version}"
html_static_path: list[str] = []
# Placed beside the first page, which links to it, if it was built.
html_extra_path = [str(airtcp.play.PAGE)] if airtcp.play.PAGE.is_file() else []
if html_extra_path:
    tags.add("playground")  # type: ignore[name-defined]  # noqa: F821 Sphinx has it here
html_copy_source = False
html_show_sphinx = False
