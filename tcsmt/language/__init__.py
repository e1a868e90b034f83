"""The term language: written, read and run; what it computes is above."""
