"""The grader of *Unrolled*: it asks a function questions and names the mistake.

A notebook needs two names from here: ``@exercise`` marks a function to be written, ``check`` judges it.
"""

import sys

# nbformat imports jsonschema, and that would build a grammar of web addresses first: a second for nothing
sys.modules.setdefault("rfc3987_syntax", None)

try:
    from autograder.student import check, exercise
except ModuleNotFoundError as error:  # `autograder doctor` must start all the same, and say what to install
    MISSING = error.name

    def __getattr__(name: str):
        if name in __all__:
            raise ImportError(f"autograder needs {MISSING}, which is not installed here; `autograder doctor` says more")
        raise AttributeError(name)


__all__ = ["check", "exercise"]
