"""The questions: compare, run and sweep."""
