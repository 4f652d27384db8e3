"""How work is done: jobs, executors, parcels, progress."""
