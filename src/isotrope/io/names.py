"""Names of files that one room writes and another reads."""

RUN = "run.json"  # in the folder of a run: its settings
BASELINE = "baseline.json"  # in the folder of a baseline, beside the keys of the text that it was fitted on
