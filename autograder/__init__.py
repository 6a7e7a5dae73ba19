"""The grader of *Unrolled*: it asks a function questions and names the mistake.

A notebook needs two names from here: ``@exercise`` marks a function to be written, ``check`` judges it.
"""

from autograder.student import check, exercise

__all__ = ["check", "exercise"]
