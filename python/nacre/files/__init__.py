"""Writes result files. Each file is written completely or not at all."""
