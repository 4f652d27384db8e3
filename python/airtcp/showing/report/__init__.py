"""The report: one self-contained HTML page that opens offline, made of sections, tables and figures.

    from airtcp.showing.report import Axis, Facts, Figure, Line, Page, Section, Source, Table, Text

    cwnd = Figure(
        title="Congestion window",
        caption="Of the first seed.",
        alt="cwnd over 60 s: bbr holds 80 kB, reno saws between 10 and 60 kB.",
        x=Axis("time [s]", time=True),
        y=Axis("cwnd [kB]", from_zero=True),
        marks=[Line("reno", times, windows, scheme="reno", step=True), …],
    )
    page = Page(
        title="My link",
        summary="bbr has the best goodput, 14.8 % ± 0.7 above westwood, the next.",
        blocks=[
            Section("Summary", [Table("Goodput", ["scheme", "goodput\\nMbit/s"], [["reno", "2.30 ± 0.18"]])]),
            Section("Figures", [cwnd], schemes=["reno", "bbr"]),
            Section("Reproduce", [Facts({"seeds": "1 to 5"}), Source("Scenario", toml, "scenario.toml")]),
        ],
    )
    page.write(Path("report.html"))

All text is plain text: it is escaped, whoever wrote it. A section's `schemes` get buttons that show and hide
them in all figures below it, and their places there are their colours and symbols, in every figure alike.

Figures are data: `Line`, `Dots`, `Bars`, `Band`, `Rule` and `Heat` in axes, or in small panels of the same
axes. The page's script draws them with Plotly, which is embedded once (2 MB), only where there is a figure.
Each has its data as a table and as CSV behind a disclosure, and zooms by mouse and keyboard; those over time
(`Axis(time=True)`) zoom together. The same page gives the same bytes: no dates, no random names.

A page is sections of text, tables and figures (`blocks.py`, `figure.py`); `page.py` puts them into one HTML
file with the styles and scripts of `assets/` and a compressed plotly.js. A wheel carries only that script
of Plotly's 64 MB package (`scripts/plotly.py`; it begins with its MIT licence); the package itself is a
development dependency. Figures leave Python as data: marks that belong to a scheme, to a layer such as the
timeouts, or to a panel. The page's script draws them (`traces.js`, `layout.js`), because colours, columns
and visibility depend on the reader: theme, width, buttons, zoom. `comparison.py`, `one_run.py` and
`sweep.py` make the pages (`airtcp_studies/pages` those of the papers), `over_time.py` the figures over
time. Text is escaped where it becomes HTML (`html.py`), where it becomes JSON in a script, and where Plotly
would interpret tags.
"""

from airtcp.showing.report.blocks import Block, Facts, List, Section, Source, Table, Text
from airtcp.showing.report.figure import Axis, Band, Bars, Dots, Figure, Heat, Line, Mark, Part, Rule
from airtcp.showing.report.page import Page

__all__ = [
    "Axis",
    "Band",
    "Bars",
    "Block",
    "Dots",
    "Facts",
    "Figure",
    "Heat",
    "Line",
    "List",
    "Mark",
    "Page",
    "Part",
    "Rule",
    "Section",
    "Source",
    "Table",
    "Text",
]
