"""Makes tiny data for all published programs.

    python -m benchmarks.published.tiny_data FOLDER
"""

import pathlib
import sys

from benchmarks.published.tiny_data import games, images, language, tables, tagged_words


def main() -> None:
    """Makes the data in the folder that the command line names."""
    root = pathlib.Path(sys.argv[1])
    for kind in (language, tagged_words, tables, images, games):
        kind.make(root)


if __name__ == "__main__":
    main()
