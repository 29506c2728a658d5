"""What a run came to, for people: the one-file report, the table of its map, and the model card on the Hub."""
