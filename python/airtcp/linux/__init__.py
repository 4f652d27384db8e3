"""Runs scenarios on this host's kernel through `airtcpd`: the same path models, real TCP, real time."""
