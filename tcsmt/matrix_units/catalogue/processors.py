"""Processors by the names under which people know them, that of this machine, and the dot products they have.

Features are named as Linux names them. Sources: Intel's and AMD's manuals and GCC's tables of processors
(``-march``), Arm's technical reference manuals of its cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tcsmt.support.errors import TcsmtError

#: What each feature gives: how the names of its instructions in the catalogue begin, the most used first.
#: Of a feature with a space, both are needed.
INSTRUCTIONS = {
    "amx_bf16": ("tdpbf16ps",),
    "amx_fp16": ("tdpfp16ps",),
    "amx_int8": ("tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"),
    "avx512_bf16": ("vdpbf16ps",),
    "avx512_vnni": ("vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds"),
    "avx_vnni": ("vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds"),
    "bf16": ("bfmmla.ebf0", "bfdot.ebf0", "bfmlalb", "bfmlalt"),
    "asimdfhm": ("fmlal",),
    "sme": ("bfmopa.ebf0", "fmopa"),
    "bf16 ebf16": ("bfmmla.ebf1", "bfdot.ebf1"),
    "sme ebf16": ("bfmopa.ebf1",),
    "f8dp4": ("fdot.f32",),
    "f8dp2": ("fdot.f16",),
}


@dataclass(frozen=True)
class Processor:
    """A processor, or a family of them.

    architecture: in the catalogue. about: what it is, for people. features: those of ``INSTRUCTIONS`` that it
    has, in the order in which libraries use them.
    """

    architecture: str
    about: str
    features: tuple[str, ...]


def instructions_of(features: tuple[str, ...]) -> list[str]:
    """Return how the names of their instructions begin, the most used first."""
    singles = [name for name in features if name in INSTRUCTIONS]
    both = [name for name in INSTRUCTIONS if " " in name and set(name.split()) <= {*features}]
    return list(dict.fromkeys(prefix for name in (*singles, *both) for prefix in INSTRUCTIONS[name]))


_VNNI = ("avx512_vnni",)
_AVX512 = ("avx512_bf16", *_VNNI)
_AMX = ("amx_bf16", "amx_int8", *_AVX512, "avx_vnni")
_GRANITE = ("amx_bf16", "amx_fp16", "amx_int8", *_AVX512, "avx_vnni")
_NEOVERSE = ("bf16", "asimdfhm")


def _x86(about: str, *features: str) -> Processor:
    return Processor("x86", about, features)


def _arm(about: str, *features: str) -> Processor:
    return Processor("arm", about, features)


_ZEN4, _ZEN5 = _x86("AMD Zen 4", *_AVX512), _x86("AMD Zen 5", *_AVX512, "avx_vnni")
_ZEN1, _ZEN2, _ZEN3 = _x86("AMD Zen 1"), _x86("AMD Zen 2"), _x86("AMD Zen 3")
_V1, _V2 = _arm("Arm Neoverse V1", *_NEOVERSE), _arm("Arm Neoverse V2", *_NEOVERSE)
_N1, _N2 = _arm("Arm Neoverse N1"), _arm("Arm Neoverse N2", *_NEOVERSE)

PROCESSORS = {
    "haswell": _x86("Intel Haswell"),
    "broadwell": _x86("Intel Broadwell"),
    "skylake": _x86("Intel Skylake"),
    "cascade lake": _x86("Intel Cascade Lake", *_VNNI),
    "ice lake": _x86("Intel Ice Lake", *_VNNI),
    "tiger lake": _x86("Intel Tiger Lake", *_VNNI),
    "rocket lake": _x86("Intel Rocket Lake", *_VNNI),
    "cooper lake": _x86("Intel Cooper Lake", *_AVX512),
    "sapphire rapids": _x86("Intel Sapphire Rapids", *_AMX),
    "emerald rapids": _x86("Intel Emerald Rapids", *_AMX),
    "granite rapids": _x86("Intel Granite Rapids", *_GRANITE),
    "sierra forest": _x86("Intel Sierra Forest", "avx_vnni"),
    "alder lake": _x86("Intel Alder Lake", "avx_vnni"),
    "raptor lake": _x86("Intel Raptor Lake", "avx_vnni"),
    "xeon": _x86("an Intel Xeon from Sapphire Rapids on (give an older one by its name)", *_AMX),
    "zen": _ZEN1, "zen 1": _ZEN1, "zen 2": _ZEN2, "zen 3": _ZEN3,
    "naples": _ZEN1, "rome": _ZEN2, "milan": _ZEN3,
    "zen 4": _ZEN4, "genoa": _ZEN4, "bergamo": _ZEN4, "siena": _ZEN4,
    "zen 5": _ZEN5, "turin": _ZEN5,
    "epyc": _x86("an AMD EPYC from Zen 4 on (give an older one by its name)", *_AVX512),
    "ryzen": _x86("an AMD Ryzen from Zen 4 on (give an older one by its name)", *_AVX512),
    "neoverse n1": _N1, "graviton 2": _N1, "altra": _N1,
    "neoverse n2": _N2, "cobalt 100": _N2,
    "neoverse v1": _V1, "graviton 3": _V1, "graviton 3e": _V1,
    "neoverse v2": _V2, "graviton 4": _V2, "grace": _V2, "axion": _V2,
    "graviton": _arm("an AWS Graviton 3 or 4 (Arm Neoverse V1, V2)", *_NEOVERSE),
}  # fmt: skip

#: Model numbers, without spaces, and the processor that each is: the first pattern that fits.
MODELS = (
    (r"znver[12]", "zen 2"),
    (r"znver3", "zen 3"),
    (r"znver4", "zen 4"),
    (r"znver5", "zen 5"),
    (r"(xeon)?(platinum|gold|silver|bronze)\d1\d\d\w*", "skylake"),
    (r"(xeon)?(platinum|gold|silver|bronze)\d2\d\d\w*", "cascade lake"),
    (r"(xeon)?(platinum|gold)\d3\d\dhl?", "cooper lake"),
    (r"(xeon)?(platinum|gold|silver|bronze)\d3\d\d\w*", "ice lake"),
    (r"(xeon)?(platinum|gold|silver|bronze)\d4\d\d\w*\+?|(xeon)?(cpu)?max94\d\d\w*", "sapphire rapids"),
    (r"(xeon)?(platinum|gold|silver|bronze)\d5\d\d\w*\+?", "emerald rapids"),
    (r"(xeon)?6?(69\d\dp|67\d\dp|65\d\dp)\w*", "granite rapids"),
    (r"(xeon)?6?67\d\de\w*", "sierra forest"),
    (r"epyc[37]\w\w1\w*", "naples"),
    (r"epyc7\w\w2\w*", "rome"),
    (r"epyc7\w\w3\w*", "milan"),
    (r"epyc[4789]\w\w4\w*", "genoa"),
    (r"epyc[49]\w\w5\w*", "turin"),
    (r"ryzen[3579]?[1-2]\d\d\dx?t?", "zen 1"),
    (r"ryzen[579]?5[69][05]0(x|xt|x3d)?|ryzen75[78]00(x|xt|x3d)?", "zen 3"),
    (r"ryzen[579]?7[5-9][05]0(f|x|xt|x3d)?", "zen 4"),
    (r"ryzen[579]?9[6-9][05]0(f|x|xt|x3d)?", "zen 5"),
)

#: What the kernel says of the processor; its features are its flags.
CPUINFO = Path("/proc/cpuinfo")


def facts(path: Path) -> dict[str, str]:
    """Return each name in the file, with the last value that it has. Raises :class:`.TcsmtError`."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise TcsmtError(f"cannot tell what this CPU has: {path}: {error.strerror}") from None
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def this_processor(architecture: str) -> Processor:
    """Return the processor of this machine, which has that architecture.

    Raises :class:`.TcsmtError` where nothing says what it is.
    """
    entries = facts(CPUINFO)
    has = {*entries.get("flags", entries.get("Features", "")).split()}
    singles = [feature for name in INSTRUCTIONS for feature in name.split() if feature in has]
    numbers = [
        f"{label} {entries[key]}"
        for key, label in (
            ("cpu family", "family"),
            ("model", "model"),
            ("CPU implementer", "implementer"),
            ("CPU part", "part"),
        )
        if key in entries
    ]
    name = entries.get("model name", "of unknown name")
    about = f"this processor, {name} ({', '.join(numbers)})" if numbers else f"this processor, {name}"
    return Processor(architecture, about, tuple(dict.fromkeys(singles)))
