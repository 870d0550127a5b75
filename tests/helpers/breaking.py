"""Fits that are broken off after so many writings of their checkpoint."""

from __future__ import annotations

import contextlib
from unittest import mock

from skbayesembed.inference.checkpoint import Stage


class Broken(Exception):
    """In the place of whatever ends a process."""


@contextlib.contextmanager
def break_after(n):
    """Context in which the writing number ``n`` (from 1) is the last; yields a list of all."""
    write, made = Stage.write, []

    def counted(stage, *given):
        write(stage, *given)
        made.append(stage.path.name)
        if len(made) >= n:
            raise Broken

    # the disk is not waited for: what ends here is the process
    with mock.patch.object(Stage, "write", counted), mock.patch("os.fsync"):
        yield made
