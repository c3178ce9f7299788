"""What runs points: the processors of this machine, or a Dask cluster."""
