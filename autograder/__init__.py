"""The grader of *Unrolled*: it asks a function questions and names the mistake.

A notebook needs two names from here: ``@exercise`` marks a function to be written, ``check`` judges it.
"""

import sys

# nbformat imports jsonschema, and that would build a grammar of web addresses first: a second for nothing
sys.modules.setdefault("rfc3987_syntax", None)

from autograder.student import check, exercise  # noqa: E402

__all__ = ["check", "exercise"]
