"""What can be asked: each file makes a router for a service."""
