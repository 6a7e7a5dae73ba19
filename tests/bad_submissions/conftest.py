"""One course directory for all of these tests; each takes a copy."""

import pytest
from classroom import copy_course
from short_course import make_course


@pytest.fixture(scope="session")
def blank_course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("blank"))


@pytest.fixture
def course(blank_course, tmp_path):
    return copy_course(blank_course, tmp_path / "course")
