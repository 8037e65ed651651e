"""cosl and pydantic read what lockstep writes, wherever they have a model of it. Runs as a program
of its own, whose PYTHONPATH has them: the databags on standard input, faults on standard output."""

import json
import sys
import warnings


def faults(databags: dict[str, dict[str, str]]) -> list[str]:
    """Where one case's databags are not what the models describe."""
    import cosl
    from cosl.rules import AlertRules
    from cosl.types import OfficialRuleFileFormat
    from pydantic import TypeAdapter

    found = []
    form = TypeAdapter(OfficialRuleFileFormat)
    for endpoint, query in (("send-remote-write", "promql"), ("logging-consumer", "logql")):
        text = databags.get(endpoint, {}).get("alert_rules", "")
        if not text:
            continue
        rules = json.loads(text)
        if not rules:
            continue
        try:
            # What the type does not know is left out of the value.
            if form.validate_python(rules) != rules:
                found.append(f"{endpoint}: keys that cosl's type does not have")
        except ValueError as error:
            found.append(f"{endpoint}: {error}")
        reader = AlertRules(query_type=query)
        reader.add(rules)
        read = [(group["name"], len(group["rules"])) for group in reader.as_dict().get("groups", [])]
        sent = [(group["name"], len(group["rules"])) for group in rules["groups"]]
        if len(read) != len(sent) or [count for _, count in read] != [count for _, count in sent]:
            found.append(f"{endpoint}: cosl reads {read} of {sent}")
        for rule in [rule for group in rules["groups"] for rule in group["rules"]]:
            # The constructor refuses a uuid that is none.
            labels = {key.removeprefix("juju_"): value for key, value in rule["labels"].items()}
            if not cosl.JujuTopology.from_dict({"unit": None, **labels}).identifier:
                found.append(f"{endpoint}: no topology in {rule['labels']}")
    metadata = databags.get("logging-consumer", {}).get("metadata", "")
    if metadata and cosl.JujuTopology.from_dict(json.loads(metadata)).application != "lockstep":
        found.append(f"logging-consumer: metadata is not of lockstep: {metadata}")
    text = databags.get("grafana-dashboards-provider", {}).get("dashboards", "")
    for key, template in json.loads(text or "{}").get("templates", {}).items():
        dashboard = json.loads(cosl.LZMABase64.decompress(template["content"]))
        if not cosl.DashboardPath40UID.is_valid(dashboard.get("uid", "")):
            found.append(f"dashboard {key} has no uid that cosl takes: {dashboard.get('uid')}")
    for key, text in databags.get("peers", {}).items():
        if not key.startswith("config-"):
            continue
        record = json.loads(text)
        for kind in ("metrics_alert_rules", "log_alert_rules"):
            if record.get(kind):
                form.validate_python(record[kind])
        for dashboard in record.get("dashboards") or []:
            json.loads(cosl.LZMABase64.decompress(dashboard))
    return found


def main() -> None:
    warnings.simplefilter("error")
    all_sent = json.load(sys.stdin)
    found = {name: faults(databags) for name, databags in all_sent.items()}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
