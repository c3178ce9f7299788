"""Analysis of points: means, confidence intervals, Pareto front, influence of axes."""
