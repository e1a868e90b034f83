"""The public calls: what ``import tcsmt`` names. Units are given by name, model file or model alike."""
