"""Bytes from a stranger: they run nothing, import nothing, and take no more memory than they have length."""

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.checkpoint.serde import Serializer
from tests.checkpoint import hostile, things

LEAST = 4_000_000  # bytes that decoding anything small may take: error messages, a first import
PER_BYTE = 400  # each level of a nest holds what is in it, and there are as many levels as Python has frames for


@pytest.fixture(scope="module")
def decoded():
    """What a process of its own made of all of them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.checkpoint.hostile"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", [*hostile.SWOLLEN, *hostile.RAW, "cut off"])
def test_a_few_bytes_never_become_many(decoded, name):
    _, peak = decoded["found"][name]
    assert peak < LEAST + PER_BYTE * len(hostile.RAW.get(name, b"")), decoded["found"][name]


@pytest.mark.parametrize("name", hostile.SWOLLEN)
def test_what_would_swell_is_kept_as_it_is(decoded, name):
    said, _ = decoded["found"][name]
    assert said.startswith("Opaque: "), said


def test_what_is_forbidden_is_named_and_goes_back_byte_for_byte(decoded):
    for name in hostile.FORBIDDEN:
        said, peak = decoded["found"][name]
        assert said.startswith("Opaque: "), (name, said)
        assert peak < LEAST


def test_nothing_is_imported_but_what_the_safe_classes_need(decoded):
    top = {name.partition(".")[0] for name in decoded["imported"]}
    assert not top & {"antigravity", "this", "tests", "webbrowser"}, decoded["imported"]
    assert top <= {"langchain_core", "langgraph", "numpy", "pandas", "runtime", "zoneinfo", "xxhash"}, top


def test_what_is_cut_off_or_nested_beyond_reading_is_an_error(decoded):
    assert decoded["found"]["cut off"][0] == "ValueError: each"
    assert decoded["found"]["nests in nests"][0] == "ValueError: it is nested too deeply to be read here"


def test_what_is_damaged_is_an_error_or_opaque_and_never_a_crash():
    serde = Serializer(allow=things.ALL)
    kind, data = serde.dumps_typed({"a": (1, things.Point(2)), "b": [dt.datetime(2024, 1, 1)]})
    for at in range(len(data)):
        for byte in 0x00, 0xC1, 0xFF:
            damaged = data[:at] + bytes([byte]) + data[at + 1 :]
            try:
                serde.loads_typed((kind, damaged))
            except ValueError:
                continue
