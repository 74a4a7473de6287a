"""The small model that konsil runs itself: seconds to load, tokens a second, memory, and whether
replies repeat.

    python benchmarks/local_model.py        # needs konsil[local] and 'konsil local install'
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from pathlib import Path

from konsil.collect.local.local_models import find
from konsil.collect.local.local_server import LocalServer
from konsil.collect.providers.openai_compatible import OpenAICompatible
from konsil.collect.providers.provider import Message, Reply, Request

QUESTIONS = (
    "Which vitamin is missing in scurvy?",
    "Which hormone lowers blood glucose?",
    "Which nerve moves the diaphragm?",
    "Which bone is the longest?",
    "Which vessel brings blood to the lungs?",
    "Which cell makes antibodies?",
    "Which mineral is missing in microcytic anaemia?",
    "Which valve lies between left atrium and left ventricle?",
)
LABEL = {"type": "string", "enum": ["Incorrect", "Correct", "Cannot judge"]}
FORM = {
    "type": "object",
    "properties": {f"a{n}": LABEL for n in range(1, 6)},
    "required": [f"a{n}" for n in range(1, 6)],
    "additionalProperties": False,
}


def answer(question: str) -> Request:
    return Request(
        "smollm2", (Message("user", question),), temperature=0.0, max_tokens=48, logprobs=1
    )


def judge(question: str) -> Request:
    rules = "Judge each answer by itself. Other words for the reference are correct too. " * 12
    answers = "\n".join(f"a{n}: insulin" for n in range(1, 6))
    messages = (
        Message("system", rules),
        Message("user", f"{question}\nReference: insulin\n{answers}\nReply as JSON."),
    )
    return Request("smollm2", messages, temperature=0.0, max_tokens=120, schema=FORM)


async def timed(
    server: LocalServer, requests: list[Request], clients: int
) -> tuple[float, list[Reply]]:
    provider = OpenAICompatible(server.url, headers={"Authorization": f"Bearer {server.key}"})
    gate = asyncio.Semaphore(clients)

    async def one(request: Request) -> Reply:
        async with gate:
            return await provider.complete(request)

    began = time.perf_counter()
    try:
        replies = await asyncio.gather(*(one(r) for r in requests))
    finally:
        await provider.close()
    return time.perf_counter() - began, replies


def processor_seconds(server: LocalServer) -> float:
    """What the server used of all processors: what a busy machine changes least."""
    user, system = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    server = LocalServer(find("smollm2"))
    began = time.perf_counter()
    server.start()
    print(f"processors {os.cpu_count()}, load average {os.getloadavg()[0]:.1f}")
    print(f"started and loaded in {time.perf_counter() - began:.1f} s")
    try:
        for what, make in (("answers", answer), ("judgements", judge)):
            requests = [make(q) for q in QUESTIONS]
            kept = []
            for clients in (1, 8):
                before = processor_seconds(server)
                seconds, replies = asyncio.run(timed(server, requests, clients))
                worked = processor_seconds(server) - before
                read, written = (sum(r.usage[k] for r in replies) for k in ("in", "out"))
                print(
                    f"{what}, {clients} at once: {seconds / len(requests):.2f} s each;"
                    f" {read / len(requests):.0f} tokens read, {written / len(requests):.0f}"
                    f" written; {(read + written) / seconds:.0f} tokens a second,"
                    f" {(read + written) / worked:.0f} a processor second"
                )
                kept.append([(r.text, r.logprobs) for r in replies])
            same = sum(a == b for a, b in zip(*kept, strict=True))
            print(f"  the same, to the last digit of log-probabilities: {same} of {len(requests)}")
        status = Path(f"/proc/{server.pid}/status").read_text()
        peak = re.search(r"VmHWM:\s+(\d+) kB", status)
        print(f"memory at most {int(peak[1]) / 1024:.0f} MB" if peak else "")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
