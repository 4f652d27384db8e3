"""From a path to an answer: what to use on it, what that needs and risks, and where the answer would change.

advice = airtcp.advise(airtcp.Scenario.load("scenarios/wifi.toml"), control=["sender"])
print(advice)

It works in this order, and Ctrl-C still leaves an answer. `asked.py`: the words of the question.
`candidates.py`: the options for those in control, from the facts in `deployment.py`. `race.py`: all
candidates run a few seeds; the best, its statistical ties and the current scheme run more, until the race
is decided or the events allowed by `Effort` are spent. Effort counts events, not time, so the same question
has the same answer on any machine. `beside.py`: the same beside a CUBIC flow. `surroundings.py` and
`sensitivity.py`: races on paths that differ in loss, delay, rate or burstiness. `choice.py` recommends,
`words.py` and `ranges.py` phrase it, `table.py`, `figures.py` and `page.py` show it. Where a measurement
leaves something open (`fit/readings.py`), each reading has a race of its own. `tunnel.py`: the path with a
repairing tunnel. The engine implements a scheme's queue (`bbr @ fq-codel`) and the point where a seed
enters a recording (`crates/sim/src/scenario/run_path.rs`); if all seeds entered at the same point, all runs
on a recording would be identical. `cost.py` estimates the cost of simulations beforehand.
"""
