"""One worker as a process of its own: what `konsil answer` does, with a short lease.

python worker_process.py FOLDER DATABASE LEASE [BUDGET]
"""

from __future__ import annotations

import json
import sys

from konsil.api import open_folder
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.systems import answer


def main() -> None:
    folder, database, lease, *budget = sys.argv[1:]
    opened = open_folder(folder, database=database)
    options = Options(
        lease=float(lease), budget=float(budget[0]) if budget else None, back_off=0.05
    )
    with opened.store() as store:
        collected = answer(opened.study, store, options)
    progress = collected.progress
    sys.stdout.write(
        json.dumps(
            {
                "ended": progress.ended,
                "calls": progress.calls,
                "elsewhere": progress.elsewhere,
                "remaining": progress.remaining,
                "stopped": progress.stopped,
                "spent": collected.spent,
            }
        )
    )


if __name__ == "__main__":
    main()
