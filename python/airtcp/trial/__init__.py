"""Finds the best congestion control on the real path: transfers in blocks, each with all of them.

`transfers.py` makes one transfer, `blocks.py` judges the blocks, `trying.py` runs them.
"""

from airtcp.trial.blocks import Trial, TrialRow, trial_of
from airtcp.trial.transfers import Command, Iperf3, Transfer
from airtcp.trial.trying import Plan, prepare, try_all

__all__ = ["Command", "Iperf3", "Plan", "Transfer", "Trial", "TrialRow", "prepare", "trial_of", "try_all"]
