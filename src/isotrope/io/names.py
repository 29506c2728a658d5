"""Names of files that one room writes and another reads."""

RUN = "run.json"  # in the folder of a run: its settings
BASELINE = "baseline.json"  # in the folder of a baseline, beside the keys of the text that it was fitted on
EXPORT = "export.json"  # in the folder of an exported encoder: what it is and how near to the original
