"""Coloured text: each word-piece on a background as dark as its weight, scaled from the least to the most of a text, as in
the paper's figures 3 and 4. Text is black on at most a light blue, so that it stays readable without colour."""

from pathlib import Path

from epic.core.files import InputError, read_json, replacing
from epic.core.visible import one_line

WIDTH, MARGIN, LINE, GAP, PAD = 7.2, 0.12, 0.22, 0.05, 0.03  # inches
DARKEST = (0.45, 0.60, 0.92)


def shades(weights: list[float], scale: list[float]) -> list[float]:
    """Turn weights into shades between 0 and 1, from the least to the most of `scale`; 0.5 if all of it is the same."""
    low, high = min(scale, default=0), max(scale, default=0)
    return [(weight - low) / (high - low) if high > low else 0.5 for weight in weights]


def lines_of(interpretation: dict) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return the lines to draw: (heading, word-pieces with shades), in order; a passage shares its scale with its expansion."""
    found = []

    def add(heading: str, part: dict, scale: list[float]) -> None:
        pieces = [one_line(piece) for piece in part["pieces"]]
        found.append((one_line(heading), list(zip(pieces, shades(part["weights"], scale), strict=True))))

    for place, query in enumerate(interpretation["queries"]):
        add("Queries" if place == 0 else "", query, query["weights"])
    for passage in interpretation["passages"]:
        every = passage["weights"] + passage["expansion"]["weights"]
        add(f"Passage {passage['doc_id']}", passage, every)
        add("Top expansion terms", passage["expansion"], every)
        if passage["predicted"]:
            add("Terms of predicted queries, by frequency", passage["predicted"], passage["predicted"]["weights"])
    return found


def color(shade: float) -> tuple[float, float, float]:
    """Return white for 0, blue for 1."""
    return tuple(1 - shade * (1 - part) for part in DARKEST)


def words_figure(interpretation, title: str, outs) -> None:
    """Draw all texts, broken into lines."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    texts = lines_of(read_json(interpretation))
    if not texts:
        raise InputError(f"{interpretation}: no texts to show; list some under `texts` in the experiment")
    font, small = FontProperties(size=8), FontProperties(size=7, style="italic")
    measure = FigureCanvasAgg(Figure(dpi=72)).get_renderer()
    placed, y = [(title, None, MARGIN, 0.0, font)], LINE * 1.6
    for heading, words in texts:
        if heading:
            y += 0.3 * LINE
            placed.append((heading, None, MARGIN, y, small))
            y += LINE
        x = MARGIN
        for word, shade in words:
            width = measure.get_text_width_height_descent(word, font, ismath=False)[0] / 72 + 2 * PAD
            if x + width > WIDTH - MARGIN:
                x, y = MARGIN, y + LINE
            placed.append((word, color(shade), x + PAD, y, font))
            x += width + GAP
        y += LINE * 1.2
    height = y + MARGIN
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasAgg(figure)
    for word, background, x, y, face in placed:
        box = {"facecolor": background, "edgecolor": "0.8", "lw": 0.3, "pad": 1.5} if background else None
        figure.text(x / WIDTH, 1 - (y + LINE) / height, word, fontproperties=face, bbox=box, parse_math=False)
    for out in outs:
        kind = Path(out).suffix[1:]
        with replacing(out) as draft:
            figure.savefig(draft, format=kind, dpi=150, metadata={"CreationDate": None} if kind == "pdf" else None)
