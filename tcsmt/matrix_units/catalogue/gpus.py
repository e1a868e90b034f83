"""Architectures, and the names under which people know them.

Which GPU has which architecture is what their makers say: NVIDIA's table of compute capabilities, and LLVM's
table of AMD's processors.
"""

__all__ = ["ALIASES", "ARCHITECTURES", "BRANDS", "GPUS", "SERIES", "VARIANTS", "VENDORS", "WITHOUT_UNITS"]

ARCHITECTURES = (
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell",
    "cdna1", "cdna2", "cdna3", "rdna3", "rdna4", "x86", "arm", "riscv", "wormhole", "blackhole",
)  # fmt: skip
ALIASES = {
    "ada lovelace": "ada",
    "sm_70": "volta", "sm_75": "turing", "sm_80": "ampere", "sm_86": "ampere", "sm_87": "ampere",
    "sm_89": "ada", "sm_90": "hopper", "sm_90a": "hopper", "sm_100": "blackwell", "sm_100a": "blackwell",
    "sm_103": "blackwell", "sm_103a": "blackwell", "sm_120": "rtx-blackwell", "sm_120a": "rtx-blackwell",
    "sm_121": "rtx-blackwell", "sm_121a": "rtx-blackwell",
    "gfx908": "cdna1", "gfx90a": "cdna2", "gfx940": "cdna3", "gfx941": "cdna3", "gfx942": "cdna3",
    "gfx11": "rdna3", "gfx12": "rdna4",
    "gfx1100": "rdna3", "gfx1101": "rdna3", "gfx1102": "rdna3", "gfx1103": "rdna3", "gfx1150": "rdna3",
    "gfx1151": "rdna3", "gfx1200": "rdna4", "gfx1201": "rdna4", "risc-v": "riscv", "spike": "riscv",
    "x86-64": "x86", "aarch64": "arm", "arm64": "arm",
}  # fmt: skip


def _series(prefix: str, numbers: str, suffix: str = "") -> list[str]:
    """The names of a series; a comma stands between two numbers."""
    return [f"{prefix} {number.strip()}{suffix}" for number in numbers.split(",")]


_BY_ARCHITECTURE: dict[str, list[str]] = {
    "volta": ["v100", "v100s", "titan v", "quadro gv100"],
    "turing": [
        "t4", "t4g", "titan rtx", *_series("quadro rtx", "3000, 4000, 5000, 6000, 8000"),
        *_series("rtx", "2060, 2060 super, 2070, 2070 super, 2080, 2080 super, 2080 ti"),
    ],
    "ampere": [
        "a100", "a800", "a2", "a10", "a10g", "a16", "a30", "a40",
        *_series("rtx", "3050, 3050 ti, 3060, 3060 ti, 3070, 3070 ti, 3080, 3080 ti, 3090, 3090 ti"),
        *_series("rtx", "a400, a500, a1000, a2000, a3000, a4000, a4500, a5000, a5500, a6000"),
    ],
    "ada": [
        "l2", "l4", "l20", "l40", "l40g", "l40s",
        *_series("rtx", "4050, 4060, 4060 ti, 4070, 4070 super, 4070 ti, 4070 ti super"),
        *_series("rtx", "4080, 4080 super, 4090, 4090 d"),
        *_series("rtx", "500, 1000, 2000, 3000, 3500, 4000, 4000 sff, 4500, 5000, 5880, 6000", " ada"),
    ],
    "hopper": ["h100", "h200", "h800", "h20", "gh200"],
    "blackwell": ["b100", "b200", "gb200", "b300", "gb300"],
    "rtx-blackwell": [
        *_series("rtx", "5050, 5060, 5060 ti, 5070, 5070 ti, 5080, 5090, 5090 d"),
        *_series("rtx pro", "500, 1000, 2000, 3000, 4000, 4500, 5000, 6000"), "gb10", "dgx spark",
    ],
    "cdna1": ["mi100"],
    "cdna2": ["mi200", "mi210", "mi250", "mi250x"],
    "cdna3": ["mi300", "mi300a", "mi300x", "mi308x", "mi325x"],
    "rdna3": [
        *_series("radeon pro", "w7500, w7600, w7700, w7800, w7900"),
        *_series("rx", "7600, 7600 xt, 7700 xt, 7800 xt, 7900 gre, 7900 xt, 7900 xtx"),
    ],
    "rdna4": [
        "radeon ai pro r9700", *_series("rx", "9060, 9060 xt, 9070, 9070 gre, 9070 xt"),
    ],
    "wormhole": ["n150", "n300"],
    "blackhole": ["p100", "p150", "p300"],
}  # fmt: skip
GPUS = {name: architecture for architecture, names in _BY_ARCHITECTURE.items() for name in names}
#: Who makes or specifies them, in the order of ``ARCHITECTURES``.
VENDORS = {
    **dict.fromkeys(ARCHITECTURES[:7], "NVIDIA"), **dict.fromkeys(ARCHITECTURES[7:12], "AMD"),
    "x86": "x86", "arm": "Arm", "riscv": "RISC-V", "wormhole": "Tenstorrent", "blackhole": "Tenstorrent",
}  # fmt: skip
#: Words before a GPU's name that say only whose it is.
BRANDS = {
    "nvidia": "NVIDIA", "geforce": "NVIDIA", "tesla": "NVIDIA",
    "amd": "AMD", "radeon": "AMD", "instinct": "AMD", "tenstorrent": "Tenstorrent",
}  # fmt: skip
#: Words that people leave out before a number or a letter.
SERIES = ("rtx", "rx", "ai", "pro")
#: Words, after a GPU's name, for a form or a memory of the same chip: a regular expression of one word.
VARIANTS = (
    r"sxm\d?|pcie|nvl|oam|\d+gb?|hbm\d\w?|laptop|mobile|gpu|generation|edition|workstation|server|max|q|with|"
    r"design|blackwell|lovelace|series|accelerator"
)
#: GPUs whose matrix instructions are not in the catalogue, and why: patterns of names without spaces.
WITHOUT_UNITS = (
    (r"(nvidia|geforce)*(gtx|gt|mx)\d+\w*|(nvidia)?t(400|500|600|1000|1200)", "it has no tensor cores"),
    (
        r"(nvidia|tesla)+(p(4|6|40|100)|m(4|6|10|40|60)|k(10|20|40|80)\w?)|(nvidia)?(titanxp?|quadrog?p\d+)",
        "it is older than Volta, the first architecture with tensor cores",
    ),
    (r"(amd|instinct)*mi35[05]x?|gfx950|cdna4", "CDNA4 is not in the catalogue"),
    (
        r"(amd|radeon|instinct)*mi(6|8|25|50|60)|gfx90[06]",
        "it is older than CDNA1, the first with matrix cores",
    ),
    (
        r"(amd|radeon)*rx[56]\d00\w*|gfx10\d\d|rdna[12]?",
        "it is older than RDNA3, the first Radeon with matrix instructions",
    ),
)
