"""Files of other tools: job files of fio, inputs of MQSim."""
