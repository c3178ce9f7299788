"""Computes numbers from runs for the comparison with papers.

Most papers have a module for their numbers.
"""
