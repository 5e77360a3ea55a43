"""A graphics card that does not exist: its tensors claim the device `card:0`, hold data of the CPU, and refuse to be mixed.

There is a `card:1` as well, on which a tensor lands if no number is said: with CUDA it would be the card that a thread has
chosen, and a new thread has chosen none, wherever the job's model lies. Each operation is counted as a launch, each time that the program would wait for the
card as a sync; bytes that live tensors have, and that are copied, are added up. `hollow` cards compute nothing:
floating-point results have a shape but no content, so that the memory of large models can be measured in seconds.
"""

import threading
from collections import Counter
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

NAME, ON, ELSEWHERE = "card", "card:0", 1
WAITS = {
    "_local_scalar_dense",
    "nonzero",
    "masked_select",
    "bincount",
    "_unique2",
    "unique_dim",
    "equal",
    "is_nonzero",
    "_coalesce",
}
ALLOCATIONS = {"_unsafe_view", "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}  # no launches
COPIES = {"_to_copy", "copy_"}  # the only operations between devices
LOWER = ("linear", "mm", "addmm", "bmm", "matmul", "baddbmm")  # what autocast computes in a lower precision
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm"}  # what TF32 is for; their last two arguments are multiplied
SCALAR = 0  # dimensions of a CPU tensor that may meet any device


class _Module(_DummyBackendModule):
    """What torch asks of a device's module."""

    def get_amp_supported_dtype(self):
        return [torch.float16, torch.bfloat16]


def install() -> None:
    """Make torch know the device; once a process."""
    if getattr(torch, NAME, None) is None:
        _setup_privateuseone_for_python_backend(NAME, backend_module=_Module())
        _install_autocast()


def _install_autocast() -> None:
    """Let autocast lower the precision of products on the card, as it does on a real one."""
    key = torch._C.DispatchKey.AutocastPrivateUse1
    library = torch.library.Library("aten", "IMPL")
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    install.libraries = library, others  # as long as the process lives

    def lowering(overload):
        def run(*arguments, **named):
            kind = torch.get_autocast_dtype(NAME)
            with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(key)):
                return overload(*tree_map(lambda item: _lowered(item, kind), arguments), **named)

        return run

    for name in LOWER:
        library.impl(name, lowering(getattr(torch.ops.aten, name).default), "AutocastPrivateUse1")


def _lowered(item, kind):
    return item.to(kind) if isinstance(item, torch.Tensor) and item.dtype == torch.float32 else item


class Block:
    """Memory of the card: counted until the last tensor that shares it is gone."""

    def __init__(self, card: "Card", size: int):
        self.card, self.size = card, size
        card.bytes += size
        card.peak = max(card.peak, card.bytes)

    def __del__(self):
        self.card.bytes -= self.size


class OnCard(torch.Tensor):
    """A tensor of the card; `held` is its content."""

    @staticmethod
    def __new__(cls, held: torch.Tensor, block: Block, index: int):
        place = {} if held.is_sparse else {"strides": held.stride(), "storage_offset": held.storage_offset()}
        return torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            **place,
            dtype=held.dtype,
            layout=held.layout,
            device=f"{NAME}:{index}",
            requires_grad=False,
        )

    def __init__(self, held: torch.Tensor, block: Block, index: int):
        self.held, self.block = held, block

    def __repr__(self, **_):
        return f"OnCard({tuple(self.shape)}, {self.dtype})"

    def tolist(self):
        return self.cpu().tolist()

    def numpy(self, **_):
        raise TypeError("can't convert a card's tensor to numpy; copy it to the CPU first")

    @classmethod
    def __torch_dispatch__(cls, operation, types, arguments=(), named=None):
        return _Mode.current.run(operation, arguments, named or {})


class Card:
    """What happened on the card."""

    def __init__(self, hollow: bool = False, memory: int | None = None):
        self.hollow, self.memory = hollow, memory
        self.bytes = self.peak = 0
        self.launches, self.syncs, self.copied = Counter(), Counter(), Counter()

    def forget(self) -> None:
        """Count anew; what lives stays counted."""
        self.peak = self.bytes
        self.launches, self.syncs, self.copied = Counter(), Counter(), Counter()

    @property
    def counts(self) -> tuple[int, int]:
        """Launches and syncs."""
        return sum(self.launches.values()), sum(self.syncs.values())


@contextmanager
def inserted(hollow: bool = False, memory: int | None = None):
    """Yield a card that exists inside this block; `memory`: bytes beyond which it is out of memory."""
    install()
    card = Card(hollow, memory)
    with _Mode(card), ExitStack() as patches:
        for name, function in (("__enter__", _enter), ("__exit__", _exit)):
            patches.enter_context(patch.object(torch.inference_mode, name, function))
        patches.enter_context(patch.object(torch, "tensor", _tensor))
        patches.enter_context(patch.object(torch.Tensor, "to", _to))
        patches.enter_context(patch.object(threading.Thread, "run", _run_with(card)))
        yield card


def _tensor(data, device=None, made=torch.tensor, **kind) -> torch.Tensor:
    """Make a tensor, then move it: torch.tensor does both at once, past every mode."""
    return made(data, **kind) if device is None else made(data, **kind).to(device)


def _to(self, *where, moved=torch.Tensor.to, **named) -> torch.Tensor:
    """Move a tensor; torch would give a card without a number the number 0."""
    if where and isinstance(where[0], (str, torch.device)) and _index(torch.device(where[0])) == ELSEWHERE:
        where = f"{NAME}:{ELSEWHERE}", *where[1:]
    return moved(self, *where, **named)


def _run_with(card: Card, run=threading.Thread.run):
    """Return what a thread does: a mode is of one thread, a card is there for all."""

    def started(self) -> None:
        with _Mode(card):
            run(self)

    return started


def _enter(self) -> None:
    """Turn gradients off and no more: a wrapper of an inference tensor cannot be made."""
    self.without = torch.no_grad()
    self.without.__enter__()


def _exit(self, *failure) -> None:
    self.without.__exit__(*failure)


class _Mode(TorchDispatchMode):
    """Everything that torch computes while the card is inserted."""

    current = None

    def __init__(self, card: Card):
        super().__init__()
        self.card = card

    def __enter__(self):
        _Mode.current = self
        return super().__enter__()

    def __torch_dispatch__(self, operation, types, arguments=(), named=None):
        return self.run(operation, arguments, named or {})

    def run(self, operation, arguments, named):
        """Compute an operation where it belongs; count it, and refuse tensors of two devices."""
        tensors = [item for item in tree_flatten((arguments, named))[0] if isinstance(item, torch.Tensor)]
        ours, name = [item for item in tensors if isinstance(item, OnCard)], operation._schema.name.split("::")[1]
        target = named.get("device")
        onto = _index(torch.device(target)) if target is not None else _index(ours[0].device) if ours else None
        if not ours and onto is None:
            return operation(*arguments, **named)
        _refuse_mixed(name, tensors)
        if target is not None:
            named = named | {"device": torch.device("cpu")}
        view = bool(ours) and any(
            item.alias_info is not None and not item.alias_info.is_write for item in operation._schema.arguments
        )
        self._count(name, arguments, ours, onto, view)
        if self.card.hollow and not view and _floats(ours) and name != "_local_scalar_dense":
            held = _hollow(operation, arguments, named)
        else:
            held = operation(*_rounded(name, tree_map(_held, arguments)), **tree_map(_held, named))
        if "out" in named or (name.endswith("_") and not name.startswith("_")):
            return named.get("out", arguments[0])
        return tree_map(lambda item: self._placed(item, ours[0].block if view else None, onto), held)

    def _count(self, name, arguments, ours, onto, view) -> None:
        masks = name in ("index", "index_put_", "_index_put_impl_") and any(
            item is not None and item.dtype == torch.bool for item in arguments[1]
        )
        home = name in COPIES and (onto is None or (name == "copy_" and not isinstance(arguments[0], OnCard)))
        lengths = name == "repeat_interleave"
        if ours and (name in WAITS or masks or home or lengths):
            self.card.syncs[name] += 1
        if home or (name in COPIES and not ours):
            source = arguments[1] if name == "copy_" else arguments[0]
            self.card.copied["home" if home else "here"] += source.numel() * source.element_size()
        if not view and name not in ALLOCATIONS:
            self.card.launches[name] += 1

    def _placed(self, item, block, onto):
        if not isinstance(item, torch.Tensor) or onto is None:
            return item
        size = _bytes(item)
        if block is None and self.card.memory is not None and self.card.bytes + size > self.card.memory:
            raise torch.OutOfMemoryError(f"the card has {self.card.memory} bytes, {self.card.bytes + size} are wanted")
        return OnCard(item, block or Block(self.card, size), onto)


def _bytes(item: torch.Tensor) -> int:
    """Return the bytes of a tensor's content; those of a sparse one, a gradient of embeddings, are few."""
    parts = (item._indices(), item._values()) if item.is_sparse else (item,)
    return sum(part.numel() * part.element_size() for part in parts)


def _refuse_mixed(name: str, tensors: list) -> None:
    places = {str(item.device) for item in tensors if isinstance(item, OnCard) or item.dim() > SCALAR}
    if len(places) > 1 and name not in COPIES:
        raise RuntimeError(f"Expected all tensors to be on the same device, but {name} found {' and '.join(sorted(places))}")


def _index(device: torch.device) -> int | None:
    """Return the number of a card, None for the CPU."""
    if device.type != NAME:
        return None
    return ELSEWHERE if device.index is None else device.index


def _rounded(name: str, arguments):
    """Round the factors of a product to 10 bits behind the point, if TF32 is on."""
    if name not in PRODUCTS or not torch.backends.cuda.matmul.allow_tf32:
        return arguments
    return [*arguments[:-2], *map(_ten_bits, arguments[-2:])]


def _ten_bits(factor: torch.Tensor) -> torch.Tensor:
    if factor.dtype != torch.float32:
        return factor
    return ((factor.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def _held(item):
    return item.held if isinstance(item, OnCard) else item


def _floats(tensors: list) -> bool:
    return any(item.is_floating_point() for item in tensors)


def _hollow(operation, arguments, named):
    """Return results of the right shapes without computing them: each has one number, seen from everywhere."""

    def shape_of(item):
        if not isinstance(item, torch.Tensor):
            return item
        return torch.empty_strided(item.size(), item.stride(), dtype=item.dtype, device="meta")

    def content_of(item):
        if not isinstance(item, torch.Tensor):
            return item
        made = torch.ones if item.dtype == torch.bool else torch.zeros  # every number is finite
        return made((), dtype=item.dtype).expand(item.shape)

    if operation._schema.name == "aten::index":  # as many rows as the masks let through
        arguments = arguments[0], [part for item in arguments[1] for part in _numbers(item)]
    if named.get("device") is not None:
        named = named | {"device": torch.device("meta")}
    return tree_map(content_of, operation(*tree_map(shape_of, arguments), **tree_map(shape_of, named)))


def _numbers(index) -> tuple:
    """Return the places that a mask lets through, by dimension; any other index as it is."""
    return _held(index).nonzero(as_tuple=True) if index is not None and index.dtype == torch.bool else (index,)
