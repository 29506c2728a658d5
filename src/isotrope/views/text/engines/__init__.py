"""Machine translation by programs that others wrote, each behind the same few methods."""
