"""Engines that run points: local processes or a Dask cluster."""
