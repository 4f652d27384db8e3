"""Known paths that really run: hosts of their own, `airtcpd link` between them, and people's tools."""
