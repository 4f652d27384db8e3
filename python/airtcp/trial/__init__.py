"""Settles on the real path which congestion control is best: transfers in blocks, each with all of them.

`transfers.py` makes one transfer, `blocks.py` judges what the blocks say, `trying.py` runs them.
"""

from airtcp.trial.blocks import Trial, TrialRow, trial_of
from airtcp.trial.transfers import Command, Iperf3, Transfer
from airtcp.trial.trying import Plan, prepare, try_all

__all__ = ["Command", "Iperf3", "Plan", "Transfer", "Trial", "TrialRow", "prepare", "trial_of", "try_all"]
