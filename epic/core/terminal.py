"""Lines of text in columns, for a terminal."""


def columns(lines: list[tuple[str, ...]], texts: int) -> list[str]:
    """Each line with its cells below one another: so many columns of text, then columns of numbers, which stand to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    placed = [[*map(str.ljust, line[:texts], widths), *map(str.rjust, line[texts:], widths[texts:])] for line in lines]
    return ["  ".join(line).rstrip() for line in placed]
