"""Architectures, and the names under which people know them."""

__all__ = ["ALIASES", "ARCHITECTURES", "GPUS", "VENDORS"]

ARCHITECTURES = (
    "volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell",
    "cdna1", "cdna2", "cdna3", "rdna3", "rdna4", "x86", "arm", "riscv", "wormhole", "blackhole",
)  # fmt: skip
ALIASES = {
    "ada lovelace": "ada", "ada-lovelace": "ada", "rtx blackwell": "rtx-blackwell",
    "sm_70": "volta", "sm_75": "turing", "sm_80": "ampere", "sm_86": "ampere", "sm_89": "ada",
    "sm_90": "hopper", "sm_90a": "hopper", "sm_100": "blackwell", "sm_100a": "blackwell",
    "sm_120": "rtx-blackwell", "sm_120a": "rtx-blackwell",
    "gfx908": "cdna1", "gfx90a": "cdna2", "gfx940": "cdna3", "gfx941": "cdna3", "gfx942": "cdna3",
    "gfx11": "rdna3", "gfx12": "rdna4",
    "gfx1100": "rdna3", "gfx1101": "rdna3", "gfx1102": "rdna3", "gfx1103": "rdna3", "gfx1150": "rdna3",
    "gfx1151": "rdna3", "gfx1200": "rdna4", "gfx1201": "rdna4", "risc-v": "riscv", "spike": "riscv",
    "x86-64": "x86", "x86_64": "x86", "aarch64": "arm", "arm64": "arm",
}  # fmt: skip
GPUS = {
    "titan v": "volta", "v100": "volta", "t4": "turing", "rtx 2080 ti": "turing",
    "a100": "ampere", "a2": "ampere", "a30": "ampere", "a10": "ampere", "a40": "ampere",
    "rtx 3080": "ampere", "rtx a6000": "ampere",
    "l40s": "ada", "rtx 4090": "ada", "rtx 1000 ada": "ada",
    "h100": "hopper", "h200": "hopper", "gh200": "hopper", "b200": "blackwell",
    "rtx 5090": "rtx-blackwell", "rtx pro 6000": "rtx-blackwell",
    "mi100": "cdna1", "mi210": "cdna2", "mi250": "cdna2", "mi250x": "cdna2",
    "mi300a": "cdna3", "mi300x": "cdna3",
    "radeon pro w7900": "rdna3", "rx 7900 xtx": "rdna3",
    "radeon ai pro r9700": "rdna4", "rx 9070 xt": "rdna4",
    "n150": "wormhole", "n300": "wormhole", "p100": "blackhole", "p150": "blackhole", "p300": "blackhole",
}  # fmt: skip
#: Who makes or specifies them, in the order of ``ARCHITECTURES``.
VENDORS = {
    **dict.fromkeys(ARCHITECTURES[:7], "NVIDIA"), **dict.fromkeys(ARCHITECTURES[7:12], "AMD"),
    "x86": "x86", "arm": "Arm", "riscv": "RISC-V", "wormhole": "Tenstorrent", "blackhole": "Tenstorrent",
}  # fmt: skip
