"""konsil design as a process: its link, its port, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.cli.main import group


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_the_printed_link_opens_the_pages_once_and_ctrl_c_leaves_nothing(tmp_path: Path):
    # A shell without a terminal starts what runs in its background deaf to Ctrl+C.
    start = """if True:
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from konsil.cli import main
        main(sys.argv[1:])
    """
    command = [sys.executable, "-c", start, "design", "new", "--no-browser"]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        assert link.startswith("http://127.0.0.1:")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(link) as page:
            assert page.url.endswith("/data") and b"What is evaluated?" in page.read()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(link)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_file_instead_of_a_folder_is_one_sentence(tmp_path: Path):
    (tmp_path / "items.csv").write_text("item\n1\n")
    result = CliRunner().invoke(group, ["design", str(tmp_path / "items.csv"), "--no-browser"])
    assert "is a file; expected a folder" in str(result.exception)
