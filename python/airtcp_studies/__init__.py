"""Studies made with airtcp: the papers' experiments, and the simulator held against kernels."""
