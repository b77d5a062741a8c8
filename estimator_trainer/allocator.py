"""Makes the C library keep the memory that it frees, since each training step needs it again.

glibc's malloc gives freed memory back to the kernel, which fills it with zeros page by page when it
is asked for again. In an all-reduce, threads free what others have asked for, so that a step of
1.4 MB of gradients met 700 page faults, which took a fifth of its time. A process that trains alone
met none.
"""

from __future__ import annotations

import ctypes

from estimator_trainer import environment

# malloc.h has these numbers (man 3 mallopt). glibc takes no threshold above half of a heap.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_LARGEST_IN_HEAP_BYTES = 32 * 2**20
# With less, an arena of a thread gives its last heap back as soon as it is empty.
_HEAP_BYTES = 64 * 2**20
_NEVER_BYTES = 2**31 - 1


def keep_freed_memory() -> None:
    """Sets glibc's malloc up so, unless the user's environment sets it; elsewhere does nothing.

    What is larger than 32 MB still goes back to the kernel at once.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or environment.sets_malloc():
        return
    for option, value in ((_MMAP_THRESHOLD, _LARGEST_IN_HEAP_BYTES),
                          (_TRIM_THRESHOLD, _NEVER_BYTES), (_TOP_PAD, _HEAP_BYTES)):
        mallopt(option, value)
