"""Compares the simulator with the kernel on the same paths, over a grid."""
