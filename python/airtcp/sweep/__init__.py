"""What varies in a sweep, its points, their runs, and the results."""
