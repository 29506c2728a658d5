"""The server under load, beside SentenceTransformer.encode called one request at a time, in one run.

    python bench/serving.py [--model bundled] [--seconds 60] [--connections 64] [--rounds 4] [--check 1e-5]
    python bench/serving.py --model minilm --other 127.0.0.1:7997    # beside a server of OpenAI's API that runs already

A server of its own on loopback; connections that send the next request as soon as they have an answer; texts from one
word to some hundred, most requests of one text, some of many. Every vector is compared with `Encoder.encode`'s, every
status is counted, and the server's memory is watched. Server and peer take turns, so that a busy machine slows both;
processor time is given too, which tells more on one that is. It ends with exit code 1 if a vector is wrong, a status is
not 200, or memory grows by a quarter after the first round. What another server gets wrong is shown, and no error here.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import psutil
import torch
from rich.console import Console
from rich.table import Table
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders.loading import resolve
from isotrope.text import bundled_sentences

PEER_SECONDS = 5
REQUEST = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SIZES = [1] * 16 + [2, 3, 8, 32]  # texts of a request, to be drawn from


@dataclass
class Load:
    requests: int = 0
    inputs: int = 0
    seconds: float = 0.0
    processor: float = 0.0  # seconds; of the server, or of this process
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    worst: float = 0.0  # difference of a number of a vector
    memory: list[int] = field(default_factory=list)  # bytes, after each round
    curve: list[int] = field(default_factory=list)  # bytes, every half second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--check", type=float, default=1e-5)
    parser.add_argument("--other", metavar="HOST:PORT", help="Another server, of one model, to be pressed in turn.")
    options = parser.parse_args()
    texts = mixed_texts(600)
    encoder = isotrope.load(options.model, device="cpu")
    wanted = encoder.encode(texts)
    peer = SentenceTransformer(resolve(options.model), device="cpu", model_kwargs={"dtype": torch.float32})
    server, host, port = start(options.model)
    load, theirs, ours, other = Load(), Load(), Load(), Load()
    try:
        for number in range(options.rounds):
            asyncio.run(press(load, host, port, options, texts, wanted, server.pid, number))
            load.memory.append(psutil.Process(server.pid).memory_info().rss)
            if options.other:
                where = options.other.partition(":")[0], int(options.other.partition(":")[2])
                asyncio.run(press(other, *where, options, texts, wanted, listener(where[1]), number))
                other.memory.append(psutil.Process(listener(where[1])).memory_info().rss)
            one_at_a_time(theirs, texts, lambda some: peer.encode(some, show_progress_bar=False))
            one_at_a_time(ours, texts, encoder.encode)
    finally:
        server.terminate()
        said, complaints = server.communicate(timeout=60)
    show(options, load, theirs, ours, other)
    grown = load.memory[-1] / load.memory[0]
    wrong = load.worst > options.check or set(load.statuses) != {200} or grown > 1.25 or server.returncode or complaints
    print(f"stopped with {server.returncode}: {said.strip()} {complaints}")
    sys.exit(1 if wrong else 0)


def mixed_texts(count: int) -> list[str]:
    """A word, a sentence, a paragraph."""
    sentences, draw = bundled_sentences(), random.Random(0)
    found = []
    for number in range(count):
        if number % 10 == 0:
            found.append(draw.choice(sentences).split()[0])
        else:
            found.append(" ".join(draw.choices(sentences, k=draw.choice((1, 1, 1, 1, 2, 3, 8)))))
    return found


def start(model: str) -> tuple[subprocess.Popen[str], str, int]:
    command = [sys.executable, "-m", "isotrope", "serve", model, "--port", "0", "--device", "cpu"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, env={**os.environ, "ISOTROPE_API_KEY": ""}, **pipes)
    assert process.stdout is not None
    found = re.match(r"http://([\d.]+):(\d+)", process.stdout.readline())
    assert found, process.communicate()
    return process, found[1], int(found[2])


def listener(port: int) -> int:
    """The process that listens there."""
    return next(one.pid for one in psutil.net_connections("tcp") if one.status == "LISTEN" and one.laddr.port == port)


async def press(load: Load, host: str, port: int, options, texts, wanted, server: int, number: int) -> None:
    began = time.perf_counter()
    until = began + options.seconds / options.rounds
    process = psutil.Process(server)
    busy = sum(process.cpu_times()[:2])
    draws = [random.Random(1000 * number + one) for one in range(options.connections)]
    watching = asyncio.create_task(watch(load, process))
    await asyncio.gather(*(connection(load, host, port, options.model, draw, texts, wanted, until) for draw in draws))
    load.seconds += time.perf_counter() - began
    load.processor += sum(process.cpu_times()[:2]) - busy
    watching.cancel()


async def watch(load: Load, process: psutil.Process) -> None:
    while True:
        load.curve.append(process.memory_info().rss)
        await asyncio.sleep(0.5)


async def connection(load: Load, host: str, port: int, model: str, draw, texts, wanted, until: float) -> None:
    """Plain HTTP by hand: the load should come from the server, not from a client library."""
    reader, writer = await asyncio.open_connection(host, port, limit=2**24)
    while time.perf_counter() < until:
        places = [draw.randrange(len(texts)) for _ in range(draw.choice(SIZES))]
        body = json.dumps({"model": model, "input": [texts[i] for i in places], "encoding_format": "base64"}).encode()
        head = f"{REQUEST}Content-Length: {len(body)}"
        began = time.perf_counter()
        writer.write(head.encode() + b"\r\n\r\n" + body)
        status, answer = await read_answer(reader)
        load.latencies.append(time.perf_counter() - began)
        load.statuses[status] += 1
        load.requests += 1
        if status == 200:
            data = json.loads(answer)["data"]
            rows = [np.frombuffer(base64.b64decode(one["embedding"]), "<f4") for one in data]
            load.worst = max(load.worst, float(np.abs(np.stack(rows) - wanted[places]).max()))
            load.inputs += len(places)
    writer.close()


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = re.search(r"content-length: (\d+)", head)
    assert length, head
    return int(head.split()[1]), await reader.readexactly(int(length[1]))


def one_at_a_time(load: Load, texts: list[str], encode: Callable[[list[str]], object]) -> None:
    """The same kind of requests, one after another, without HTTP."""
    draw = random.Random(len(load.latencies))
    encode(texts[:4])  # warm
    began, busy = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < PEER_SECONDS:
        places = [draw.randrange(len(texts)) for _ in range(draw.choice(SIZES))]
        before = time.perf_counter()
        encode([texts[i] for i in places])
        load.latencies.append(time.perf_counter() - before)
        load.requests, load.inputs = load.requests + 1, load.inputs + len(places)
    load.seconds += time.perf_counter() - began
    load.processor += time.process_time() - busy


def show(options, load: Load, theirs: Load, ours: Load, other: Load) -> None:
    table = Table(title=f"{options.model}, {options.connections} connections, {load.seconds:.0f} s of load")
    for name in ("", "requests/s", "inputs/s", "inputs per CPU s", "median ms", "95% ms", "99% ms"):
        table.add_column(name, justify="right" if name else "left")
    named = {
        "isotrope serve": load,
        "SentenceTransformer.encode, one at a time": theirs,
        "Encoder.encode, the same": ours,
    }
    if options.other:
        named[f"the server at {options.other}"] = other
    for name, one in named.items():
        times = [f"{1000 * value:.1f}" for value in np.quantile(one.latencies, (0.5, 0.95, 0.99))]
        rates = (one.requests / one.seconds, one.inputs / one.seconds, one.inputs / one.processor)
        table.add_row(name, *(f"{rate:.1f}" for rate in rates), *times)
    Console(width=140).print(table)
    faster = (load.inputs / load.seconds) / (theirs.inputs / theirs.seconds)
    cheaper = (load.inputs / load.processor) / (theirs.inputs / theirs.processor)
    print(f"{load.requests:,} requests, {load.inputs:,} vectors; statuses {dict(load.statuses)}")
    print(f"largest difference from Encoder.encode: {load.worst:.1e}")
    print(f"beside the peer: {faster:.2f}x the inputs per second, {cheaper:.2f}x per second of processor time")
    curve = ", ".join(f"{max(some) >> 20}" for some in np.array_split(load.curve, min(20, len(load.curve))))
    print(f"server's memory at most, in each twentieth of the time: {curve} MiB")
    if options.other:
        print(f"the other server: statuses {dict(other.statuses)}, largest difference {other.worst:.1e}, ", end="")
        print(f"memory at most {max(other.curve) >> 20} MiB; {load.inputs / other.inputs:.2f}x its inputs, ", end="")
        print(f"{load.inputs / load.processor / (other.inputs / other.processor):.2f}x per second of processor time")


if __name__ == "__main__":
    main()
