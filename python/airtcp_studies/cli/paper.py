"""`airtcp paper`: its commands and options. Each loads its implementation, e.g. `reproduce`, only when it
runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from airtcp.cli.options import JobsOption, JsonOption, ReportOption
from airtcp.cli.settings import SETTINGS

RUN = "run"
EXAMPLES = """\b
Examples:
  airtcp paper list
  airtcp paper D3
  airtcp paper decoupling P1 --seeds 20
  airtcp paper all --quick
  airtcp paper D3 --report D3.html
"""


SeedsOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Runs per scheme.  [default: enough for a verdict]")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="Run a smoke test of a few seconds, whose numbers mean nothing.")
]
OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Directory for the results and the figure.")]
DocsOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write the page and its figure to DIR."),
]


class _Group(TyperGroup):
    """Takes a name that is no command for an experiment: `airtcp paper D3` is `airtcp paper run D3`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    help="Reproduce the papers' measurements: their numbers beside ours.\n\n"
    "`airtcp paper D3` is short for `airtcp paper run D3`.",
    epilog=EXAMPLES,
    **SETTINGS,
)


@app.command("list", epilog="\b\nExample:\n  airtcp paper list\n")
def list_command() -> None:
    """List the papers and their experiments."""
    from airtcp_studies.cli.reproduce import show_list  # noqa: PLC0415 it loads Matplotlib

    show_list()


@app.command(
    "link",
    short_help="List the papers' links, or print one as a scenario.",
    epilog="\b\nExamples:\n  airtcp paper link\n"
    "  airtcp paper link decoupling/lossy-ethernet > lossy.toml && airtcp compare lossy.toml\n",
)
def link_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The link to print.  [default: list all]", show_default=False),
    ] = None,
) -> None:
    """List the papers' links, or print one as a scenario for `airtcp compare`."""
    from airtcp_studies.cli.reproduce import show_link  # noqa: PLC0415 it loads Matplotlib

    show_link(name)


@app.command(
    "cross",
    short_help="Compare every scheme on every link, in one table.",
    epilog="\b\nExamples:\n  airtcp paper cross\n  airtcp paper cross lte 3g --schemes reno,cubic,bbr,snoop\n"
    "  airtcp paper cross --quick\n",
)
def cross_command(
    links: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LINK...",
            help="Links: those of `airtcp paper link`, and 3g, lte, geo-satellite, wifi.  [default: all]",
            show_default=False,
        ),
    ] = None,
    schemes: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Schemes to compare.  [default: all]")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated duration of each run.  [default: 120s]")
    ] = None,
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    json: JsonOption = None,
    out: OutOption = Path("airtcp-out/cross"),
    docs: DocsOption = None,
    jobs: JobsOption = None,
) -> None:
    """Run every scheme on the links of all papers and on present-day links.

    Prints goodput, its share of the bound, RTT, timeouts, and the shares that competing Reno and CUBIC
    flows retain.
    """
    from airtcp_studies.cli.cross import Request, run_cross  # noqa: PLC0415 it loads Matplotlib

    run_cross(
        Request(
            links or [], schemes, duration, seeds=seeds, quick=quick, jobs=jobs, out=out, json=json, docs=docs
        )
    )


@app.command(
    "concord",
    short_help="Check airtcp's own congestion control against its requirements.",
    epilog="\b\nExamples:\n  airtcp paper concord\n  airtcp paper concord --traces mahimahi --docs docs\n"
    "  airtcp paper concord --quick\n",
)
def concord_command(
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory of capacity traces in mahimahi's format: NAME.down and NAME.up."
        ),
    ] = None,
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    json: JsonOption = None,
    out: OutOption = Path("airtcp-out/concord"),
    docs: DocsOption = None,
    jobs: JobsOption = None,
) -> None:
    """Check Concord against its acceptance gates on unseen seeds, and again with each part removed."""
    from airtcp_studies.cli.concord import Request, run_concord  # noqa: PLC0415 it loads Matplotlib

    run_concord(Request(traces, seeds=seeds, quick=quick, jobs=jobs, out=out, json=json, docs=docs))


@app.command(
    "air",
    short_help="Try the papers' ideas on the wireless links of today.",
    epilog="\b\nExamples:\n  airtcp paper air\n  airtcp paper air --docs docs\n  airtcp paper air --quick\n",
)
def air_command(
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    json: JsonOption = None,
    out: OutOption = Path("airtcp-out/air"),
    docs: DocsOption = None,
    jobs: JobsOption = None,
) -> None:
    """Compare each idea of the papers with the same sender without it, on Wi-Fi, LEO and cellular links.

    Says which ideas still help once the link layer repairs its own losses, and which harm.
    """
    from airtcp_studies.cli.air import run_air  # noqa: PLC0415 it loads Matplotlib
    from airtcp_studies.cli.study import StudyRequest  # noqa: PLC0415 likewise

    run_air(StudyRequest(seeds=seeds, quick=quick, jobs=jobs, out=out, json=json, docs=docs))


@app.command(RUN, short_help="Run experiments and compare them with the papers.", epilog=EXAMPLES)
def run_command(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Experiments (D3), papers (decoupling), or `all`.")
    ],
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    json: JsonOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for results and figures.  [default: airtcp-out/papers or papers-quick]",
        ),
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Update these experiments in papers.md, papers.json and the figures in DIR."
        ),
    ] = None,
    report: ReportOption = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Print all tables, the rows without a verdict, reasons and notes."),
    ] = False,
    jobs: JobsOption = None,
) -> None:
    """Run experiments and compare each number of a paper with ours.

    Prints the paper's value, ours with a 95 % interval, their ratio, and a verdict against stated
    tolerances; draws the paper's figures as PNG and SVG.
    """
    from airtcp_studies.cli.reproduce import Request, reproduce  # noqa: PLC0415 it loads Matplotlib

    folder = out or Path("airtcp-out", "papers-quick" if quick else "papers")
    reproduce(
        Request(
            names,
            seeds=seeds,
            quick=quick,
            jobs=jobs,
            out=folder,
            json=json,
            docs=docs,
            report=report,
            full=full,
        )
    )
