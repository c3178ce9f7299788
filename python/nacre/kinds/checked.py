"""Scenarios without mistakes."""

from __future__ import annotations

from nacre.kinds.kind import Kind
from nacre.results.checked import CheckedScenario
from nacre.results.origins import assumed
from nacre.words.summary import Summary, filled


def _said(checked: CheckedScenario) -> str:
    unknown = len(assumed(checked.origins))
    return f"{checked.name}: no mistakes; {len(checked.origins)} values, {unknown} assumed"


def _summary(checked: CheckedScenario) -> Summary:
    paths = assumed(checked.origins)
    return Summary((), [_said(checked)], filled(checked.table()), assumed=paths)


def _html(checked: CheckedScenario) -> str:
    from nacre.pages.html import fragment

    return fragment([_said(checked)], [checked.table()])


KIND = Kind(summary=_summary, html=_html)
