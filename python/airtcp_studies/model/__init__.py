"""The papers' closed forms, beside the simulator."""
