"""Print what the scheduler thinks of each node: its dumps, a line each when it changes, and all now and then."""

import json
import pathlib
import sys
import time

EVERYTHING_S = 600.0
INTERVAL_S = 2.0


def changed(folder, known):
    """The dumps that are not as known any more, by node."""
    for path in sorted(folder.glob("*.json")):
        try:
            dump = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            # The scheduler writes it at this moment.
            continue
        if known.get(path.name) != dump:
            known[path.name] = dump
            yield {"node": path.stem, "dump": dump}


def main():
    """Until the pod ends."""
    folder, known, since = pathlib.Path(sys.argv[1]), {}, time.monotonic()
    while True:
        if time.monotonic() - since > EVERYTHING_S:
            known, since = {}, time.monotonic()
        for line in changed(folder, known):
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
        time.sleep(INTERVAL_S)


main()
