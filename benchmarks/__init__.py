"""Speed and utility, measured: each benchmark is a command that prints a table and writes JSON."""
