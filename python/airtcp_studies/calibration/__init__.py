"""Whether fits hold what they claim: measurements of known paths, and how often a fit has the truth."""
