"""SentEval: classifiers on frozen sentence vectors."""
