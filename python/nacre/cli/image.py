"""The command `nacre image`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.base.text import count, size
from nacre.cli.arguments import Json, place
from nacre.cli.commands import Group
from nacre.cli.failure import FAILED, guarded
from nacre.cli.terminal import write_json, write_line, write_prose
from nacre.devices import images as images
from nacre.devices.images import ImageCheck, ImageJournal

app = typer.Typer(help="Check image files and recover damaged ones.", cls=Group)

_NAMED = 8
"""Maximum number of damaged pages that the output lists."""

ImageFile = Annotated[Path, typer.Argument(metavar="FILE", help="Image file.")]


@app.command()
@guarded
def check(image: ImageFile, as_json: Json = False) -> None:
    """Check an image; exit status 1 if data is lost."""
    found = images.check(image)
    if as_json:
        write_json(found.to_dict())
    else:
        _show(found)
        if not found.is_good and found.can_be_repaired:
            write_line(f"recover the intact data: nacre image repair {image} --out COPY")
    if not found.is_good:
        raise typer.Exit(FAILED)


@app.command()
@guarded
def repair(
    image: ImageFile,
    out: Annotated[Path, typer.Option(metavar="COPY", parser=place, help="Image file to write.")],
    as_json: Json = False,
) -> None:
    """Copy the intact data to a new image, and keep the original."""
    found = images.repair(image, out)
    if as_json:
        write_json(found.to_dict() | {"out": str(out.absolute())})
        return
    _show(found)
    write_line(f"{out}: an image with the intact data" if not found.is_good else f"{out}: a copy")


def _show(found: ImageCheck) -> None:
    for line in _lines(found):
        write_prose(line)


def _lines(found: ImageCheck) -> list[str]:
    good = (found.superblocks.first, found.superblocks.second).count(True)
    lines = [f"superblocks: {good} of 2 good"]
    if found.cut_short:
        lines.append(f"file: cut short by {size(found.cut_short)}")
    if found.checkpoint:
        lines.append(f"state of the device: lost; {found.checkpoint}")
        return lines
    if not (found.checkpoint_copies.first and found.checkpoint_copies.second):
        lines.append("state of the device: 1 of 2 copies good")
    pages, journal = found.pages, found.journal
    if found.raw_bytes:
        lines.append(
            f"raw bytes: {size(found.raw_bytes)}, without checksums, so damage cannot be detected"
        )
        return [*lines, *_of_journal(journal), _verdict(found)]
    known = f"pages: {count(pages.programmed)} of {size(found.page_bytes)}"
    if not pages.are_checked:
        lines.append(f"{known}, without checksums, so damage cannot be detected")
    elif pages.damaged:
        named = ", ".join(str(page) for page in pages.named[:_NAMED])
        more = ", ..." if pages.damaged > _NAMED else ""
        lines.append(f"{known}, {count(pages.damaged)} damaged: {named}{more}")
    else:
        lines.append(f"{known}, all good")
    return [*lines, *_of_journal(journal), _verdict(found)]


def _of_journal(journal: ImageJournal) -> list[str]:
    records = f"journal: {count(journal.records)} good records"
    if journal.damage:
        lost = f"lost after the damage: {count(journal.lost)} intact records"
        return [f"{records}, then {journal.damage}", lost]
    if journal.is_torn:
        return [f"{records}; its end was being written when the process or machine stopped"]
    return [records]


def _verdict(found: ImageCheck) -> str:
    if not found.is_good:
        return "damaged"
    if found.journal.is_torn:
        return "all flushed data is intact; it is unknown whether the last record was damaged"
    return "all durable data is intact"
