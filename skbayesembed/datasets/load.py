"""Texts that are on the machine already."""

from __future__ import annotations

import platform

from sklearn.utils import Bunch

_PYTHON_REFERENCE = """\
The Python language reference, by topic
---------------------------------------

The help texts behind ``help("topic")``, one document per topic (such as "assert", "lambda" or
"typesseq"), in the alphabetical order of the topics. They are extracts of the language reference
and ship with CPython as the module ``pydoc_data.topics``; nothing is downloaded.

The text follows the interpreter: every release of CPython carries its own, so word counts, and with
them any fit, differ from one Python version to the next. These are the texts of {implementation}
{version}: {n_topics} topics, {n_characters:,} characters.

Author: the Python Software Foundation and contributors. Licence: PSF License Agreement; examples in
the text also under the Zero-Clause BSD licence.
"""


def load_python_reference() -> Bunch:
    """Load the Python language reference that ships with CPython.

    A small real text that is on every machine and needs no network; the first example uses it. The
    text changes from one CPython version to the next.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with the attributes

        data : list of str
            One document per topic.
        topics : list of str
            The names of the topics, sorted, in the order of ``data``.
        DESCR : str
            What the texts are, and which Python version they come from.

    Raises
    ------
    ImportError
        If this Python was installed without ``pydoc_data``.

    Examples
    --------
    >>> from skbayesembed.datasets import load_python_reference
    >>> reference = load_python_reference()
    >>> reference.topics[:2]
    ['assert', 'assignment']
    >>> reference.data[0].splitlines()[0]
    'The "assert" statement'
    """
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise ImportError(
            "load_python_reference needs the module pydoc_data.topics of CPython's standard "
            "library, which this Python was installed without; install the full standard library."
        ) from error
    names = sorted(topics)
    data = [topics[name] for name in names]
    description = _PYTHON_REFERENCE.format(
        implementation=platform.python_implementation(),
        version=platform.python_version(),
        n_topics=len(names),
        n_characters=sum(map(len, data)),
    )
    return Bunch(data=data, topics=names, DESCR=description)
