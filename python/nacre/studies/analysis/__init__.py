"""Analyzes points: means, confidence intervals, Pareto front, influence of axes."""
