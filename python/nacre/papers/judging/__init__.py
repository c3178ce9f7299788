"""Compares published with simulated results, and assesses the comparison as evidence."""
