"""Debian's kernels in guests of qemu: the standard library alone, without the engine."""
