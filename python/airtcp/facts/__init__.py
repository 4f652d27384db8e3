"""The engine's results and what follows from them: records, series, statistics, verdicts."""
