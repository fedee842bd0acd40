"""The proof: what tries Fairlead and judges it. No production process imports it."""

__version__ = "0.1.0"
