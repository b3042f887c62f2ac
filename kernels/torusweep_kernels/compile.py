"""Compile functions by Numba, and emit vector code for them as LLVM instructions.

Numba's cache notices changes in the file of a cached function, but not in the files of the functions that it calls. So
the name of the cache folder contains a digest of all Python files of this package: after any change every
function is compiled again, and code can be split into files freely.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from llvmlite import ir

from torusweep_kernels.backend import numba

intrinsic: Any = numba().extending.intrinsic  # Numba's type hint keeps the typing context in the signature
settings: Any = numba().config  # whose attributes are set when Numba is imported
njit, types, cgutils = numba().njit, numba().types, numba().core.cgutils
BIT, INT32, INT64, DOUBLE = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()
ONE = ir.Constant(INT64, 1)
LINE = 64  # bytes of a cache line, mostly
UNROLLED = 3, 4, 6  # degrees whose loops are unrolled: those of rings, 2D tori and 3D tori
_settings_in_use = Lock()


def cached(function: Callable[..., Any]) -> Any:
    """Compile a function that releases the GIL, and keep its machine code on disk if a cache folder can be written."""
    return _compiled(function, nogil=True)


def plain(function: Callable[..., Any]) -> Any:
    """Compile like `cached` but in half the time: references to arrays are not counted, so it cannot create arrays."""
    return _compiled(function, nogil=True, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function into its callers, so that a large state need not be passed to it."""
    options: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(nogil=True, forceinline=True, **options)(function)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    folder = cache_folder()
    if not folder:
        return njit(**options)(function)
    with _settings_in_use:  # Numba reads this setting when it decorates; other packages keep their folder
        before, settings.CACHE_DIR = settings.CACHE_DIR, folder
        try:
            return njit(cache=True, **options)(function)
        finally:
            settings.CACHE_DIR = before


@cache
def cache_folder() -> str:
    """Return the folder for the compiled code of these sources; '' if no folder can be written.

    The folder is in NUMBA_CACHE_DIR if that is set, else next to the package, else in the user's cache folder.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        digest.update(f"{source.relative_to(package)}\0".encode() + source.read_bytes())
    name = f"torusweep_kernels-{digest.hexdigest()[:16]}"
    return next((str(folder / name) for folder in _folders(package) if _writable(folder / name)), "")


def _folders(package: Path) -> Iterator[Path]:
    if settings.CACHE_DIR:
        yield Path(settings.CACHE_DIR)
    yield package / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "torusweep"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


class Vectors:
    """Emitter of vector code in an intrinsic. It finds arguments, and the fields of NamedTuples, by their names.

    A row of an array is `width` consecutive elements, one for each lane.
    """

    def __init__(self, names: str, width: int, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.width = context, builder, width
        self.values: dict[str, tuple[Any, Any]] = {}
        for name, kind, value in zip(names.split(), signature.args, arguments, strict=True):
            self.values[name] = kind, value
            if isinstance(kind, types.BaseNamedTuple):
                named: Any = kind
                for i, field in enumerate(named.fields):
                    self.values[f"{name}.{field}"] = named.types[i], builder.extract_value(value, i)
        self.doubles, self.integers, self.bits = (ir.VectorType(kind, width) for kind in (DOUBLE, INT32, BIT))
        self.words = ir.VectorType(INT64, width)
        self.zero = ir.Constant(self.doubles, None)

    def value(self, name: str) -> Any:
        """Return a scalar argument by its name."""
        return self.values[name][1]

    def data(self, name: str, kind: Any = None) -> Any:
        """Return the pointer to an array's elements, or to rows of the vector type `kind`; None if it is None."""
        array, value = self.values[name]
        if isinstance(array, types.NoneType):
            return None
        pointer = self.context.make_array(array)(self.context, self.builder, value).data
        return pointer if kind is None else self.builder.bitcast(pointer, kind.as_pointer())

    def item(self, pointer: Any, place: Any) -> Any:
        return self.builder.load(self.builder.gep(pointer, [place]))

    def index(self, pointer: Any, place: Any) -> Any:
        """Return an unsigned 32-bit element, extended to 64 bits so that it can be an index."""
        return self.builder.zext(self.item(pointer, place), INT64)

    def at(self, pointer: Any, row: Any, kind: Any = None) -> Any:
        """Return the pointer to a row of doubles, or of another vector type."""
        first = self.builder.gep(pointer, [self.builder.mul(row, ir.Constant(INT64, self.width))])
        return self.builder.bitcast(first, (kind or self.doubles).as_pointer())

    def load(self, pointer: Any) -> Any:
        """Load a row. Its elements are aligned, but the row need not be."""
        value = self.builder.load(pointer)
        value.align = value.type.element.width // 8 if isinstance(value.type.element, ir.IntType) else 8
        return value

    def store(self, value: Any, pointer: Any) -> None:
        element = value.type.element
        self.builder.store(value, pointer).align = element.width // 8 if isinstance(element, ir.IntType) else 8

    def fetch(self, pointer: Any) -> None:
        """Prefetch a row of doubles into the nearest cache."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0i8")
        first = self.builder.bitcast(pointer, byte)
        how = [ir.Constant(INT32, value) for value in (0, 3, 1)]  # to read it, into the nearest cache, data
        for line in range(0, 8 * self.width, LINE):
            self.builder.call(prefetch, [self.builder.gep(first, [ir.Constant(INT64, line)]), *how])

    def call(self, name: str, result: Any, *values: Any) -> Any:
        """Emit a call of an LLVM intrinsic and return its result."""
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}"), values)

    def lanes(self, mask: Any) -> Any:
        """Return the low bits of an integer as a vector of bits, <width x i1>."""
        wide = mask.type.width > self.width
        return self.builder.bitcast(self.builder.trunc(mask, ir.IntType(self.width)) if wide else mask, self.bits)

    def spread(self, value: Any) -> Any:
        """Return a vector with the same value in every lane."""
        kind = ir.VectorType(value.type, self.width)
        single = self.builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(INT32, 0))
        return self.builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(INT32, self.width), None))

    def variable(self, value: Any) -> Any:
        """Return stack space that holds a value, for a loop to change."""
        place = cgutils.alloca_once(self.builder, value.type)
        self.builder.store(value, place)
        return place

    def loop(self, first: Any, last: Any) -> Any:
        """Return a context that emits a loop over first … last − 1; it yields (index, _)."""
        return cgutils.for_range_slice(self.builder, first, last, ONE, intp=INT64)

    def over_arcs(self, start: Any, node: Any, unrolled: int, body: Callable[[Any], None]) -> None:
        """Emit body(arc) for each arc of a node, in order; `unrolled` is the number of arcs if it is known, else 0."""
        if unrolled:
            first = self.builder.mul(node, ir.Constant(INT64, unrolled))
            for place in range(unrolled):
                body(self.builder.add(first, ir.Constant(INT64, place)))
            return
        with self.loop(self.item(start, node), self.item(start, self.builder.add(node, ONE))) as (arc, _):
            body(arc)

    def by_degree(self, degree: Any, loop: Callable[[int], None]) -> None:
        """Emit loop(d), for each d in UNROLLED, for graphs whose nodes all have degree d; loop(0) for all others."""
        builder = self.builder
        differs, done = (builder.append_basic_block(name) for name in ("differs", "done"))
        choice = builder.switch(degree, differs)
        for unrolled in UNROLLED:
            same = builder.append_basic_block(f"of_{unrolled}")
            choice.add_case(ir.Constant(INT64, unrolled), same)
            with builder.goto_block(same):
                loop(unrolled)
                builder.branch(done)
        with builder.goto_block(differs):
            loop(0)
            builder.branch(done)
        builder.position_at_end(done)


@intrinsic
def lowest(context, word):
    """Return the number of the lowest set bit of a uint64, which must not be 0."""

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(BIT, 1))

    return types.int64(types.uint64), codegen


@intrinsic
def ones(context, word):
    """Return the number of set bits of a uint64."""

    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), codegen


@intrinsic
def atomic_add(context, array, place, more):
    """Add to an element atomically. A thread that reads the sum also sees all earlier writes of this thread."""

    def codegen(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(first, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def atomic_load(context, array, place):
    """Return the current value of an element that other threads write."""

    def codegen(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(first, [arguments[1]]), "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@intrinsic
def compare_and_swap(context, array, place, old, new):
    """Atomically replace an element by `new` if it equals `old`. Return whether it was replaced."""

    def codegen(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(first, [arguments[1]])
        return builder.extract_value(builder.cmpxchg(place, *arguments[2:], "seq_cst", "seq_cst"), 1)

    return types.boolean(array, types.int64, types.int64, types.int64), codegen


@intrinsic
def yield_core(context):
    """Let the operating system run another thread on this core."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(INT32, [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.none(), codegen
