"""The studies' commands: `airtcp paper`, `fidelity` and `model`."""
