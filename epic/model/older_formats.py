"""Files of older repositories on Hugging Face in the formats of today: pickled weights, and a vocabulary without a tokenizer.

No code of such a file is run: torch reads tensors, and refuses whatever else a pickle asks for.
"""

from pathlib import Path

from epic.core.files import InputError

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def read_pickled(file, name=None) -> dict:
    """Read a state dict that torch pickled; `name` is the file's for people, if it lies elsewhere."""
    import torch

    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds, from EOFError to UnpicklingError
        raise InputError(f"{name or file}: torch cannot read it as weights ({repr(error)[:200]})") from error
    kinds = {(type(key), isinstance(value, torch.Tensor)) for key, value in found.items()} if isinstance(found, dict) else None
    if kinds is None or kinds - {(str, True)}:
        raise InputError(f"{name or file}: not a state dict")
    return found


def to_safetensors(pickled, out) -> None:
    """Write pickled weights as safetensors; a tensor with two names is written twice, since safetensors share no memory."""
    import torch
    from safetensors.torch import save_file

    from epic.model.checkpoint import share

    state = read_pickled(pickled)
    if odd := [name for name, value in state.items() if not _is_plain(value)]:
        raise InputError(f"{pickled}: {odd[0]} is no plain tensor ({len(odd)} such)")
    copies = {name: value.clone(memory_format=torch.contiguous_format) for name, value in state.items()}
    save_file(copies, out, metadata={"format": "pt"})  # without it transformers does not take it for torch's
    share(out)


def _is_plain(tensor) -> bool:
    """Tell whether a tensor's numbers are all there: a view may claim a million times what is stored."""
    import torch

    return tensor.layout is torch.strided and not tensor.is_quantized and tensor.nbytes <= tensor.untyped_storage().nbytes()


def write_tokenizer(vocabulary, settings: dict, out) -> int:
    """Write tokenizer.json of a word-piece vocabulary, one a line, and return its size.

    As transformers' BertTokenizerFast makes it; settings: tokenizer_config.json, of which BERT's defaults may be missing.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pieces = _pieces(vocabulary)
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
        strip_accents=settings.get("strip_accents"),
        lowercase=settings.get("do_lower_case", True),
    )
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, pieces[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(out))
    return len(pieces)


def _pieces(path) -> dict[str, int]:
    """Return the numbers of word-pieces; a line's end is \\n alone, since other ends of lines can be word-pieces."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text in UTF-8 ({error})") from error
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    numbers = {piece: number for number, piece in enumerate(lines)}
    if len(numbers) < len(lines):
        twice = next(piece for number, piece in enumerate(lines) if numbers[piece] != number)
        raise InputError(f"{path} line {numbers[twice] + 1}: the word-piece {twice!r:.60} is there twice")
    if absent := [name for name in SPECIAL if name not in numbers]:
        raise InputError(f"{path}: no {absent[0]} among {len(numbers)} word-pieces; is it the vocabulary of a BERT?")
    return numbers
