"""Measures of runs for comparison with papers: common ones, and one module per paper."""
