"""Conversion of files of other tools: job files of fio and input files of MQSim."""
