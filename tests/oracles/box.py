"""An instruction of a CPU in exact integers, as the program of ``tcsmt identify --command``.

``python -m tests.oracles.box UNIT`` reads one line ``{"a": [hex, ...], "b": [...], "c": hex}`` for each
question, and writes ``{"d": hex}``. It shares no code with the models.
"""

from __future__ import annotations

import json
import sys

from tests.oracles.cpus import UNITS


def main(unit: str) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        a, b = ([int(word, 16) for word in asked[side]] for side in "ab")
        print(json.dumps({"d": hex(UNITS[unit](a, b, int(asked["c"], 16)))}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
