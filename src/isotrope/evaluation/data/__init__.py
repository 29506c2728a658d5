"""Readers of data sets: graded pairs, classified sentences, translations; from a folder or the Hugging Face Hub."""
