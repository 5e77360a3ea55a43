"""A graphics card that does not exist: its tensors claim the device `card:0`, hold data of the CPU, and refuse to be mixed.

Each operation on them is counted as a launch, each time that the program would wait for the card as a sync; the bytes
that live tensors have are added up. `hollow` cards compute nothing: floating-point results have a shape but no content,
so that the memory of large models can be measured in seconds.
"""

from collections import Counter
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

NAME = "card"
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "bincount", "_unique2", "unique_dim", "equal", "is_nonzero"}
COPIES = {"_to_copy", "copy_"}  # the only operations between devices
LOWER = ("linear", "mm", "addmm", "bmm", "matmul", "baddbmm")  # what autocast computes in a lower precision
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
    def __new__(cls, held: torch.Tensor, block: Block):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=f"{NAME}:0",
            requires_grad=False,
        )

    def __init__(self, held: torch.Tensor, block: Block):
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
        self.launches, self.syncs = Counter(), Counter()

    def forget(self) -> None:
        """Count anew; what lives stays counted."""
        self.peak = self.bytes
        self.launches, self.syncs = Counter(), Counter()


@contextmanager
def inserted(hollow: bool = False, memory: int | None = None):
    """Yield a card that exists inside this block; `memory`: bytes beyond which it is out of memory."""
    install()
    card = Card(hollow, memory)
    with _Mode(card), ExitStack() as patches:
        for name, function in (("__enter__", _enter), ("__exit__", _exit)):
            patches.enter_context(patch.object(torch.inference_mode, name, function))
        patches.enter_context(patch.object(torch, "tensor", _tensor))
        yield card


def _tensor(data, device=None, made=torch.tensor, **kind) -> torch.Tensor:
    """Make a tensor, then move it: torch.tensor does both at once, past every mode."""
    return made(data, **kind) if device is None else made(data, **kind).to(device)


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
        onto = torch.device(target).type == NAME if target is not None else bool(ours)
        if not ours and not onto:
            return operation(*arguments, **named)
        _refuse_mixed(name, tensors)
        if target is not None:
            named = named | {"device": torch.device("cpu")}
        view = bool(ours) and any(
            item.alias_info is not None and not item.alias_info.is_write for item in operation._schema.arguments
        )
        self._count(name, arguments, ours, onto, view)
        if self.card.hollow and not view and ours and _floats(ours):
            held = _hollow(operation, arguments, named)
        else:
            held = operation(*tree_map(_held, arguments), **tree_map(_held, named))
        if "out" in named or (name.endswith("_") and not name.startswith("_")):
            return named.get("out", arguments[0])
        return tree_map(lambda item: self._placed(item, ours[0].block if view else None, onto), held)

    def _count(self, name, arguments, ours, onto, view) -> None:
        masks = name in ("index", "index_put_", "_index_put_impl_") and any(
            item is not None and item.dtype == torch.bool for item in arguments[1]
        )
        home = name in COPIES and (not onto or (name == "copy_" and not isinstance(arguments[0], OnCard)))
        lengths = name == "repeat_interleave"
        if ours and (name in WAITS or masks or home or lengths):
            self.card.syncs[name] += 1
        if not view and name not in ("_unsafe_view", "empty", "empty_like"):
            self.card.launches[name] += 1

    def _placed(self, item, block, onto):
        if not isinstance(item, torch.Tensor) or not onto:
            return item
        size = item.numel() * item.element_size()
        if block is None and self.card.memory is not None and self.card.bytes + size > self.card.memory:
            raise torch.OutOfMemoryError(f"the card has {self.card.memory} bytes, {self.card.bytes + size} are wanted")
        return OnCard(item, block or Block(self.card, size))


def _refuse_mixed(name: str, tensors: list) -> None:
    places = {type(item) is OnCard for item in tensors if type(item) is OnCard or item.dim() > SCALAR}
    if len(places) > 1 and name not in COPIES:
        raise RuntimeError(f"Expected all tensors to be on the same device, but {name} found {NAME}:0 and cpu")


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
        return torch.zeros((), dtype=item.dtype).expand(item.shape)

    if named.get("device") is not None:
        named = named | {"device": torch.device("meta")}
    return tree_map(content_of, operation(*tree_map(shape_of, arguments), **tree_map(shape_of, named)))
