"""Options that several commands have, worded once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Data = Annotated[Path | None, typer.Option(help="Folder of data sets.", show_default="$ISOTROPE_DATA, else the Hub")]
Split = Annotated[str | None, typer.Option(help="train, dev or test, where a task has it.", show_default="test")]
Column = Annotated[
    str | None, typer.Option(help="The table's column that holds the sentences.", show_default="text or sentence")
]
Columns = Annotated[
    str | None,
    typer.Option(help="Several columns, such as Subject,Body: one text with --join, else each a text of its own."),
]
JoinedColumns = Annotated[
    str | None, typer.Option("--columns", help="Several columns that make one text, with --join: Subject,Body.")
]
Join = Annotated[str | None, typer.Option(help='What stands between the --columns of a row: ". ".')]
StripHtml = Annotated[bool, typer.Option("--strip-html", help="Take HTML out of the text.")]
RunFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the run; the encoder is its `encoder/`.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
AllowCode = Annotated[bool, typer.Option("--allow-code", help="Import the Python code that recipe files name.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Precision = Annotated[
    Literal["float32", "bfloat16", "float16"] | None,
    typer.Option(help="bfloat16 is faster where the processor supports it, and less exact.", show_default="float32"),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Sentences at a time.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps ...", show_default="the fastest there is")]
