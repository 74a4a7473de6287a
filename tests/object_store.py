"""A server with the part of the S3 interface that reading needs: lists, sizes and ranges."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_DAY = "2026-01-01T00:00:00.000Z"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root: Path
    ranges: list[str]

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        if not key and with_body:
            self._send(200, self._listing(bucket, parse_qs(parts.query)), "application/xml")
            return
        file = self.root / bucket / key
        if key and not file.is_file():
            self._send(404, b"", "application/xml")
            return
        data = file.read_bytes() if key else b""
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if part is None:
            self._send(200, data, "application/octet-stream", with_body=with_body)
            return
        self.ranges.append(part[0])
        first, last = int(part[1]), min(int(part[2]), len(data) - 1)
        span = {"Content-Range": f"bytes {first}-{last}/{len(data)}"}
        self._send(206, data[first : last + 1], "application/octet-stream", span)

    def _listing(self, bucket: str, query: dict[str, list[str]]) -> bytes:
        prefix = query.get("prefix", [""])[0]
        root = self.root / bucket
        keys = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
        keys = [key for key in keys if key.startswith(prefix)]
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{(root / key).stat().st_size}</Size>"
            f"<LastModified>{_DAY}</LastModified><ETag>x</ETag></Contents>"
            for key in keys
        )
        return (
            f"<ListBucketResult><Name>{bucket}</Name><IsTruncated>false</IsTruncated>"
            f"<KeyCount>{len(keys)}</KeyCount>{contents}</ListBucketResult>"
        ).encode()

    def _send(
        self,
        status: int,
        data: bytes,
        kind: str,
        headers: dict[str, str] | None = None,
        *,
        with_body: bool = True,
    ) -> None:
        self.send_response(status)
        every = {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}
        for name, value in {**every, "ETag": '"x"'}.items():
            self.send_header(name, value)
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if with_body:
            self.wfile.write(data)


@contextmanager
def object_store(root: Path) -> Iterator[tuple[str, list[str]]]:
    """The query of its URLs, and the ranges that were read; the buckets are the folders of root."""
    ranges: list[str] = []
    handler = type("Handler", (_Handler,), {"root": root, "ranges": ranges})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"scheme=http&region=test&endpoint_override=127.0.0.1:{server.server_port}", ranges
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
