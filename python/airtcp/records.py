"""What the engine tells of a run, by name: `airtcp.facts.records` has the words."""
