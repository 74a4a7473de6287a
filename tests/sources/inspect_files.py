"""Logs of Inspect written by hand, as small as its reader takes them, so that they can be
spoilt."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def header(**more: Any) -> dict[str, Any]:
    """A log's beginning: the run of a task."""
    spec = {
        "created": "2026-01-05T10:00:00+00:00",
        "task": "t",
        "model": "m",
        "dataset": {},
        "config": {},
    }
    return {"version": 2, "status": "success", "eval": {**spec, **more}}


def sample(name: str, **more: Any) -> dict[str, Any]:
    """A sample with a reply and a score."""
    reply = {"message": {"role": "assistant", "content": "Metformin."}, "stop_reason": "stop"}
    return {
        "id": name,
        "epoch": 1,
        "input": f"Question {name}?",
        "target": "metformin",
        "metadata": {"specialty": "endo"},
        "output": {"model": "m", "choices": [reply]},
        "scores": {"grader": {"value": "C"}},
        **more,
    }


def write_json_log(path: Path, samples: Iterable[dict[str, Any]]) -> Path:
    """A log in JSON."""
    path.write_text(json.dumps({**header(), "samples": list(samples)}), "utf-8")
    return path


def write_eval_log(path: Path, samples: Iterable[dict[str, Any]]) -> Path:
    """A log as an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header()))
        for content in samples:
            archive.writestr(f"samples/{content['id']}_epoch_1.json", json.dumps(content))
    return path
