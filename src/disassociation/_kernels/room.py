"""Large arrays: memory that the system hands out in large pages where it can.

Fresh memory is paid for page by page when it is first touched. Arrays of tens of megabytes come fresh from the system
every time; in pages of 2 MB instead of 4 KB that takes a quarter of the first chain's time off. NumPy asks for such
pages for its own arrays; Numba does not.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import types

from disassociation._kernels._jit import helper

_LARGE = 1 << 22
_PAGE = 1 << 12

if sys.platform == "linux":
    _MADV_HUGEPAGE = 14
    _madvise = types.ExternalFunction("madvise", types.int32(types.uintp, types.uintp, types.int32))

    @helper
    def roomy(shape, dtype):
        """An array like that of `np.empty`. It is only advice: whatever the system answers, the array is there."""
        array = np.empty(shape, dtype)
        size = array.size * array.itemsize
        if size >= _LARGE:
            # The first whole page in it.
            start = (array.ctypes.data + _PAGE - 1) // _PAGE * _PAGE
            _madvise(start, array.ctypes.data + size - start, _MADV_HUGEPAGE)
        return array

else:

    @helper
    def roomy(shape, dtype):
        """An array like that of `np.empty`."""
        return np.empty(shape, dtype)
