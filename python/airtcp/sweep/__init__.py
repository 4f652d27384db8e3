"""What varies in a sweep, its points, their runs, and the results.

`grammar.py` parses what varies, `plan.py` turns it into points (a grid or a Latin hypercube), and `run.py`
checks every point before anything runs. A run is identified by its place in the plan, which also orders the
results, so that they depend neither on workers nor on interruptions. Runs go out in batches of a quarter of
a second, and twice as many batches as there are workers are in flight. A result counts once it is in the
journal (`journal.jsonl`, locked; each line is a checksum and JSON). The journal's first line lists what
must be equal for its runs to count: plan, schemes, seeds, a digest of every point as it runs and of the
files and controllers it names, and the engine, identified by its results on three short runs.
"""
