"""The quantiser that gives some elements and scales, and differences between two quantisers."""
