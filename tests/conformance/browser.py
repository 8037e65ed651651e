"""Chromium without a window, on pages of `juju-sim run --html`."""

import base64
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import fetch

PACKAGE = "chromium-headless-shell"
# Words of the program that have nothing to do with a page: no sandbox as root, no graphics card.
PLAIN = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
LIMIT = 120


def get() -> Path:
    """The unpacked browser, with a font in case the machine has none."""
    return fetch.program(PACKAGE, "fonts-dejavu-core")


def run(place: Path, page: Path, *options: str) -> subprocess.CompletedProcess:
    """Opens a page."""
    tree = place / "tree"
    # Some libraries lie in folders of their own; a tree of another architecture has none of these.
    folders = sorted({library.parent for library in (tree / "usr/lib").rglob("*.so*")})
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            [tree / "usr/lib/chromium" / PACKAGE, *PLAIN, f"--user-data-dir={profile}", *options, page.as_uri()],
            env=environment, capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip


def picture(place: Path, page: Path, script: str, size: tuple[int, int], image: Path) -> str:
    """A PNG of a page after a script has run in it; why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        end = f"<script>addEventListener('load', () => {{ {script} }});</script>"
        copy.write_text(page.read_text(encoding="utf-8") + end, encoding="utf-8")
        width, height = size
        done = run(place, copy, f"--window-size={width},{height}", f"--screenshot={image}", "--virtual-time-budget=2000")
    return "" if image.exists() else done.stderr[-2000:]


def tried(place: Path, page: Path, script: str) -> dict:
    """Opens a page with a script added at its end, which calls `report` with what it has found. What the page
    says on its console, and every error that nobody catches, is under `console`."""
    text = page.read_text(encoding="utf-8")
    watch = """<script>window.said = [];
      for (const level of ["error", "warn"]) console[level] = (...words) => said.push(level + ": " + words.join(" "));
      addEventListener("error", event => said.push("error: " + event.message));
      addEventListener("unhandledrejection", event => said.push("error: " + event.reason));
      </script>"""
    end = """<script>const report = found => {
      const at = document.createElement("pre");
      at.id = "report";
      at.textContent = btoa(unescape(encodeURIComponent(JSON.stringify({...found, console: said}))));
      document.body.append(at); };
      addEventListener("load", () => { try { report(trial()); } catch (error) { report({failed: String(error)}); } });
      function trial() { %s }</script>"""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        head, rest = text.split("<head>", 1)
        copy.write_text(f"{head}<head>{watch}{rest}{end % script}", encoding="utf-8")
        done = run(place, copy, "--dump-dom", "--window-size=1400,900", "--virtual-time-budget=5000")
    found = re.search(r'<pre id="report">([A-Za-z0-9+/=]+)</pre>', done.stdout)
    if not found:
        return {"failed": f"exit {done.returncode}: {done.stderr[-2000:]}", "console": []}
    return json.loads(base64.b64decode(found[1]))
