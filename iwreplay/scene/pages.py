"""Documents with several pages: one face shows the page that is turned to, the others are known to the thing alone.

A class with the affordance `pages` has a face `page` and may have one called `cover`. The text of `page` gives all
pages, with a form feed ("\\f") between them. Closed, the document shows its cover; open, one page. Attributes `open`,
`page` (0: closed) and the two texts say so; what is on the other pages is in the property `pages`, and in no attribute.
"""

from __future__ import annotations

from collections.abc import Mapping

from iwreplay.errors import SceneError
from iwreplay.scene.model import Face, Thing
from iwreplay.scene.writing import check_fits
from iwreplay.vocabulary import AttrValue

__all__ = ["BREAK", "check_texts", "filed", "pages_of", "turned_to"]

#: between two pages
BREAK = "\f"
_MOST_PAGES = 60


def pages_of(thing: Thing) -> tuple[str, ...]:
    """The texts of its pages; () for what has none."""
    pages = thing.props.get("pages")
    return tuple(pages.split(BREAK)) if isinstance(pages, str) and "pages" in thing.affordances else ()


def turned_to(props: Mapping[str, AttrValue], page: int) -> dict[str, AttrValue]:
    """The attributes of a document that is turned to a page, from 1; 0: it is closed. SceneError for a page that it
    does not have."""
    pages = str(props.get("pages") or "").split(BREAK)
    if not 0 <= page <= len(pages):
        raise SceneError(f"there is no page {page}: the document has {len(pages)}; 0 is closed")
    found: dict[str, AttrValue] = {"open": page > 0, "page": page, "text:page": pages[page - 1] if page else ""}
    if "cover" in props:
        found["text:cover"] = props["cover"] if page == 0 else ""
    return found


def filed(
    texts: Mapping[str, AttrValue], *, attrs: Mapping[str, AttrValue], where: str
) -> tuple[dict[str, AttrValue], dict[str, AttrValue]]:
    """(attributes, properties) of a document whose faces have these texts ("text:page", "text:cover") at the start.
    `attrs` may say that it lies open, and at which page. SceneError for a page that it does not have."""
    written = str(texts.get("text:page") or "")
    pages = written.split(BREAK)
    props: dict[str, AttrValue] = {"pages": written}
    if "text:cover" in texts:
        props["cover"] = str(texts["text:cover"])
    page = attrs.get("page")
    at = page if isinstance(page, int) and page else int(attrs.get("open") is True)
    if len(pages) > _MOST_PAGES or not 0 <= at <= len(pages):
        raise SceneError(f"{where}: open at page {at} of {len(pages)}; a document has at most {_MOST_PAGES} pages")
    return turned_to(props, at), props


def check_texts(texts: Mapping[str, str], faces: Mapping[str, Face], *, paged: bool, where: str) -> None:
    """SceneError for a text on a face that is not there, with too many letters, that does not fit, or of several pages
    where there is one."""
    for name, text in texts.items():
        at = f"{where}: texts.{name}"
        face = faces.get(name)
        if face is None:
            raise SceneError(f"{at}: no such face; it has {', '.join(faces) or 'none'}")
        several = paged and name == "page"
        if BREAK in text and not several:
            raise SceneError(f'{at}: pages are for the face "page" of a document; leave the form feed out')
        for page in text.split(BREAK):
            if len(page) > 2000:
                raise SceneError(f"{at}: {len(page)} characters; at most 2000")
            check_fits(page, face, where=at)
