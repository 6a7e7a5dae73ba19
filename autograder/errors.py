"""The one error that a user sees as a sentence; it stands alone, so that ``doctor`` starts without any package."""


class CourseError(Exception):
    """A mistake of a user or in the course's own sources, said in one sentence that names what to do."""
