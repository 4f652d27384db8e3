"""`python -m airtcp`."""

from airtcp.cli import main

main()
