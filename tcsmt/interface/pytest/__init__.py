"""tcsmt in pytest: emulators checked in tests."""
