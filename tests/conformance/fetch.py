"""Brings the programs under test into target/conformance; nothing is installed into the system.

Python packages go into directories of their own for PYTHONPATH, Debian packages are unpacked. What
is there already is taken as it is: delete target/conformance for newer ones.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from report import Report, Unavailable

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "target" / "conformance"
# For one command, in seconds; a registry that takes longer counts as one that does not answer.
LIMIT = 200
TRIES = 3
ONE_AT_A_TIME = threading.Lock()


def run(argv: list[str | Path], cwd: Path | None = None) -> tuple[bool, str]:
    """Whether a command succeeded, and the last lines of what it said."""
    try:
        done = subprocess.run(
            [str(word) for word in argv], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{argv[0]} {argv[1]} did not end within {LIMIT} s") from None
    except OSError as error:
        return False, str(error)
    return done.returncode == 0, "\n".join(done.stdout.strip().splitlines()[-6:])


def several_tries(what: str, attempt) -> None:
    """Tries again after a pause: most troubles of a registry are gone after seconds."""
    for number in range(1, TRIES + 1):
        good, said = attempt()
        if good:
            return
        if number < TRIES:
            time.sleep(2 * number)
    raise Unavailable(f"cannot get {what}, tried {TRIES} times: {said}")


def finish(unfinished: Path, place: Path) -> None:
    """A directory is there under its name only when it is complete."""
    shutil.rmtree(place, ignore_errors=True)
    unfinished.rename(place)


def fresh(place: Path) -> Path:
    """An empty directory beside the place."""
    unfinished = place.with_name(place.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    return unfinished


def deb(package: str) -> Path:
    """A Debian or Ubuntu package of this machine's own release, unpacked."""
    # apt brings its lists up to date for one process at a time.
    with ONE_AT_A_TIME:
        return unpacked(package)


def unpacked(package: str) -> Path:
    place = WORK / "deb" / package
    if place.is_dir():
        return place
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not here: this machine is no Debian or Ubuntu")
    unfinished = fresh(place)

    def download() -> tuple[bool, str]:
        return run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package], unfinished)

    # The lists may be missing or old; bringing them up to date takes long, so it comes second.
    if not download()[0]:
        run(["apt-get", "-q", "update"])
        several_tries(f"the package {package}", download)
    archives = list(unfinished.glob("*.deb"))
    if len(archives) != 1:
        raise Unavailable(f"apt-get download {package} left {len(archives)} files")
    tree = unfinished / "tree"
    good, said = run(["dpkg-deb", "-x", archives[0], tree])
    if not good:
        raise Unavailable(f"cannot unpack {archives[0].name}: {said}")
    (unfinished / "version").write_text(archives[0].name.split("_")[1].replace("%3a", ":"), "utf-8")
    archives[0].unlink()
    finish(unfinished, place)
    return place


def program(package: str, *beside: str) -> Path:
    """A Debian package with all that it needs and this machine does not have, unpacked into one tree."""
    with ONE_AT_A_TIME:
        place = WORK / "deb" / f"{package}+"
        if place.is_dir():
            return place
        if not shutil.which("apt-get"):
            raise Unavailable("apt-get is not here: this machine is no Debian or Ubuntu")
        unfinished = fresh(place)
        archives = unfinished / "archives"
        (archives / "partial").mkdir(parents=True)
        # Download alone: dpkg is never run, so its lock is not needed.
        download = [
            "apt-get", "-q", "-y", "--no-install-recommends", "--download-only", "-o", "Debug::NoLocking=1",
            "-o", "APT::Sandbox::User=root", "-o", f"Dir::Cache::archives={archives}/", "install", package, *beside,
        ]  # fmt: skip
        if not run(download)[0]:
            run(["apt-get", "-q", "update"])
            several_tries(f"the package {package}", lambda: run(download))
        for archive in archives.glob("*.deb"):
            good, said = run(["dpkg-deb", "-x", archive, unfinished / "tree"])
            if not good:
                raise Unavailable(f"cannot unpack {archive.name}: {said}")
            if archive.name.startswith(f"{package}_"):
                (unfinished / "version").write_text(archive.name.split("_")[1].replace("%3a", ":"), "utf-8")
        shutil.rmtree(archives)
        finish(unfinished, place)
        return place


def version_of_deb(place: Path) -> str:
    return (place / "version").read_text(encoding="utf-8")


def pip() -> list[str | Path]:
    """A pip for this interpreter: its own, the one that came with it for new environments, or
    Debian's, unpacked."""
    if run([sys.executable, "-m", "pip", "--version"])[0]:
        return [sys.executable, "-m", "pip"]
    try:
        import ensurepip

        folders = [Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels")]
    except ImportError:
        folders = []
    for folder in [*folders, deb("python3-pip-whl") / "tree/usr/share/python-wheels"]:
        for wheel in sorted(folder.glob("pip-*.whl")):
            return [sys.executable, wheel / "pip"]
    raise Unavailable("there is no pip for this Python")


def python(name: str, requirements: list[str], minimum: tuple[int, int], options=()) -> Path:
    """A directory for PYTHONPATH with these packages and what they need."""
    if sys.version_info < minimum:
        needed = ".".join(map(str, minimum))
        raise Unavailable(f"needs Python {needed}; this is {sys.version.split()[0]}")
    place = WORK / "python" / name
    if place.is_dir():
        return place
    install = [
        *pip(), "install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary",
        ":all:", "--timeout", "30", *options,
    ]  # fmt: skip
    unfinished = fresh(place)

    def attempt() -> tuple[bool, str]:
        return run([*install, "--upgrade", "--target", unfinished, *requirements])

    several_tries(f"{', '.join(requirements)} from the package index", attempt)
    finish(unfinished, place)
    return place


def version_of_python(place: Path, package: str) -> str:
    for found in importlib.metadata.distributions(path=[str(place)], name=package):
        return found.version
    return "unknown"


def environment(*places: Path) -> dict[str, str]:
    """This process's environment, with these Python packages and no others of the user's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUJU_"))}
    return kept | {
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def attempted(report: Report, name: str, fetch):
    """What was fetched, or None where it could not be, which is said."""
    try:
        return fetch()
    except Unavailable as error:
        report.skip(name, str(error))
        return None
