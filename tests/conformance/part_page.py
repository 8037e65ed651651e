"""The page of a run, opened in Chromium: what is drawn is what happened, and it answers to mouse and keys."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import browser
import fetch
from report import Report

HERE = Path(__file__).resolve().parent
SIM = fetch.ROOT / "target/debug/juju-sim"
SCENARIO = fetch.ROOT / "tests/scenarios/demo_rollout.yaml"

# Of the bars that are drawn: snaps, application databags, own ones, actions, a refresh that is undone.
COLOURS = {f"var(--{name})" for name in ("snap", "app", "unit", "action", "fail", "idle")}
# What a person does with the page, and what there is to be seen then.
TRIAL = """
  const bars = () => [...document.querySelectorAll("svg rect.hook")];
  const texts = () => [...document.querySelectorAll("svg text")].map(text => text.textContent);
  const heading = () => document.querySelector("#details h2")?.textContent;
  const point = bar => bar.dispatchEvent(new MouseEvent("mouseenter"));
  const press = bar => bar.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  const found = {title: document.title, name: document.querySelector("h1").textContent, texts: texts(),
    bars: bars().length, fills: [...new Set(bars().map(bar => bar.getAttribute("fill")))].sort(),
    failure: document.getElementById("failure").hidden ? "" : document.getElementById("failure").textContent};
  const [first, second] = bars();
  point(first); found.pointed = heading();
  point(second); found.moved = heading();
  press(second); point(first); found.kept = heading();
  press(second); point(first); found.released = heading();
  first.focus();
  first.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
  found.key = heading();
  found.inside = bars().every(bar => { const box = bar.getBBox(); return box.x >= 0 && box.width > 0; });
  const width = () => Number(document.querySelector("svg").getAttribute("width"));
  const before = width();
  document.getElementById("idle").click();
  found.all = bars().length;
  document.getElementById("scale").click();
  found.wider = width() !== before;
  const chart = document.getElementById("chart"), label = document.querySelector("svg g");
  chart.scrollLeft = 300;
  chart.dispatchEvent(new Event("scroll"));
  found.label = label.getBoundingClientRect().left;
  const titles = [...document.querySelectorAll("svg title")].map(title => title.textContent);
  found.statuses = titles.filter(title => /^(active|waiting|blocked|maintenance): /.test(title)).length;
  return found;
"""


def page_of(scenario: Path, charm: Path, page: Path) -> str:
    """Runs a scenario and writes its page; why it could not."""
    argv = [SIM, "run", scenario, "--charm", f"lockstep={charm}", "--html", page]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=200, check=False)
    return "" if done.returncode == 0 else done.stderr[-2000:]


def events(page: Path) -> list[dict]:
    """The hooks in the data of a page."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    return [event for event in json.loads(data[1])["events"] if event["event"] == "hook"] if data else []


def name(hook: dict) -> str:
    return f"{hook['unit']}  {hook['name']}" + (f" ({hook['remote']})" if hook["remote"] else "")


def run(report: Report, place: Path, charm: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "rollout.html"
        fault = page_of(SCENARIO, charm, page)
        if fault:
            report.check("a page is written of a run", fault)
            return
        drawn(report, events(page), browser.tried(place, page, TRIAL))
        silly = browser.tried(place, page, 'console.error("broken"); setTimeout(() => 0); return {};')
        report.check("what a page says on its console is noticed", "" if silly["console"] else f"{silly}")


def drawn(report: Report, hooks: list[dict], found: dict) -> None:
    """Compares what the browser has drawn with what is in the page's data."""
    if "failed" in found:
        report.check("a page of a run opens in Chromium", found["failed"])
        return

    def same(what: str, here, there) -> None:
        report.check(f"page of a run: {what}", "" if here == there else f"{here!r}, not {there!r}")

    same("nothing is said on the console", found["console"], [])
    same("nothing failed", found["failure"], "")
    same("it has its scenario's name", found["title"], found["name"])
    units = {hook["unit"] for hook in hooks}
    same("each unit has its lane", units - set(found["texts"]), set())
    shown = [hook for hook in hooks if hook["snaps"] or hook["bags"] or hook["statuses"] or hook["faults"]
             or hook["kind"] != "hook" or hook["outcome"] in ("failed", "killed")]  # fmt: skip
    same("each hook that changed something is a bar", found["bars"], len(shown))
    same("each hook is a bar where that is asked for", found["all"], len(hooks))
    same("bars lie within the chart", found["inside"], True)
    same("bars have the colours of what was done", set(found["fills"]), COLOURS)
    same("pointing at a bar shows it", found["pointed"], name(shown[0]))
    same("pointing at another shows that", found["moved"], name(shown[1]))
    same("a click keeps it", found["kept"], name(shown[1]))
    same("a second click lets it go", found["released"], name(shown[0]))
    same("an arrow key goes on to the next", found["key"], name(shown[1]))
    same("the true scale of time is another width", found["wider"], True)
    same("names of units stay in sight", found["label"], 0)
    same("statuses are drawn", found["statuses"] > len(units), True)
