"""Text found by meaning: an index of a table and its search, paraphrases, duplicates, clusters."""
