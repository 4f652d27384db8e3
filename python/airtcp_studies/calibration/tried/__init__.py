"""Advice held against goodput: what is advised on a measurement really runs, beside its rivals."""
