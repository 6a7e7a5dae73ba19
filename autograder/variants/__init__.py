"""Right answers in other styles; the tests prove that each gets full marks."""
