"""What was measured, side by side: means over seeds, averages over tasks, intervals, and the tables of it."""
