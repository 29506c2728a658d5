"""Ground floor: errors, whole files, the Hub. Knows nothing of text, encoders or recipes."""
