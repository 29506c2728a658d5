"""Options that several commands have, worded once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Data = Annotated[
    Path | None, typer.Option(help="Folder with the data sets.", show_default="$ISOTROPE_DATA, else the Hub")
]
Split = Annotated[str | None, typer.Option(help="train, dev or test, if the task has it.", show_default="test")]
Column = Annotated[
    str | None, typer.Option(help="Column of the table that holds the text.", show_default="text or sentence")
]
Columns = Annotated[
    str | None,
    typer.Option(help="Several columns, such as Subject,Body: joined into one text by --join, otherwise a text each."),
]
JoinedColumns = Annotated[
    str | None, typer.Option("--columns", help="Several columns to join into one text by --join: Subject,Body.")
]
Join = Annotated[str | None, typer.Option(help='What to put between the --columns of a row: ". ".')]
StripHtml = Annotated[bool, typer.Option("--strip-html", help="Remove HTML from the text.")]
RunFolder = Annotated[
    Path, typer.Option("--output", "-o", help="Folder for the run; the encoder is in its `encoder/`.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped.")]
OtherProcesses = Annotated[bool, typer.Option("--other-processes", help="Resume with a different number of processes.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
AllowCode = Annotated[bool, typer.Option("--allow-code", help="Import the Python code that the recipe files name.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Precision = Annotated[
    Literal["float32", "bfloat16", "float16"] | None,
    typer.Option(help="bfloat16 is faster on processors that support it, but less exact.", show_default="float32"),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Texts to encode at a time.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps ...", show_default="the fastest available")]
