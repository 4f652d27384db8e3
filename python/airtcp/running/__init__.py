"""Executes work: jobs, executors, parcels, progress.

`executors.py` opens threads, processes, Dask or a caller's executor, for comparisons too, and refuses
workers whose engine gets other results for those three runs; `parcel.py` packs a scenario once, with its
files and the code of its controllers. `summary.py` judges each point as a comparison does;
`showing/figures/sweep*.py` and `showing/report/sweep.py` draw the result.
"""
