"""Executes work: jobs, executors, parcels, progress."""
