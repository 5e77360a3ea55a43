"""Lines of text in columns, for a terminal."""


def columns(lines: list[tuple[str, ...]], texts: int) -> list[str]:
    """Align the cells of lines in columns: first `texts` columns of text, then columns of numbers, which stand to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    placed = [[*map(str.ljust, line[:texts], widths), *map(str.rjust, line[texts:], widths[texts:])] for line in lines]
    return ["  ".join(line).rstrip() for line in placed]
