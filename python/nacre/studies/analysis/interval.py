"""Confidence interval of the mean of a few runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

_Z = 1.959963984540054
_SMALL = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 6: 2.4469}


def student_t(freedom: int) -> float:
    """Returns the 97.5 % quantile of Student's t distribution.

    `freedom` is the number of degrees of freedom. The relative error is at most 0.03 % (Abramowitz
    and Stegun, 26.7.5).
    """
    if freedom < 1:
        return math.nan
    z, v = _Z, float(freedom)
    return _SMALL.get(freedom) or (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def half_width(values: Sequence[float]) -> float | None:
    """Returns the half-width of the 95 % confidence interval of the mean.

    Returns None for fewer than two values.
    """
    if len(values) < 2:
        return None
    import numpy as np

    spread = float(np.std(values, ddof=1))
    return student_t(len(values) - 1) * spread / math.sqrt(len(values))
