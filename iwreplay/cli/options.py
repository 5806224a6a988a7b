"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from iwreplay.cli.output import note, progress

__all__ = [
    "DEFAULT_STORE",
    "AddressOption",
    "EngineName",
    "EngineOption",
    "EpisodeArgument",
    "JsonOption",
    "MaxCostOption",
    "MaxTokensOption",
    "NoStoreOption",
    "ReadStoreOption",
    "SceneArgument",
    "SceneTaskOption",
    "StoreOption",
    "mirror_in",
]

DEFAULT_STORE = Path("iw-store")


class _Mirror:
    """Folder of mirrors, as the root of the command line was told."""

    folder: Path | None = None


def mirror_in(folder: Path | None) -> None:
    """Where stores on an object store are mirrored; None for the usual place."""
    _Mirror.folder = folder


def _folder(text: str | Path) -> Path:
    if "://" in str(text):
        from iwreplay.app.remoting import refuse_writing

        refuse_writing(str(text))
    return Path(text)


def _folder_or_mirror(text: str | Path) -> Path:
    if "://" not in str(text):
        return Path(text)
    from iwreplay.app.remoting import mirrored

    with progress("mirror") as tell:
        folder = mirrored(str(text), _Mirror.folder, progress=tell)
    note(f"read through the mirror {folder}")
    return folder


StoreOption = Annotated[Path, typer.Option("--store", help="Folder of the episodes.", metavar="DIR", parser=_folder)]
#: of commands that only read, which take a store on an object store too
ReadStoreOption = Annotated[
    Path,
    typer.Option(
        "--store",
        help="Folder of the episodes, or the address of a store on an object store (s3://BUCKET/FOLDER).",
        metavar="DIR|URI",
        parser=_folder_or_mirror,
    ),
]
#: of commands that read no episode, so that a script can give every command the same options
NoStoreOption = Annotated[
    Path, typer.Option("--store", help="Taken, as by every command; this one needs no store.", metavar="DIR")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
EngineName = Literal["local", "ray"]
EngineOption = Annotated[EngineName, typer.Option("--engine", help="local processes, or a Ray cluster.")]
AddressOption = Annotated[
    str | None, typer.Option("--ray-address", help="Of a Ray cluster; without one it is started here.", metavar="HOST")
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost", help="US dollars that the hosted models of an episode may take together.", min=0.0, metavar="USD"
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option("--max-tokens", help="Tokens that the hosted models of an episode may take together.", min=1),
]
EpisodeArgument = Annotated[
    str, typer.Argument(help="Id of an episode, a unique beginning of it, or the path of a log.", metavar="EPISODE")
]
SceneArgument = Annotated[
    str | None, typer.Argument(help="Id of a scene, a unique beginning of it, or a TOML file.", metavar="SCENE")
]
#: of commands that take a scene, or a task for its scene
SceneTaskOption = Annotated[
    str | None,
    typer.Option("--task", help="With the things of this task in it; SCENE can be left out.", metavar="TASK"),
]
