"""What requests and answers look like; the OpenAPI document at /openapi.json is made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
)

MODEL = Field(None, description="A name from /v1/models; by default the first.")
Token = Annotated[StrictInt, Field(ge=0, lt=2**31)]
# the first mistake is enough: a list of a million would make a million messages, and gigabytes of them
Texts = Annotated[list[StrictStr], Field(fail_fast=True)]
Tokens = Annotated[list[Token], Field(fail_fast=True)]
TokenArrays = Annotated[list[Tokens], Field(fail_fast=True)]
MOST_CONDITIONS = 100


class EmbeddingsRequest(BaseModel):
    """OpenAI's request. `normalize` is ours: vectors of length one."""

    model_config = ConfigDict(json_schema_extra={"example": {"input": ["A dog runs.", "A cat sleeps."]}})

    input: StrictStr | Texts | Tokens | TokenArrays = Field(
        description="A text, texts, a token array or token arrays. Tokens are those of the model's own tokenizer."
    )
    model: StrictStr | None = MODEL
    encoding_format: Literal["float", "base64"] | None = Field("float", description="base64: little-endian float32.")
    dimensions: StrictInt | None = Field(
        None, ge=1, description="Keep only this many numbers of each vector, the first ones."
    )
    normalize: StrictBool | None = Field(
        None, description="Scale vectors to length 1; by default as the server is set."
    )
    user: StrictStr | None = Field(None, description="Accepted but not used.")


class Embedding(BaseModel):
    """One vector."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """Tokens that were encoded, special ones among them."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(BaseModel):
    """Vectors in the order of the inputs."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class ModelCard(BaseModel):
    """A model as OpenAI lists it."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    """The models that are served."""

    object: Literal["list"]
    data: list[ModelCard]


class SimilarityRequest(BaseModel):
    """Texts to be compared with each other, or with those of `second`."""

    first: Texts = Field(examples=[["A dog runs.", "A hound is running."]])
    second: Texts | None = None
    model: StrictStr | None = MODEL


class SimilarityAnswer(BaseModel):
    """Cosines: a row for each of `first`."""

    model: str
    similarity: list[list[float]]
    usage: Usage


class SearchRequest(BaseModel):
    """A query to an index that the server was started with."""

    query: StrictStr
    index: StrictStr | None = Field(None, description="A name from /info; by default the first.")
    k: StrictInt = Field(10, ge=1)
    where: StrictStr | Texts | dict[str, StrictStr | StrictInt | StrictFloat | StrictBool] | None = Field(
        None, description="Conditions on columns: queue=hardware, score>=4, title~printer; or columns and their values."
    )
    strip_html: StrictBool = Field(False, description="Remove HTML from the columns; by default rows are unchanged.")

    @field_validator("where", mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        if isinstance(given, list | dict) and len(given) > MOST_CONDITIONS:
            raise ValueError(f"at most {MOST_CONDITIONS} conditions")
        return given


class Hit(BaseModel):
    """A row of an index."""

    row: int
    cosine: float
    columns: dict[str, Any]


class SearchAnswer(BaseModel):
    """The rows that are nearest, the nearest first."""

    index: str
    query: str
    exact: bool
    hits: list[Hit]


class TextsRequest(BaseModel):
    """A file, as text."""

    name: StrictStr = Field(description="The ending gives the format: .txt, .csv, .tsv or .jsonl.")
    content: StrictStr
    column: StrictStr | None = Field(
        None, description="The column that holds the text; by default the most likely one."
    )


class TextsAnswer(BaseModel):
    """The distinct texts of a file, as far as the server takes them."""

    texts: list[str]
    column: str
    columns: list[str]
    rows: int
    left_out: int = Field(description="Rows that are blank, repeat another or are beyond the limit.")


class PairsRequest(BaseModel):
    """Texts to choose pairs from."""

    texts: Texts
    models: Texts | None = Field(None, description="One or two names; by default the first two that are served.")
    count: StrictInt = Field(100, ge=1)
    seed: StrictInt = Field(1, ge=0, lt=2**32)


class ChosenPair(BaseModel):
    """A pair to be graded, the cosine that each model gives it, and what it was chosen for."""

    first: str
    second: str
    cosines: list[float]
    chosen_for: Literal["disagreement", "range"]


class PairsAnswer(BaseModel):
    """Pairs in the order in which they are to be graded."""

    models: list[str]
    pairs: list[ChosenPair]


class ErrorBody(BaseModel):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorAnswer(BaseModel):
    """OpenAI's shape of an error."""

    error: ErrorBody
