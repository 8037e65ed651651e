#!/usr/bin/env python3
"""Packs the charm without charmcraft, which cannot ship links.

    pack.py [pack] [--charm DIR] [--arch ARCH] [--form links|dispatch] [--executable FILE] [--output FILE]
    pack.py version [--charm DIR]

Makes target/charm/lockstep_ARCH.charm: a zip with the executable once and a link to it for every
hook and action. With `--charm` the same executable goes into another charm, whose metadata.yaml,
config.yaml, actions.yaml, README.md and charm/ are in DIR; examples/principal is one. With `--form
dispatch` it makes what charmcraft would: the executable as `dispatch`, no links. The same tree and
time give the same bytes; the time is SOURCE_DATE_EPOCH, else that of the last commit. `version`
prints the charm build.

Needs the standard library alone. Facts about the form: juju/charm charmarchive.go and meta.go,
juju/utils zip/zip.go, juju worker/uniter/runner/runner.go.
"""

import argparse
import hashlib
import os
import re
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# ARCH: the triple that it is built for, and the machine number in an ELF header.
ARCHITECTURES = {"amd64": ("x86_64-unknown-linux-gnu", 62), "arm64": ("aarch64-unknown-linux-gnu", 183)}

# The first is the base that Juju takes when `juju deploy` names none. A subordinate only joins
# principals of its own base, and 22.04 is the one that Charmed Kubernetes deploys by default.
BASES = ["22.04", "24.04", "20.04"]

# All that Juju 3.1 to 4.0 may run for this charm. A hook without a link is passed over in silence.
HOOKS = [
    "install", "start", "stop", "remove", "config-changed", "upgrade-charm",
    "update-status", "leader-elected", "leader-settings-changed",
]  # fmt: skip
RELATION_HOOKS = ["created", "joined", "changed", "departed", "broken"]

# What the charm build is computed from: the executable's sources and what says how the charm behaves.
SOURCES = ["Cargo.toml", "Cargo.lock", "src"]
DECLARED = ["metadata.yaml", "config.yaml", "actions.yaml"]

# A zip cannot say an earlier time than this.
EARLIEST = 315532800

# A packed file: its mode with the file type, and its bytes (of a link: where it points).
Entry = tuple[int, bytes]


class Refusal(Exception):
    """Something is not as it must be; the text says what and where."""


def top_level(path: Path) -> dict[str, list[str]]:
    """The keys that begin a line, each with the lines below it, of one of our own YAML files.

    Not a YAML parser: it knows the form that these files have and refuses any other.
    """
    blocks: dict[str, list[str]] = {}
    block: list[str] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name} line {number}"
        if "\t" in line:
            raise Refusal(f"{where}: a tab")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.startswith("  "):
            if block is None:
                raise Refusal(f"{where}: indented below nothing: {line!r}")
            block.append(line)
            continue
        found = re.fullmatch(r"([a-z0-9][a-z0-9-]*):( \S.*)?", line)
        if not found:
            raise Refusal(f"{where}: neither `key:` nor indented by two blanks or more: {line!r}")
        if found[1] in blocks:
            raise Refusal(f"{where}: {found[1]} is there twice")
        block = blocks[found[1]] = [line] if found[2] else []
    return blocks


def charm_name(charm: Path) -> str:
    """What metadata.yaml calls the charm."""
    lines = top_level(charm / "metadata.yaml").get("name", [])
    found = re.fullmatch(r"name: ([a-z][a-z0-9-]*)", lines[0]) if lines else None
    if not found:
        raise Refusal("metadata.yaml: no `name:` of small letters, digits and hyphens")
    return found[1]


def endpoints(charm: Path) -> list[str]:
    """The endpoints in metadata.yaml: names indented by two blanks below their section."""
    blocks = top_level(charm / "metadata.yaml")
    names: list[str] = []
    for section in ("provides", "requires", "peers"):
        for line in blocks.get(section, []):
            if line.startswith("    "):
                continue
            found = re.fullmatch(r"  ([a-z][a-z0-9-]*):", line)
            if not found:
                raise Refusal(f"metadata.yaml, {section}: not the name of an endpoint: {line!r}")
            if found[1] in names:
                raise Refusal(f"metadata.yaml, {section}: {found[1]} is there twice")
            names.append(found[1])
    if not names:
        raise Refusal("metadata.yaml: no endpoints")
    return names


def actions(charm: Path) -> list[str]:
    """The actions in actions.yaml: the names that begin a line."""
    blocks = top_level(charm / "actions.yaml")
    for name, lines in blocks.items():
        if not lines or not lines[0].startswith("  "):
            raise Refusal(f"actions.yaml: {name} is not a name with its keys below it")
    return list(blocks)


def git(tree: Path, *arguments: str) -> str | None:
    """What git answers about a tree, or None where it has no answer."""
    try:
        run = subprocess.run(["git", "-C", tree, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout


def files_of(tree: Path, tops: list[str]) -> dict[str, Path]:
    """The files of a tree below these names: the tracked ones; without git, all that are there."""
    listed = git(tree, "ls-files", "-z", "--", *tops)
    if listed:
        names = listed.rstrip("\0").split("\0")
    else:
        found = [path for top in tops for path in [tree / top, *(tree / top).rglob("*")]]
        names = [path.relative_to(tree).as_posix() for path in found if path.is_symlink() or path.is_file()]
    for name in names:
        # A link and the like would each need a rule of its own.
        if not stat.S_ISREG((tree / name).lstat().st_mode):
            raise Refusal(f"{name}: not a plain file")
    return {name: tree / name for name in names}


def charm_build(charm: Path) -> str:
    """Crate version and 8 hex over the sources: equal on all architectures and in all checkouts."""
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    package = re.search(r'^\[package\]\n(?:[^\[].*\n|\n)*?version = "([^"]+)"$', manifest, re.MULTILINE)
    if not package:
        raise Refusal("Cargo.toml: no version in [package]")
    declared = {name: charm / name for name in DECLARED}
    digest = hashlib.sha256()
    for name, path in sorted({**files_of(ROOT, SOURCES), **files_of(charm, ["charm"]), **declared}.items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"{package[1]}-{digest.hexdigest()[:8]}"


def packing_time() -> int:
    """The time that all entries bear."""
    # Not of a checkout that this tree, unpacked from an archive, only happens to lie in.
    committed = git(ROOT, "log", "-1", "--format=%ct") if (ROOT / ".git").exists() else None
    given = os.environ.get("SOURCE_DATE_EPOCH") or committed or str(EARLIEST)
    return max(int(given), EARLIEST)


def manifest(arch: str) -> bytes:
    """The bases. A channel is quoted: 22.04 alone is a number in YAML, and Juju wants a string."""
    bases = [f'- name: ubuntu\n  channel: "{base}"\n  architectures:\n  - {arch}\n' for base in BASES]
    return ("bases:\n" + "".join(bases)).encode()


def executable_for(path: Path, arch: str) -> bytes:
    """The executable, refused if it was built for another machine than the manifest will say."""
    content = path.read_bytes()
    if content[:4] != b"\x7fELF" or int.from_bytes(content[18:20], "little") != ARCHITECTURES[arch][1]:
        raise Refusal(f"{path}: not an executable for {arch}")
    return content


def entries(charm: Path, arch: str, form: str, executable: Path) -> dict[str, Entry]:
    """All that goes into the charm, by name."""
    packed: dict[str, Entry] = {}

    def add(name: str, mode: int, content: bytes) -> None:
        if name in packed:
            raise Refusal(f"two files to be packed as {name}")
        packed[name] = (mode, content)

    add("lockstep" if form == "links" else "dispatch", stat.S_IFREG | 0o755, executable_for(executable, arch))
    for name, path in files_of(charm, ["charm"]).items():
        mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
        add(name.removeprefix("charm/"), stat.S_IFREG | mode, path.read_bytes())
    # The licence is the executable's.
    for path in [charm / name for name in [*DECLARED, "README.md"]] + [ROOT / "LICENSE"]:
        add(path.name, stat.S_IFREG | 0o644, path.read_bytes())
    add("manifest.yaml", stat.S_IFREG | 0o644, manifest(arch))
    add("version", stat.S_IFREG | 0o644, f"{charm_build(charm)}\n".encode())
    if form == "links":
        if "dispatch" in packed:
            raise Refusal("charm/dispatch: Juju would run it in place of every link")
        hooks = HOOKS + [f"{name}-relation-{what}" for name in endpoints(charm) for what in RELATION_HOOKS]
        for link in [f"hooks/{name}" for name in hooks] + [f"actions/{name}" for name in actions(charm)]:
            # A link's own mode means nothing, and Juju refuses one that is absolute or leads outside.
            add(link, stat.S_IFLNK | 0o777, b"../lockstep")
    return packed


def write(packed: dict[str, Entry], output: Path) -> None:
    """Writes the zip under another name first, so that there never is half a charm."""
    date = time.gmtime(packing_time())[:6]
    unfinished = output.with_name(f".{output.name}.{os.getpid()}")
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(unfinished, "w") as archive:
            for name, (mode, content) in sorted(packed.items()):
                info = zipfile.ZipInfo(name, date)
                info.create_system = 3  # Unix: without it Juju takes no modes from the entry
                info.external_attr = mode << 16
                info.compress_type = zipfile.ZIP_STORED if stat.S_ISLNK(mode) else zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
        fate = "new"
        if output.exists():
            fate = "as it was" if output.read_bytes() == unfinished.read_bytes() else "replaced"
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"{output}: {fate}, {output.stat().st_size} bytes, {len(packed)} entries")


def main() -> int:
    """Reads the arguments and does what they ask; 1 with one line for a refusal."""
    parser = argparse.ArgumentParser(description="Pack the charm, or print the charm build.")
    parser.add_argument("command", nargs="?", choices=["pack", "version"], default="pack")
    parser.add_argument("--charm", type=Path, default=ROOT, metavar="DIR", help="default: the subordinate")
    parser.add_argument("--arch", choices=ARCHITECTURES, default="amd64")
    parser.add_argument("--form", choices=["links", "dispatch"], default="links")
    parser.add_argument("--executable", type=Path, help="default: the static build of that architecture")
    parser.add_argument("--output", type=Path, help="default: target/charm/NAME_ARCH.charm")
    given = parser.parse_args()
    try:
        if given.command == "version":
            print(charm_build(given.charm))
            return 0
        built = ROOT / "target" / ARCHITECTURES[given.arch][0] / "release" / "lockstep"
        suffix = "" if given.form == "links" else "-dispatch"
        usual = ROOT / "target" / "charm" / f"{charm_name(given.charm)}{suffix}_{given.arch}.charm"
        packed = entries(given.charm, given.arch, given.form, given.executable or built)
        write(packed, given.output or usual)
    except (Refusal, OSError, ValueError) as error:
        print(f"pack.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
