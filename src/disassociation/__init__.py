"""Publish set-valued personal data by disassociation: every term kept, rare combinations hidden, the guarantee checked.

Examples:
    >>> import disassociation as da
    >>> data = da.read([["bread", "milk"], ["bread", "milk", "gin"], ["bread"], ["milk", "gin"]])
    >>> release = da.disassociate(data, k=2, m=2)
    >>> release.records
    4
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Attack",
    "Audit",
    "Disassociator",
    "Explanation",
    "Itemsets",
    "Release",
    "Risk",
    "Support",
    "Transactions",
    "Utility",
    "Witness",
    "__version__",
    "attack",
    "audit",
    "disassociate",
    "errors",
    "evaluate",
    "explain",
    "frequent_itemsets",
    "generate_pos",
    "generate_quest",
    "open_release",
    "read",
    "risk",
    "witness",
    "write",
]

if TYPE_CHECKING:
    from disassociation import errors
    from disassociation.auditor.auditing import audit
    from disassociation.auditor.possible import Witness, witness
    from disassociation.auditor.verdict import Audit
    from disassociation.evaluation import Utility, evaluate
    from disassociation.explanation import Explanation, explain
    from disassociation.exposure.attack_report import Attack, attack
    from disassociation.exposure.risk_before import Risk, risk
    from disassociation.formats import read, write
    from disassociation.generators import generate_pos, generate_quest
    from disassociation.itemsets import Itemsets, frequent_itemsets
    from disassociation.pipeline import disassociate
    from disassociation.records import Transactions
    from disassociation.release import Release
    from disassociation.release_reader import open_release
    from disassociation.support import Support
    from disassociation.transformer import Disassociator

_HOMES = {
    "Attack": "exposure.attack_report",
    "Audit": "auditor.verdict",
    "Disassociator": "transformer",
    "Explanation": "explanation",
    "Itemsets": "itemsets",
    "Release": "release",
    "Risk": "exposure.risk_before",
    "Support": "support",
    "Transactions": "records",
    "Utility": "evaluation",
    "Witness": "auditor.possible",
    "attack": "exposure.attack_report",
    "audit": "auditor.auditing",
    "disassociate": "pipeline",
    "evaluate": "evaluation",
    "explain": "explanation",
    "frequent_itemsets": "itemsets",
    "generate_pos": "generators",
    "generate_quest": "generators",
    "open_release": "release_reader",
    "read": "formats",
    "risk": "exposure.risk_before",
    "witness": "auditor.possible",
    "write": "formats",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing the package (and ``--help``) stays quick."""
    if name == "errors":
        return importlib.import_module("disassociation.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'disassociation' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"disassociation.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
