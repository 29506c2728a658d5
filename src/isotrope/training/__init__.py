"""The learner, which owns all state, and the engine that runs it."""
