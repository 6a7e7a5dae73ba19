"""What a claim check shows, and what it carries along."""

import json

import pytest

from unrolled.claims import MIMETYPE, claim

SAMPLE = {"deck": "000", "says": "a < b & c", "measured": "<script>x</script>", "seeds": 3, "holds": "partly"}


def test_data_html_and_text():
    bundle = claim("C02", **SAMPLE)._repr_mimebundle_()
    assert bundle[MIMETYPE] == {"concept": "C02", **SAMPLE}
    assert json.loads(json.dumps(bundle[MIMETYPE])) == bundle[MIMETYPE]
    assert "<script>" not in bundle["text/html"] and "&lt;script&gt;" in bundle["text/html"]
    assert (
        "a < b & c" in bundle["text/plain"] and "3 seeds" in bundle["text/plain"] and "in part" in bundle["text/plain"]
    )


def test_an_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match="yes, no, partly"):
        claim("C02", **{**SAMPLE, "holds": "maybe"})
