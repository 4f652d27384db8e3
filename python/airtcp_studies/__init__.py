"""Studies made with airtcp: the papers' experiments, and the simulator compared with kernels."""
