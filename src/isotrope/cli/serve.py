"""`isotrope serve`: encoders over HTTP."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import Device, Precision
from isotrope.io.errors import IsotropeError

Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="NAME=DIR", help="An index made by `isotrope index`, for /search. Repeatable."),
]


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help=f"{MODEL_HELP} Or NAME=MODEL.", show_default="small"),
    ] = None,
    index: Indexes = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is for this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")] = 8000,
    api_key_file: Annotated[
        Path | None,
        typer.Option(help="File of API keys, one per line; every request needs one.", show_default="$ISOTROPE_API_KEY"),
    ] = None,
    without_key: Annotated[
        bool, typer.Option("--without-key", help="Require no key, even if other machines can reach the --host.")
    ] = False,
    normalize: Annotated[bool, typer.Option("--normalize", help="Scale vectors to length 1, as OpenAI does.")] = False,
    batch_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens in one pass through a model.", show_default="1024; on a GPU 4096")
    ] = None,
    wait_ms: Annotated[
        float, typer.Option(min=0, max=60_000, help="Milliseconds that an input waits for others to share a pass.")
    ] = 2,
    max_inputs: Annotated[int, typer.Option(min=1, help="Inputs per request; above that, 413.")] = 2048,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens per request; above that, 413.")] = 300_000,
    max_body: Annotated[float, typer.Option(min=0.001, max=65_536, help="MiB per request; above that, 413.")] = 16,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Tokens that may wait for a model; above that, 429.")
    ] = 262_144,
    max_requests: Annotated[int, typer.Option(min=1, help="Requests answered at a time; above that, 429.")] = 512,
    patience: Annotated[
        int, typer.Option(min=1, max=86_400, help="Seconds to finish accepted requests after it is stopped.")
    ] = 30,
    device: Device = None,
    precision: Precision = None,
) -> None:
    """Serve encoders over HTTP: OpenAI's /v1/embeddings, /similarity, /search, and a page at /.

    [dim]Example:[/] isotrope serve minilm tuned=runs/tickets --index tickets=tickets.index
    """
    from isotrope.serving.limits import MIB, Limits
    from isotrope.serving.server import read_keys
    from isotrope.serving.server import serve as run

    given = models or ["small"]
    keys, indexes = read_keys(api_key_file), _indexes(index or [])
    prepare_hub(given)
    limits = Limits(
        inputs=max_inputs,
        tokens=max_tokens,
        body=max(1, int(max_body * MIB)),
        requests=max_requests,
        waiting_tokens=max_waiting,
        batch_tokens=batch_tokens,
        wait=wait_ms / 1000,
    )
    with ExitStack() as loading:
        loading.enter_context(console.waiting("Loading"))

        def ready(address: str) -> None:
            loading.close()
            typer.echo(f"{address} (Ctrl-C stops it)")

        run(
            given,
            indexes,
            host=host,
            port=port,
            keys=keys,
            without_key=without_key,
            limits=limits,
            normalize=normalize,
            device=device,
            precision=precision,
            patience=patience,
            ready=ready,
        )
    typer.echo("Stopped; all accepted requests were answered")


def _indexes(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        name, equals, folder = one.partition("=")
        if not equals or not name or not folder:
            raise IsotropeError(f"--index {one}: write NAME=DIR, such as tickets=tickets.index")
        if name in found:
            raise IsotropeError(f"--index {one}: two indexes are called '{name}'")
        found[name] = folder
    return found
