"""What several tests of the library need."""

import pytest
import torch


@pytest.fixture
def double():
    """Double precision by default, and a fixed seed."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)
