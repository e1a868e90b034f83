"""Somebody's own implementation: a program, RTL or C; as a unit, and checked against one."""
