"""Texts as word-pieces: the tokenizer, the tokens around a text, and windows of long ones. Nothing here needs torch."""

from pathlib import Path

from tokenizers import Tokenizer

from epic.core.files import InputError


def tokenizer_of(path) -> Tokenizer:
    """Load the encoder's word-piece tokenizer, without the limits that some encoders ship (128 word-pieces, say)."""
    file = Path(path) / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises nothing more particular
        raise InputError(f"{file}: it cannot be read as a tokenizer ({str(error)[:100]}); fetch or make it again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def refuse_unknown_pieces(tokenizer: Tokenizer, rows: int, path) -> None:
    """Refuse a tokenizer with word-pieces that a model's embeddings, so many rows, do not have."""
    count = tokenizer.get_vocab_size()
    if count > rows or tokenizer.id_to_token(rows) is not None:
        raise InputError(
            f"{Path(path) / 'tokenizer.json'}: {count} word-pieces, but the model has embeddings of {rows}; "
            "the tokenizer is another model's"
        )


def special_tokens(tokenizer: Tokenizer) -> tuple[int, int]:
    """Return ids of the tokens before and after a text: those the tokenizer puts around an empty one, or else by name."""
    around = tokenizer.encode("").ids
    if len(around) == 2:
        return around[0], around[1]
    for names in (("[CLS]", "[SEP]"), ("<s>", "</s>")):
        found = [tokenizer.token_to_id(name) for name in names]
        if None not in found:
            return found[0], found[1]
    raise InputError("the tokenizer has neither [CLS] and [SEP] nor <s> and </s>; is the encoder a masked language model?")


def windows_of(ids: list[int], window: int, longest: int | None = None) -> list[list[int]]:
    """Split into as few windows as possible, all of one length but the last, as the released code does; an empty text is one
    empty window.

    longest: the word-pieces of the longest text in a batch of the released code. Its windows are then those of all texts in
    the batch, so that the last ones of a shorter text may be empty; and no text is longer.
    """
    count, size = layout(len(ids) if longest is None else longest, window)
    return [ids[:longest][part * size : (part + 1) * size] for part in range(count)]


def layout(length: int, window: int) -> tuple[int, int]:
    """Return the number of windows of a text, and the word-pieces of each but the last, which may have fewer."""
    count = max(1, -(-length // window))
    return count, -(-length // count)


def word_of(tokenizer: Tokenizer, term: int) -> str:
    """Return the word-piece of a vocabulary entry; an entry that only pads the embeddings has none, and is named by its id."""
    word = tokenizer.id_to_token(term)
    return f"[unused {term}]" if word is None else word
