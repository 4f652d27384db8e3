"""What the papers measured, beside what comes out here. One file (or package) a paper, found by itself.

A paper's file declares its experiments, and `PAPER`:

    from airtcp_studies.frame import (
        Case, Context, OpenParameter, Paper, Result, SweepPlot, Tried, absolute, claim, experiment, gain,
        gain_of,
    )

    SCHEMES = ("reno", "decoupling")
    LOSSY = '''
    profile = "bsd-1998"
    [[link]]
    name = "wireless"
    rate = "10Mbit/s"
    delay = "5ms"
    '''

    @experiment(
        "D3",
        where="Fig 10",
        title="Goodput against the bit error rate",
        parameters=(OpenParameter("queue", "50 packets", "FreeBSD's default; the paper does not say"),),
    )
    def d3(ctx: Context) -> Result:
        \"\"\"One user connection over a lossy link of 10 Mbit/s and 10 ms; BER from 1e-7 to 2e-6.\"\"\"
        rates = ctx.pick([1e-7, 2e-7, 5e-7, 1e-6, 2e-6], quick=[1e-7, 2e-6])
        sets = {"duration": ctx.pick("300s", quick="10s")}
        found = ctx.sweep(
            {ber: Case(LOSSY, SCHEMES, sets | {"link.wireless.loss.ber": ber}) for ber in rates}
        )
        worst = found[2e-6]
        short = ctx.run(LOSSY, SCHEMES, sets | {"link.wireless.queue.packets": 20})
        shorter = [short.goodput(scheme) for scheme in reversed(SCHEMES)]
        reno, decoupled = (worst.goodput(scheme, "KB/s") for scheme in SCHEMES)
        return Result(
            rows=(
                absolute("Reno at BER 20e-7", 250, reno, "KB/s"),
                gain(
                    "decoupling over Reno there",
                    350,
                    gain_of(decoupled, reno),
                    tried=[Tried("a queue of 20 packets", gain_of(*shorter))],
                ),
                claim("decoupling never falls below Reno", True, evidence="…"),
            ),
            figures={
                "fig10": SweepPlot(
                    "bit error rate",
                    "goodput [KB/s]",
                    {s: {ber: runs.goodput(s, "KB/s") for ber, runs in found.items()} for s in worst.schemes},
                    log_x=True,
                )
            },
        )

    PAPER = Paper("decoupling", "000", "TCP decoupling …", experiments=(d3,), links={"lossy": LOSSY})

The docstring is the set-up, as it is printed. A row is `absolute`, `ratio`, `gain`, `claim` or `info`
(`frame/rows.py` says what their tolerances are); the paper's value may be a pair: a range. A row that falls
outside has in `tried` what it would be under other settings, from runs of the same experiment. A setting
under which it agrees, or is at most half as far off, is shown as what moves it; if there is none, the page
says that no cause was found, and what was tried. Where the paper contradicts itself, `note` gives both
sides. What the paper leaves open is an `OpenParameter`, with the reason of the value; no value is chosen
because it makes a number come out. Our values are estimates, numbers, or lists with one value a seed.

`ctx.sweep` runs all cases at once on all cores; `ctx.run` is for a single one. `series_interval_s` of a
case leaves time series (`runs.series(scheme).flows`, `.queues`, `.events`: data frames). Figures are data
that know how to draw themselves: `SweepPlot`, `TimePlot`, `BarPlot`, or any class with a `caption` and a
`draw`.

`links` are the paper's paths for `airtcp paper cross`: scenario text with the loss and the delays of one of
its points (`altered` sets them), and with one flow or none.
"""
