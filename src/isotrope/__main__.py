"""`python -m isotrope` is the command `isotrope`."""

from isotrope.cli import main

main()
