"""``tcsmt identify`` on the command line: what it refuses, and what it says of rows that contradict."""

from __future__ import annotations

from tests.support.command_line import done, refused


def test_ambiguous_formats_are_refused() -> None:
    common = ("identify", "--box", "cdna3/v_mfma_f32_16x16x32_fp8_bf8", "--k", 32, "--formats")
    said = refused(*common, "fp8,bf8,f32,f32")
    assert "ambiguous format 'fp8': it could mean e4m3 (OCP, bias 7) or e4m3fnuz (bias 8" in said
    said = refused(*common, "e4m3fnuz,bf8,f32,f32")
    assert "ambiguous format 'bf8': it could mean e5m2 (OCP, bias 15) or e5m2fnuz (bias 16" in said


def test_names_of_instructions_keep_their_formats() -> None:
    assert "a_format = e4m3fnuz" in done("describe", "cdna3/16x16x32_fp8_bf8")
