"""The same as a transformer, for those who put steps together as scikit-learn does; which need not be installed."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from disassociation.errors import ParameterError
from disassociation.formats import read
from disassociation.pipeline import disassociate
from disassociation.records import Transactions
from disassociation.release import Release

__all__ = ["Disassociator"]


class Disassociator:
    """Makes the release of the records it is fitted to; shaped like a scikit-learn transformer.

    The parameters are those of :func:`disassociation.disassociate`. ``fit`` leaves ``release_``, the
    :class:`disassociation.Release`, and ``n_records_in_``, how many records were given, empty ones included; nothing
    else is kept of the records. Publish ``release_``, not the fitted object: that has the parameters too, and with them
    the names of the sensitive terms, which a release does not tell.

    ``fit_transform`` returns the release, not records: subrecords belong to no row of the input, and records drawn with
    ``release_.reconstruct()`` are a possible original, one of very many. So this is the last step of a pipeline, or
    is followed by one that takes a release. ``y`` is not looked at: labels of rows would no longer belong to anything.

    Examples:
        >>> import disassociation as da
        >>> maker = da.Disassociator(k=2, m=2)
        >>> release = maker.fit_transform([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2)
        >>> release
        <Release: k=2, m=2; 5 records, 3 terms, 1 leaf, 0 joint clusters>
        >>> maker.release_ is release, maker.n_records_in_
        (True, 5)
        >>> da.Disassociator(k=3)
        Disassociator(k=3)
    """

    release_: Release
    n_records_in_: int

    def __init__(
        self,
        *,
        k: int = 5,
        m: int = 2,
        l: int | None = None,  # noqa: E741
        max_cluster_size: int | None = None,
        sensitive: Iterable[str] = (),
        keep_together: Iterable[Iterable[str]] = (),
        refine: bool = True,
        method: str = "default",
        threads: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        # Stored as they are, and checked when fitted: whoever clones this compares what goes in with what comes out.
        self.k = k
        self.m = m
        self.l = l
        self.max_cluster_size = max_cluster_size
        self.sensitive = sensitive
        self.keep_together = keep_together
        self.refine = refine
        self.method = method
        self.threads = threads
        self.progress = progress

    def __repr__(self) -> str:
        given = self.get_params()
        changed = [f"{name}={given[name]!r}" for name, usual in _USUAL.items() if not _same(given[name], usual)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as they were given; there are none within them, so ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in _USUAL}

    def set_params(self, **params: Any) -> Disassociator:
        """Change parameters; what is fitted stays as it is until the next ``fit``."""
        if not params.keys() <= _USUAL.keys():
            raise ParameterError(f"set_params: there is no such parameter; there are {', '.join(_USUAL)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: object = None) -> Disassociator:  # noqa: N803 - as scikit-learn has it
        """Make the release of these records, anything that :func:`disassociation.read` takes; ``y`` is not looked at.

        Raises:
            ParameterError: What is asked for is out of range, or impossible with these data.
            GuaranteeError: The finished release failed its audit; a defect of this program, and nothing is kept.
        """
        data = read(X)
        self.release_ = self._release(data)
        self.n_records_in_ = len(data) + data.empty_records
        return self

    def fit_transform(self, X: Any, y: object = None) -> Release:  # noqa: N803 - as scikit-learn has it
        """Make the release of these records, and return it; ``y`` is not looked at."""
        return self.fit(X, y).release_

    def transform(self, X: Any) -> Release:  # noqa: N803 - as scikit-learn has it
        """The release of these records if it is the one that was fitted, and refused if it is not.

        A release is of all its records together: none can be added to it, and a release of some of them beside that of
        all would say more than either promises. The records themselves are not kept to compare with; they are
        disassociated again, which takes as long as ``fit``. In which order they come makes no difference.

        Raises:
            ParameterError: Nothing is fitted yet, or these records have another release.
        """
        if not self.__sklearn_is_fitted__():
            raise ParameterError("transform: nothing is fitted yet; call fit, or fit_transform")
        data = read(X)
        fitted = self.release_
        alike = len(data) == fitted.records and data.vocabulary.equals(fitted.vocabulary)
        if not alike or self._release(data) != fitted:
            raise ParameterError(
                "transform: this is not the release of these records with these parameters; "
                "a release is of the records it was fitted to, so call fit_transform for others"
            )
        return fitted

    def _release(self, data: Transactions) -> Release:
        """The release with the parameters as they are now."""
        given = self.get_params()
        for name in ("sensitive", "keep_together"):
            _require_lasting(name, given[name])
        return disassociate(data, **given)

    def __sklearn_is_fitted__(self) -> bool:
        """What ``sklearn.utils.validation.check_is_fitted`` asks."""
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of each step of a pipeline; only it asks, so it is there."""
        utils = importlib.import_module("sklearn.utils")
        return utils.Tags(
            estimator_type="transformer",
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags(preserves_dtype=[]),
            input_tags=utils.InputTags(sparse=True, string=True),
            no_validation=True,
        )


_USUAL = {name: parameter.default for name, parameter in inspect.signature(Disassociator).parameters.items()}
"""The parameters of the transformer with their defaults."""


def _same(given: object, usual: object) -> bool:
    """Whether a parameter has its default; those that cannot be compared with it have not."""
    return type(given) is type(usual) and bool(given == usual)


def _require_lasting(name: str, given: Any) -> None:
    """Refuse what can be gone through only once: the next fit would find it empty, and protect nothing."""
    if isinstance(given, Iterator) or (
        isinstance(given, (list, tuple)) and any(isinstance(group, Iterator) for group in given)
    ):
        raise ParameterError(f"{name} must be a collection, not something that is used up by reading; put it in a list")
