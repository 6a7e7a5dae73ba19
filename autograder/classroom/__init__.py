"""A made-up class whose marks are known beforehand, taken through the whole loop by the documented commands."""
