"""A consumer process without a broker: it owns one queue and does what the fleet tells it.

It writes a real journal and speaks as the demo's consumer does, so that a test sees the fleet's own
part. ``leave`` with a client id that begins with "moody" makes it die instead.
"""

import argparse
import json
import sys
from pathlib import Path

from fairlead_proof.demo.consumer_process import emit, say

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.journal import JournalWriter


def main() -> None:
    """Obey the standard input."""
    parser = argparse.ArgumentParser()
    for name in ("topic", "client-id", "journal"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    queue, epoch = MessageQueue(arguments.topic, "main", 0), Epoch(1, 1)
    with JournalWriter(Path(arguments.journal), echo=say) as journal:
        emit("ready")
        for line in sys.stdin:
            match json.loads(line):
                case {"do": "join"}:
                    emit("joined")
                    journal.start(queue, epoch, 0)
                case {"do": "hold", "queue_id": 0}:
                    journal.held(queue, 0)
                case {"do": "resume"}:
                    journal.consumed(queue, 0, 17)
                case {"do": "leave"} if arguments.client_id.startswith("moody"):
                    sys.exit("I will not")
                case {"do": "leave"}:
                    journal.stop(queue, epoch, 1)
                    emit("left")
                    return


if __name__ == "__main__":
    main()
