"""Files that the loaders download: where they are, and what they must be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address that stays the same, or is refused if it does not.

    Attributes
    ----------
    filename : str
        Its name in the data folder.
    url : str
    n_bytes : int
    sha256 : str
        In hexadecimal digits.
    """

    filename: str
    url: str
    n_bytes: int
    sha256: str


_NLTK = (
    "https://raw.githubusercontent.com/nltk/nltk_data/"
    "5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora"
)
_SOTU = (
    "https://raw.githubusercontent.com/statsmaths/sotu/"
    "052215725abfb11663812ffdc7270001c34a46ec/data"
)
_WORD2VEC = (
    "https://raw.githubusercontent.com/tmikolov/word2vec/20c129af10659f7c50e86e3be406df663beff438"
)
_DISC = (
    "https://raw.githubusercontent.com/schyanzafar/DiSC/5be09c476dd13f834cc7311c24fc23bb65b069ca"
)
_EVALUATION = (
    "https://raw.githubusercontent.com/mfaruqui/eval-word-vectors/"
    "94b3dd9fdbac7ed08dbee7179cd5ee464acf0594/data/word-sim"
)
_ANLP = (
    "https://raw.githubusercontent.com/dbamman/anlp19/954e3afe81c229e035118f8789d3b187b014094d/data"
)
_GROUPLENS = "https://files.grouplens.org/datasets/movielens"
_MAHONEY = "http://mattmahoney.net/dc"

_FILES = (
    (
        "inaugural.zip",
        f"{_NLTK}/inaugural.zip",
        346_476,
        "7c5fb5793e31fbeae12bf1aa0ffda5336468f07cedb50654c6d31ca384e2046b",
    ),
    (
        "state_union.zip",
        f"{_NLTK}/state_union.zip",
        808_757,
        "366c1dc82b2abf896f42b2ec50ba802a0141a29f75d29ca48a7a243ce5bfbe8d",
    ),
    (
        "conll2000.zip",
        f"{_NLTK}/conll2000.zip",
        756_607,
        "01e65164f268366e7caa0db92332a1955d081908c87016e2c7640c3c5279b7cd",
    ),
    (
        "brown.zip",
        f"{_NLTK}/brown.zip",
        3_314_357,
        "9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6",
    ),
    (
        "stopwords.zip",
        f"{_NLTK}/stopwords.zip",
        34_276,
        "15c94179887425ca1bedc265608cab9f27d650211f709bb929e320990a4b01d1",
    ),
    (
        "movie_reviews.zip",
        f"{_NLTK}/movie_reviews.zip",
        4_004_848,
        "a41211ae685019137410268134db6a1a14428c89b671eb83056151a878539008",
    ),
    (
        "sotu_text.rda",
        f"{_SOTU}/sotu_text.rda",
        2_703_706,
        "f3e0d3e48b83b74fd50052e9ce4c351cfabaa6f71c4aacbc32227baee78e1115",
    ),
    (
        "sotu_meta.rda",
        f"{_SOTU}/sotu_meta.rda",
        2_242,
        "82dcac793cf199195e55fd889791a2df7dc8072426000f34b311eac83589706e",
    ),
    (
        "questions-words.txt",
        f"{_WORD2VEC}/questions-words.txt",
        603_955,
        "8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36",
    ),
    (
        "R_files.zip",
        f"{_DISC}/R_files.zip",
        3_097_654,
        "0b489ca73c20184c2573b81aa0a10d4971e00dd26cdca5a07625827163bbfb35",
    ),
    (
        "EN-WS-353-ALL.txt",
        f"{_EVALUATION}/EN-WS-353-ALL.txt",
        7_405,
        "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
    ),
    (
        "EN-WS-353-SIM.txt",
        f"{_EVALUATION}/EN-WS-353-SIM.txt",
        4_002,
        "f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107",
    ),
    (
        "EN-WS-353-REL.txt",
        f"{_EVALUATION}/EN-WS-353-REL.txt",
        5_134,
        "66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa",
    ),
    (
        "EN-SIMLEX-999.txt",
        f"{_EVALUATION}/EN-SIMLEX-999.txt",
        18_024,
        "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
    ),
    (
        "EN-RG-65.txt",
        f"{_EVALUATION}/EN-RG-65.txt",
        1_210,
        "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f",
    ),
    (
        "EN-MC-30.txt",
        f"{_EVALUATION}/EN-MC-30.txt",
        543,
        "33ee05911496ff83d95cac351d0746c6f63b9181b605cb7d307f4daa8864511b",
    ),
    (
        "EN-MTurk-287.txt",
        f"{_EVALUATION}/EN-MTurk-287.txt",
        7_218,
        "a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5",
    ),
    (
        "EN-YP-130.txt",
        f"{_EVALUATION}/EN-YP-130.txt",
        2_614,
        "7643fdbc6158c3424061e2cba450c71285767266ff9f3db947bfc1f1f5ce67ab",
    ),
    (
        "dem.convote.txt",
        f"{_ANLP}/dem.convote.txt",
        2_506_598,
        "698875be99460151b17e0a3f23ab207f1819f7109069343924d6d729c833b7d8",
    ),
    (
        "repub.convote.txt",
        f"{_ANLP}/repub.convote.txt",
        2_145_373,
        "999f7b1c3d2747b19574eb962b273676ac1cf83dff1f9e01b9f8182d4e5bdd6d",
    ),
    (
        "ml-100k.zip",
        f"{_GROUPLENS}/ml-100k.zip",
        4_924_029,
        "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    ),
    (
        "ml-100k.u.data",
        f"{_GROUPLENS}/ml-100k/u.data",
        1_979_173,
        "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
    ),
    (
        "ml-100k.u.item",
        f"{_GROUPLENS}/ml-100k/u.item",
        236_344,
        "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
    ),
    (
        "ml-1m.zip",
        f"{_GROUPLENS}/ml-1m.zip",
        5_917_549,
        "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
    ),
    (
        "ml-latest-small.zip",
        f"{_GROUPLENS}/ml-latest-small.zip",
        978_202,
        "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
    ),
    (
        "text8.zip",
        f"{_MAHONEY}/text8.zip",
        31_344_016,
        "a6640522afe85d1963ad56c05b0ede0a0c000dddc9671758a6cc09b7a38e5232",
    ),
)

# By their names in the data folder.
FILES = {row[0]: RemoteFile(*row) for row in _FILES}
