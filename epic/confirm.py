"""Google Drive does not hand out a large file at once: it answers with a page and a form that must be sent back."""

from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin

FORM = "download-form"


class _Page(HTMLParser):
    """The title of a page, and the hidden fields of its download form."""

    def __init__(self):
        super().__init__()
        self.title, self.action, self.fields = "", None, {}
        self._in_title = self._in_form = False

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "title":
            self._in_title = True
        elif tag == "form" and found.get("id") == FORM:
            self._in_form, self.action = True, found.get("action")
        elif tag == "input" and self._in_form and found.get("name"):
            self.fields[found["name"]] = found.get("value") or ""

    def handle_endtag(self, tag):
        if tag == "title":
            self._in_title = False
        elif tag == "form":
            self._in_form = False

    def handle_data(self, data):
        if self._in_title:
            self.title += data


def confirmation(html: str, url: str) -> str | None:
    """The address that the download form of a page leads to; None where it has none."""
    found = _parsed(html)
    return urljoin(url, f"{found.action}?{urlencode(found.fields)}") if found.action else None


def title(html: str) -> str:
    """The title of a page, on one line."""
    return " ".join(_parsed(html).title.split())


def _parsed(html: str) -> _Page:
    found = _Page()
    found.feed(html)
    return found
