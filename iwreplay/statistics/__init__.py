"""Statistics over plain numbers: intervals, tests, agreement, the horizon. Pure: no files, clock, network.

Chance comes as a `numpy.random.Generator` that the caller seeds. With the same seed, numbers and versions a figure is
the same on one machine; between machines figures agree to about 1e-9, not to the bit, because NumPy's sums and the C
library's exponential differ in their last bits. What is undefined is None or an `Undefined` with its reason, never NaN;
only numbers that can't be (more passes than tries) raise `StatisticsError`. docs/statistics.md has every formula.
"""
