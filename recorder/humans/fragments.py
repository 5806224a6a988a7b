"""Orders without a verb, as one says them in a hurry: "To the sink!", "Two steps back.", "Oven off." Tried last."""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

from recorder.humans.orders import MACROS, Rule, forward, put, rule, to, turned

__all__ = ["FRAGMENTS"]

_NAME = r"(?P<x>(?:the |your |that )?[\w'-]+(?: [\w'-]+){0,2})"
_BIT = MACROS["{bit}"]

FRAGMENTS: tuple[Rule, ...] = (
    rule(r"(?:further |to (?:the|your) )?(?P<side>left|right)(?:,? (?:by )?{angle})?", turned),
    rule(rf"(?P<bit>{_BIT})(?: more| further)? (?:to (?:the|your) )?(?P<side>left|right)", turned),
    rule(r"{angle} (?:to (?:the|your) )?(?P<side>left|right)", turned),
    rule(rf"(?:further )?(?:straight (?:on|ahead|forwards?)|forwards?|ahead)(?: (?:{{dist}}|(?P<bit>{_BIT})))?", forward(1.0)),
    rule(r"{dist}(?: more| further)? (?:forwards?|ahead|straight ahead|straight on)", forward(1.0)),
    rule(rf"(?P<bit>{_BIT})(?: more| further)? (?:forwards?|ahead)", forward(1.0)),
    rule(r"{dist}(?: more| further)? (?:back|backwards?)", forward(-1.0)),
    rule(rf"(?P<bit>{_BIT})(?: more| further)? (?:back|backwards?)", forward(-1.0)),
    rule(rf"(?:back|backwards?)(?: off| up| away)?(?: (?:{{dist}}|(?P<bit>{_BIT})))?", forward(-1.0)),
    rule(r"(?:over |back |straight |up |down |across |out |off )*(?:to|towards) {x}", to("Walk", "target")),
    rule(rf"(?P<prep>{MACROS['{on}']}|{MACROS['{in}']}) {{y}}(?: with (?P<x>it|that|this|(?:the|that|this) .+))?", lambda g: put({"x": "it", **g}) if g.get("x") else put({**g, "x": "what you are holding"})),
    rule(rf"{_NAME} on", to("SwitchOn", "target")),
    rule(rf"{_NAME} off", to("SwitchOff", "switched")),
)  # fmt: skip
