"""RocketMQ's remoting protocol: commands, their frames, JSON in fastjson's dialect, connections."""
