"""What the engine reports of a run, by name: `airtcp.facts.records` has the words."""
