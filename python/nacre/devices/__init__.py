"""Simulated devices that keep bytes: a memory for programs, a served block device, its image."""
