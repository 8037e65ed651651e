"""What the packed charm sends out for each golden case, in the simulator, and for what ops and cosl
offer: application databags of lockstep by endpoint."""

import json
from pathlib import Path

import fetch
import part_ops

CASES = fetch.ROOT / "tests/cos_agent"
OUTGOING = {
    "send-remote-write": ("prometheus", "receive-remote-write"),
    "logging-consumer": ("loki", "logging"),
    "grafana-dashboards-provider": ("grafana", "grafana-dashboard"),
}


def scenario(case: dict) -> dict:
    """The case's principals and peers around one lockstep, each unit on a machine of its own."""
    steps: list[dict] = [{"deploy": {"charm": "lockstep"}}]
    for charm, _ in OUTGOING.values():
        steps.append({"deploy": {"charm": charm}})
    for endpoint, (charm, far) in OUTGOING.items():
        steps.append({"integrate": [f"lockstep:{endpoint}", f"{charm}:{far}"]})
    said = []
    for number, principal in enumerate(case["principals"]):
        application = principal["unit"].split("/")[0] + ("-also" * number)
        steps.append({"deploy": {"charm": "kubernetes-worker", "application": application}})
        steps.append({"integrate": [f"{application}:juju-info", "lockstep:worker"]})
        relation = [f"{application}:cos-agent", "lockstep:cos-agent"]
        steps.append({"integrate": relation})
        bag = {"relation": relation, "unit": f"{application}/0", "set": principal["databag"]}
        said.append({"databag": bag})
    peers = [bag for bag in case["peers"].values() if bag]
    if not case["principals"] or peers:
        # Somebody must be there whose lockstep is a real one, and gathers.
        steps.append({"deploy": {"charm": "kubernetes-worker", "application": "near"}})
        steps.append({"integrate": ["near:juju-info", "lockstep:worker"]})
    steps.append({"settle": {}})
    if peers:
        steps.append({"deploy": {"charm": "kubernetes-worker", "application": "far", "units": len(peers)}})
    for number, bag in enumerate(peers):
        unit = f"far/{number}"
        steps.append({"scripted-units": {"application": "lockstep", "units": 1, "beside": [unit]}})
        said.append({"databag": {"relation": ["lockstep:peers"], "unit": f"lockstep@{unit}", "set": bag}})
    steps += [*said, {"settle": {}}, {"expect": [{"no-hook-errors": True}]}]
    charms = str(fetch.ROOT / "tests/scenarios/charms.yaml")
    return {"name": case["name"], "charms-from": charms, "steps": steps}


def databags(world: dict) -> dict[str, dict[str, str]]:
    """The application databags that lockstep wrote, by its own endpoint, and `peers` of its units."""
    found: dict[str, dict[str, str]] = {}
    for relation in world["relations"].values():
        for endpoint in OUTGOING:
            if f"lockstep:{endpoint}" in relation["key"]:
                found[endpoint] = relation["apps"].get("lockstep", {}).get("values", {})
        if relation["key"] == "lockstep:peers":
            for state in relation["units"].values():
                found.setdefault("peers", {}).update(state["bag"]["values"])
    return found


def of(case: dict, name: str, charm: Path) -> dict[str, dict[str, str]]:
    """Databags for one case."""
    folder = fetch.WORK / "golden"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name}.yaml"
    # JSON is YAML.
    place.write_text(json.dumps(scenario(case)), encoding="utf-8")
    good, events, said = part_ops.simulate(place, {"lockstep": charm})
    if not good:
        raise RuntimeError(f"{name} in the simulator: {said or events[-1:]}"[:3000])
    return databags(events[-1]["world"])


def of_golden_cases(charm: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Databags by the name of the case."""
    paths = sorted(CASES.glob("*.json"))
    return {path.stem: of(json.loads(path.read_text(encoding="utf-8")), path.stem, charm) for path in paths}
