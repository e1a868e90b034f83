"""Machine code from LLVM IR text, cached on disk.

Needs the extra ``fast`` (llvmlite). The cache is ``$TCSMT_CACHE``, else ``tcsmt`` in
``$XDG_CACHE_HOME`` or ``~/.cache``; entries are named by a hash of the IR text, the processor and
LLVM's version, so that a changed model never meets an old kernel.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tcsmt.errors import TcsmtError
from tcsmt.files import make_folder, replace_bytes

__all__ = ["available", "functions"]


@cache
def available() -> bool:
    """Whether llvmlite can be imported."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return False
    return True


def functions(text: str, names: Sequence[str]) -> dict[str, int]:
    """The addresses of the module's functions. Raises TcsmtError without the extra."""
    if not available():
        raise TcsmtError("the compiled simulator needs llvmlite: pip install 'tcsmt[fast]'")
    import llvmlite.binding as llvm

    code = _object_code(text)
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        builder.export_symbol(name)
    library = builder.link(_compiler(), f"kernel{len(_libraries)}")
    _libraries.append(library)
    return {name: library[name] for name in names}


#: What is linked stays in memory.
_libraries: list[Any] = []


def _cache_folder() -> Path:
    given, base = os.environ.get("TCSMT_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return Path(given) if given else (Path(base) if base else Path.home() / ".cache") / "tcsmt"


def _object_code(text: str) -> bytes:
    """From the cache, where it holds this code undamaged, or compiled now."""
    import llvmlite.binding as llvm

    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    key = f"{text}\n{processor}\n{llvm.llvm_version_info}"
    path = _cache_folder() / f"{_digest(key.encode()).hex()}.o"
    try:
        stored = path.read_bytes()
    except OSError:
        stored = b""
    check, code = stored[:16], stored[16:]
    if check != _digest(code):
        code = _compile(text)
        try:
            make_folder(path.parent)
            replace_bytes(path, _digest(code) + code)
        except TcsmtError:
            pass  # a cache that cannot be written costs time, nothing else
    return code


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _compile(text: str) -> bytes:
    import llvmlite.binding as llvm

    machine = _machine()
    module = llvm.parse_assembly(text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    code: bytes = machine.emit_object(module)
    return code


@cache
def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        jit=True,
        reloc="pic",
    )


@cache
def _compiler() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(_machine())
