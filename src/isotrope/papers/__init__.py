"""The papers: their tables and figures as data, the runs that reproduce them, and whether their claims hold."""
