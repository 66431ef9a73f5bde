"""Numba kernels: arrays in, arrays out, no policy. Imported only by the stage that needs one."""
