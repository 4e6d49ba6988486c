"""Where the shipped examples are."""

from pathlib import Path

import pytest


@pytest.fixture
def examples() -> Path:
    return Path(__file__).resolve().parents[2] / "examples"
