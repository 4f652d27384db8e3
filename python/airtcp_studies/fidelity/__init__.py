"""Does the simulator give what the kernel gives? The same paths on both, over a grid."""
