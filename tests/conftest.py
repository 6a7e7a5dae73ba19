"""Attacks and bad submissions are counted, how many were tried and how many ended as they must; no test leaves torch's
way of printing changed behind it."""

import sys
from pathlib import Path

import pytest

COUNTED = {"attacks": "attacks", "bad_submissions": "bad submissions"}


@pytest.fixture(autouse=True)
def printing():
    """A chapter's first cell shortens the numbers that torch prints; the examples in the library expect its own way."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_printoptions(profile="default")


def pytest_configure(config):
    config.addinivalue_line("markers", "case: one attack or one bad submission, counted at the end")


def pytest_terminal_summary(terminalreporter):
    for folder, title in COUNTED.items():
        ended = {}
        for report in (r for found in terminalreporter.stats.values() for r in found if _is_case(r, folder)):
            ended[report.nodeid] = ended.get(report.nodeid, True) and report.passed
        if ended:
            terminalreporter.write_line(f"{title}: {len(ended)} tried, {sum(ended.values())} ended honestly")


def _is_case(report, folder: str) -> bool:
    counted = isinstance(report, pytest.TestReport) and (report.when == "call" or not report.passed)
    return counted and "case" in report.keywords and folder in Path(report.fspath).parts
