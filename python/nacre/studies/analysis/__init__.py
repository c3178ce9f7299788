"""What the points say: means and intervals, the Pareto front, what decides."""
