"""What the settings of a model say of its words: the schema that families of words refer to, `{"$ref": "#/$defs/words"}`."""

_FILE = {"type": ["string", "null"], "pattern": "^(path|download):."}
WORDS = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tokeniser", "vocabulary", "at_least", "most", "idf", "vectors"],
    "properties": {
        "tokeniser": {"enum": ["blingfire", "letters"]},
        "vocabulary": _FILE
        | {"description": "path:FILE or download:FILE, a published list of lines `word TAB number`; else null"},
        "at_least": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "passages that have a word of the vocabulary, at least",
        },
        "most": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 10000000,
            "description": "words of the vocabulary, at most; those of the most passages stay; null: all",
        },
        "idf": _FILE | {"description": "path:FILE or download:FILE, a published list of lines `word TAB idf`; else null"},
        "vectors": _FILE | {"description": "path:FILE or download:FILE with GloVe's vectors as text, .txt or .zip; else null"},
    },
    "if": {"properties": {"vocabulary": {"type": "string"}}, "required": ["vocabulary"]},
    "then": {
        "properties": {
            "at_least": {"const": 1, "description": "a published vocabulary is taken as it is; say at_least: 1"},
            "most": {"const": None, "description": "a published vocabulary is taken as it is; say most: null"},
        }
    },
}
DEFINITIONS = {"words": WORDS}
