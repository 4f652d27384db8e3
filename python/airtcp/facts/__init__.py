"""What the engine tells, and what follows from it: records, series, statistics, verdicts."""
