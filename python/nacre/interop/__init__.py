"""Converts files of other tools: fio job files, and input files of MQSim."""
