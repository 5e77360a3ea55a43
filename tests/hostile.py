"""Texts that try to be more than texts: in HTML, Markdown, LaTeX, spreadsheets, formulas of figures, and on a terminal."""

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>"
MARKDOWN = "**bold** _em_ `code` [link](javascript:alert(1)) ![i](x) ~~gone~~ $x^2$ a | b &lt;b&gt; \\ # end #"
LATEX = r"\write18{id} \input{/etc/passwd} 100% $x$ #1 a_b^c~ {\bf} [2em] & \\"
FORMULA = "=cmd|' /C calc'!A0"
FORMULAS = [FORMULA, "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1", "\uff1d1+1"]
REORDERED = "safe\u202egnp.exe\u202c \u2066isolated\u2069 \u200fmark"
CONTROLS = "bell\x07 escape\x1b[31m nul\x00 delete\x7f next\x85line bom\ufeff soft\xadhyphen tag\U000e0041"
LINES = "one\r\n# two\n\n---\nthree"
QUOTES = "\"double\" 'single' &amp; </td></pre></textarea>"
TEXTS = [SCRIPT, MARKDOWN, LATEX, FORMULA, REORDERED, CONTROLS, LINES, QUOTES, "_under", "$", "1. one", "- two", "> three"]
ALL = " ".join(TEXTS)


def unseen(text):
    """The characters of a text that must not be written as they are: they reorder what stands around them, or nobody sees them."""
    import unicodedata

    kept = "\n\t\u200c\u200d"
    return [
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in kept
    ]
