"""Defines how results of `nacre.check` are summarized."""

from __future__ import annotations

from nacre.kinds.kind import Kind, document, reader
from nacre.results.checked import CheckedScenario
from nacre.results.origins import assumed
from nacre.words.summary import Summary, filled


def _words(checked: CheckedScenario) -> Summary:
    paths = assumed(checked.origins)
    said = f"{checked.name}: no errors; {len(checked.origins)} values, {len(paths)} assumed"
    return Summary((), [said], filled(checked.table()), assumed=paths)


KIND = Kind(words=_words, encode=document, read=reader(CheckedScenario))
