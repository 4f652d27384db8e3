"""Closes the round trip: simulates a measured transfer on the path that is fitted to it.

What a transfer did to itself, in its own queue, is not the link's. Only a path on which the same transfer
does the same again explains the measurement. `closing.py` settles what is open, and checks the final path;
`searching.py` looks for it among the readings, from `starts.py` in steps of `moves.py`; `again.py` runs a
transfer, and `seen.py` compares two.
"""
