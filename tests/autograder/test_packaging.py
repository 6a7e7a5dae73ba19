"""The pins agree wherever they are written down, and name no host."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
DIRECT = PROJECT["dependencies"] + [pin for extra in PROJECT["optional-dependencies"].values() for pin in extra]


def pins(lines) -> dict[str, str]:
    found = {}
    for line in lines:
        if "==" in line and not line.startswith("#"):
            name, version = line.strip().split("==")
            found[re.sub(r"[-_.]+", "-", name).lower()] = version
    return found


def test_every_direct_dependency_is_pinned_exactly():
    assert [line for line in DIRECT if "==" not in line] == []
    assert pins(DIRECT)["torch"] == "2.13.0"


def test_environment_yml_has_the_same_pins():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf8"))
    listed = environment["dependencies"][-1]["pip"]
    assert pins(listed) == pins(DIRECT)
    assert "python=3.11" in environment["dependencies"]


def test_constraints_hold_the_direct_pins_and_no_address():
    text = (ROOT / "constraints.txt").read_text("utf8")
    constrained = pins(text.splitlines())
    assert {name: constrained.get(name) for name in pins(DIRECT)} == pins(DIRECT)
    assert "://" not in text and " @ " not in text


def test_data_packages_are_pinned_too():
    lines = (ROOT / "requirements-data.txt").read_text("utf8").splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]
    assert packages and all(re.fullmatch(r"[\w-]+==[\w.]+", line) for line in packages)


def test_ci_runs_make_test_and_readme_says_so():
    assert "exec make test" in (ROOT / ".ci" / "run").read_text("utf8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE))
    quoted = set(re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / "README.md").read_text("utf8"), re.MULTILINE))
    assert {"book", "test"} <= quoted <= targets
