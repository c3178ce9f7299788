"""Checks that scenarios given as Python values are converted to equivalent TOML."""

import tomllib
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacre.base import toml

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_a_document_reads_back_as_the_table_it_was_made_of(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml.document(table)) == table


@given(VALUES)
def test_a_value_fits_on_one_line_and_reads_back(value: Any) -> None:
    text = toml.value(value)
    assert "\n" not in text
    assert tomllib.loads(f"it = {text}") == {"it": value}


def test_absent_values_are_omitted() -> None:
    assert tomllib.loads(toml.document({"a": None, "b": {"c": None}, "d": 1})) == {"b": {}, "d": 1}
    assert toml.value({"a": None, "b": 1}) == "{ b = 1 }"


def test_paths_choices_numbers_of_numpy_and_configurations_are_values() -> None:
    class Policy(Enum):
        LRU = "lru"

    class Device:
        def to_dict(self) -> dict[str, object]:
            return {"preset": "pcm_ssd"}

    table = {
        "file": Path("a.csv"),
        "policy": Policy.LRU,
        "depth": np.int64(8),
        "level": [Device()],
        "backing": Device(),
    }
    assert tomllib.loads(toml.document(table)) == {
        "file": "a.csv",
        "policy": "lru",
        "depth": 8,
        "level": [{"preset": "pcm_ssd"}],
        "backing": {"preset": "pcm_ssd"},
    }


def test_values_that_toml_cannot_represent_are_rejected() -> None:
    with pytest.raises(TypeError, match="a scenario cannot hold"):
        toml.value(object())
