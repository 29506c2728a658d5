"""How a sentence is seen twice: at the embedding layer (`embedding`), or as another text of one meaning (`text`)."""
