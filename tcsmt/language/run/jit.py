"""Machine code from LLVM IR text, cached on disk.

Needs the extra ``fast`` (llvmlite). Entries of the cache (:mod:`tcsmt.support.cache`) are named by a hash of
the IR text, the processor and LLVM's version, so that a changed model never meets an old kernel.
The code is for this processor, without the features that ``$TCSMT_DISABLE_CPU_FEATURES`` names.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from threading import Lock
from typing import Any

from tcsmt.support import cache, extras
from tcsmt.support.errors import TcsmtError, choose

#: Features of the processor that the code must not use, as LLVM names them.
_WITHOUT = "TCSMT_DISABLE_CPU_FEATURES"


@functools.cache
def available() -> bool:
    """Return whether llvmlite can be imported."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return False
    return True


def version() -> str:
    """Return the version, as ``LLVM 20.1.8``."""
    import llvmlite.binding as llvm

    return f"LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def require_compiler() -> None:
    """Raise TcsmtError without the extra."""
    if not available():
        raise TcsmtError(f"the compiled simulator needs llvmlite: {extras.install('fast')}")


def functions(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the addresses of the module's functions. Raises TcsmtError without the extra."""
    require_compiler()
    import llvmlite.binding as llvm

    code = _object_code(text)
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        builder.export_symbol(name)
    with _linking:
        library = builder.link(_compiler(), f"kernel{len(_libraries)}")
        _libraries.append(library)
    return {name: library[name] for name in names}


#: What is linked stays in memory; threads that need a function at the same time link one after the other.
_libraries: list[Any] = []
_linking = Lock()


def _object_code(text: str) -> bytes:
    """Return the code from the cache, where it holds this code undamaged, or compiled now."""
    import llvmlite.binding as llvm

    key = f"{text}\n{' '.join(_processor())}\n{llvm.llvm_version_info}"
    name = f"{cache.digest(key.encode()).hex()}.o"
    code = cache.read(name)
    if code is None:
        code = _compile(text)
        cache.store(name, code)
    return code


def _compile(text: str) -> bytes:
    import llvmlite.binding as llvm

    machine = _machine()
    module = llvm.parse_assembly(text)
    module.verify()
    # The emitter writes vectors in one block: the other passes of -O2 take twice as long as this one, and the
    # code is as fast without them: products of four units, within 10 %, which is the noise.
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    code: bytes = machine.emit_object(module)
    return code


def _processor() -> tuple[str, str]:
    """Return the processor for which code is made, and its features, as LLVM writes them.

    Raises :class:`.TcsmtError` where ``$TCSMT_DISABLE_CPU_FEATURES`` names what LLVM does not know here.
    """
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    names = re.split(r"[\s,]+", os.environ.get(_WITHOUT, "").strip(" ,"))
    without = [f"-{choose(f'feature in {_WITHOUT}', name, features)}" for name in names if name]
    return llvm.get_host_cpu_name(), ",".join([features.flatten(), *without])  # what comes last counts


def vector_bits() -> int:
    """Return the width in bits of the vectors of rows for which this processor's registers suffice."""
    features = re.findall(r"[+-]avx512f\b", _processor()[1])
    return 512 if features[-1:] == ["+avx512f"] else 256


def converts_half() -> bool:
    """Return whether the processor for which code is made has instructions that convert from and to binary16.

    LLVM is asked: its code calls a function otherwise. Where no feature of an x86 processor is left out,
    their names say it in less time (a hundredth of a second of each new process).
    """
    if not os.environ.get(_WITHOUT) and "+f16c" in _processor()[1].split(","):
        return True
    return _converts_half(_machine())


@functools.cache
def _converts_half(machine: Any) -> bool:
    import llvmlite.binding as llvm

    single, half = "<8 x float>", "<8 x half>"
    text = "\n".join(
        f"define {to} @{name}({source} %x) {{ %y = {name} {source} %x to {to} ret {to} %y }}"
        for name, source, to in (("fpext", half, single), ("fptrunc", single, half))
    )
    functions = "extendhfsf2|h2f_ieee|truncsfhf2|f2h_ieee"
    return not re.search(functions, machine.emit_assembly(llvm.parse_assembly(text)))


def _machine() -> Any:
    return _machine_for(*_processor())


@functools.cache
def _machine_for(name: str, features: str) -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name,
        features=features,
        opt=2,
        jit=True,
        reloc="pic",
    )


@functools.cache
def _compiler() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(_machine())
