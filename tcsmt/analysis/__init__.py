"""The accuracy of algorithms on a unit: bounds, searches, exactness, emulations."""
