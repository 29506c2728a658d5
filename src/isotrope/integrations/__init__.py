"""Isotrope's methods inside other people's trainers."""
