"""Encoders over HTTP: OpenAI's embeddings API, similarity, search, and a page for people.

server.py      `serve`: loads, listens, and answers what it took before it stops
app.py         `make_app`: everything put together, for any ASGI server
guard.py       who may ask, and how much: hosts, keys, sizes, headers
routes/        what can be asked
models.py      a served encoder: inputs in, vectors out
batching.py    inputs of many requests in one pass, by a budget of tokens
page/          the page at /, as it is sent
"""
