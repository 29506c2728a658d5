"""Programs and data that others made, each behind a few methods: translators and WordNet."""
