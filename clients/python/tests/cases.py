"""The cases that `npm test` makes with viem and the TypeScript SDK."""

import json
import os
import unittest
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("BEZEL_PYTHON_TEST")
"""Folder of the cases and of the world that `npm test` has started; without it only the rest is tested."""

IS_WHOLE = "BEZEL_PYTHON_WHOLE" in os.environ
"""True when all tests are run, so that together they have to call every operation."""


def cases() -> Any:
    """Returns the cases, or skips the test."""
    return _content("cases.json")


def world() -> Any:
    """Returns the running service, chain and accounts, or skips the test."""
    return _content("world.json")


def _content(name: str) -> Any:
    if FOLDER is None:
        raise unittest.SkipTest("run by npm test, which starts the service and the chain")
    return json.loads((Path(FOLDER) / name).read_text())
