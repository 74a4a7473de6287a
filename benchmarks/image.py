"""The image of the Containerfile without an engine of containers: its steps run in an empty directory,
and the result is started as the compose file starts it. As root, by hand:

    apt-get install debootstrap
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie base
    python benchmarks/image.py --base base

`base` stands in for the image after FROM: Debian with the same version of Python. The steps RUN, COPY, ENV,
USER, WORKDIR and the entry point are those of the file. The server has a file system that is read only,
but for the study and `/tmp`, and no privileges. It must be healthy by the check of the image, back up its
study and end in order."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from pages import write_study

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 120
# What a build needs of this machine, and the image does not have.
BORROWED = ("/etc/resolv.conf", "/etc/hosts")
# The parts of the machine that an engine gives to every container; and the read-only root.
MOUNTED = """
set -e
mount --bind "$0" "$0"
mount -o remount,bind,ro "$0"
for place in /dev /proc; do mount --rbind $place "$0$place"; done
mount -t tmpfs tmpfs "$0/tmp"
mount --bind "$1" "$0$2"
root="$0"; user="$3"; folder="$4"; shift 5
cd /
exec chroot --userspec="$user:$user" "$root" /usr/bin/env --chdir="$folder" -i "$@"
"""


@dataclass
class Image:
    """A directory with the files of an image, and how it is started."""

    root: Path
    environment: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
    )
    user: str = "0"
    folder: str = "/"
    volume: str = ""
    entry: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def steps(text: str) -> list[tuple[str, str]]:
    """The instructions of a Containerfile, lines continued, without comments."""
    lines = [
        line
        for line in text.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def build(containerfile: str, base: Path, place: Path) -> Image:
    """Run every step; the image of the last stage."""
    stages: dict[str, Image] = {}
    image = Image(place)
    for number, (name, rest) in enumerate(steps(containerfile)):
        began = time.monotonic()
        if name == "FROM":
            source, _, stage = rest.partition(" AS ")
            image = begin(source, base, place / f"stage-{number}")
            stages[stage] = image
        elif name == "COPY":
            copy(rest.split(), image, stages)
        elif name == "RUN":
            run(image, ["sh", "-c", rest])
        elif name == "ENV":
            for key, value in re.findall(r"(\w+)=(\S+)", rest):
                image.environment[key] = value.replace("$PATH", image.environment["PATH"])
        elif name == "VOLUME":
            image.volume = rest
        elif name in ("USER", "WORKDIR"):
            setattr(image, {"USER": "user", "WORKDIR": "folder"}[name], rest)
        elif name in ("ENTRYPOINT", "CMD"):
            setattr(image, {"ENTRYPOINT": "entry", "CMD": "command"}[name], json.loads(rest))
        elif name == "HEALTHCHECK":
            image.health = json.loads(rest.removeprefix("CMD "))
        elif name != "EXPOSE":
            raise SystemExit(f"Containerfile: unknown instruction {name}")
        print(f"{name} {rest[:70]}: {time.monotonic() - began:.0f} s", flush=True)
    return image


def begin(source: str, base: Path, root: Path) -> Image:
    """A stage: a copy of the base, in which Python is as in the image that it stands in for."""
    subprocess.run(["cp", "--archive", "--reflink=auto", base, root], check=True)
    for file in BORROWED:
        shutil.copy(file, root / file[1:])
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    image = Image(root)
    version = run(image, ["python", "-c", "import platform; print(platform.python_version())"])
    wanted = re.fullmatch(r"python:([\d.]+)-slim", source)
    if wanted is None or not version.startswith(f"{wanted[1]}."):
        raise SystemExit(f"{base}: has Python {version.strip()}, but the image is {source}")
    return image


def copy(words: list[str], image: Image, stages: dict[str, Image]) -> None:
    """COPY, from this checkout or from another stage."""
    *sources, target = [word for word in words if not word.startswith("--from=")]
    [stage] = [word.partition("=")[2] for word in words if word.startswith("--from=")] or [""]
    origin = stages[stage].root if stage else ROOT
    place = image.root / target[1:]
    for source in sources:
        path = origin / source.lstrip("/")
        to = place / path.name if target.endswith("/") else place
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            ignored = shutil.ignore_patterns("__pycache__") if not stage else None
            shutil.copytree(path, to, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(path, to)


def run(image: Image, command: list[str]) -> str:
    """A command in the image, as root; its output."""
    # Certificates and a proxy of this machine, so that packages are found from here.
    environment = {
        key: value
        for key, value in os.environ.items()
        if key.lower().endswith("_proxy") or key in ("PIP_INDEX_URL", "PIP_TRUSTED_HOST")
    }
    bundle = os.environ.get("SSL_CERT_FILE", "")
    if bundle:
        shutil.copy(bundle, image.root / "tmp/certificates.pem")
        environment["PIP_CERT"] = environment["SSL_CERT_FILE"] = "/tmp/certificates.pem"
    done = subprocess.run(
        [
            "chroot",
            image.root,
            "env",
            "-i",
            *assignments(environment | image.environment),
            *command,
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout[-500:]}{done.stderr[-1500:]}")
    return done.stdout


def assignments(environment: dict[str, str]) -> list[str]:
    """Variables as the program env takes them."""
    return [f"{key}={value}" for key, value in environment.items()]


def contained(image: Image, study: Path, command: list[str]) -> list[str]:
    """A command line that runs a command as an engine would, but for network and processes."""
    mounted = [MOUNTED, str(image.root), str(study), image.volume, image.user, image.folder, "--"]
    return ["unshare", "--mount", "sh", "-c", *mounted, *assignments(image.environment), *command]


def show(image: Image, study: Path) -> None:
    """Serve a study, check the server, back the study up, and stop."""
    # Made outside, as with an engine: the image writes to its volume only, and not beside it.
    write_study(study, 3, 1)
    subprocess.run(["chown", "--recursive", f"{image.user}:{image.user}", study], check=True)
    subprocess.run(contained(image, study, [*image.entry, "import", image.volume]), check=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    command = [word if word != "8000" else port for word in [*image.entry, *image.command]]
    health = [word.replace(":8000/", f":{port}/") for word in image.health]
    began = time.monotonic()
    server = subprocess.Popen(contained(image, study, command))
    try:
        while subprocess.run(contained(image, study, health), capture_output=True).returncode:
            if server.poll() is not None or time.monotonic() - began > READY_SECONDS:
                raise SystemExit("the server is not healthy")
            time.sleep(0.5)
        print(f"healthy after {time.monotonic() - began:.0f} s", flush=True)
        backup = [*image.entry, "backup", image.volume, f"{image.volume}/backup.db"]
        subprocess.run(contained(image, study, backup), check=True)
        owner = next(study.glob("backup.db")).stat().st_uid
        status = Path(f"/proc/{server.pid}/status").read_text()
        uid = re.findall(r"Uid:\s+(\d+)", status)
        print(f"served by user {uid[0]}, backup of user {owner}")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    print(f"ended with status {server.returncode}")


def main() -> None:
    """Build the image and show that it runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, required=True, help="a directory with Debian, Python")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        (place := Path(made) / "image").mkdir()
        Path(made).chmod(0o755)
        image = build((ROOT / "Containerfile").read_text("utf-8"), options.base, place)
        size = subprocess.run(["du", "-sm", image.root], capture_output=True, text=True).stdout
        print(f"image: {size.split()[0]} MB with the base")
        show(image, Path(made) / "study")


if __name__ == "__main__":
    main()
