"""A principal written with ops: compares, in every event, what ops reads with what Juju documents.

What differs is an AssertionError, and so a failed hook. What it has seen is told by the action
`report`, and in databags. It states nothing about lockstep: beside lockstep it is only a sender.
"""

import json
import logging
import os
from pathlib import Path

import ops

logger = logging.getLogger(__name__)

# Juju puts these into the databag of each unit that joins.
ADDRESSES = {"egress-subnets", "ingress-address", "private-address"}


def equal(found, expected, what: str):
    """Fails the hook where they differ."""
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


class Harbor(ops.CharmBase):
    _stored = ops.StoredState()

    def __init__(self, framework: ops.Framework):
        super().__init__(framework)
        self._stored.set_default(events=[], deferred=0, status="", wrote={})
        for name, event in self.on.events().items():
            if issubclass(event.event_type, ops.CollectStatusEvent | ops.ActionEvent):
                continue
            framework.observe(event, self._on_event)
        framework.observe(self.on.report_action, self._on_report)
        framework.observe(self.on.sink_action, self._on_sink)
        framework.observe(self.on.collect_unit_status, self._on_collect_unit_status)
        framework.observe(self.on.collect_app_status, self._on_collect_app_status)

    # What is compared.

    def _on_event(self, event: ops.EventBase):
        name = event.handle.kind
        if name == "install" and self._stored.deferred == 0:
            self._compare_status(name)
            # A deferred event comes again in the next hook, from the state that this one commits.
            self._stored.deferred = 1
            event.defer()
            return
        seen = {"event": name}
        self._compare_names()
        self._compare_status("" if name == "install" else name)
        self._compare_network(name)
        self._compare_ports(name)
        self._compare_relations(event)
        if isinstance(event, ops.RelationEvent):
            seen |= self._compare_relation_event(event)
        self._stored.events.append(json.dumps(seen, sort_keys=True))
        if name in ("stop", "remove") or name.endswith("relation_broken"):
            return
        if name == "start":
            self.unit.open_port("tcp", 8443)
            self.unit.set_workload_version(f"{self.config['name']} {self._version()}")
        self._write()
        if name == "config_changed" and self.config["storm"]:
            self.model.get_relation("crew").data[self.unit]["wreck"] = "must not be seen"
            raise RuntimeError("a storm, as was asked for")

    def _version(self) -> str:
        return (self.charm_dir / "version").read_text(encoding="utf-8").strip()

    def _compare_names(self):
        environment = os.environ
        equal(self.unit.name, environment["JUJU_UNIT_NAME"], "the unit's name")
        equal(self.app.name, self.unit.name.rsplit("/")[0], "the application's name")
        equal(self.model.name, environment["JUJU_MODEL_NAME"], "the model's name")
        equal(self.model.uuid, environment["JUJU_MODEL_UUID"], "the model's uuid")
        equal(str(self.model.juju_version), environment["JUJU_VERSION"], "Juju's version")
        equal(Path(self.charm_dir), Path(environment["JUJU_CHARM_DIR"]), "the charm directory")
        equal(self.meta.name, "harbor", "the charm's name")
        # A number without a fraction comes as a whole one: Juju's own JSON writes 2.0 as 2.
        types = {"name": str, "berths": int, "depth": (int, float), "open": bool, "storm": bool, "note": str}
        for key, value in self.config.items():
            assert isinstance(value, types[key]), f"the option {key} is {value!r}"
            assert isinstance(value, bool) == (types[key] is bool), f"the option {key} is {value!r}"
        absent = [key for key in types if key not in self.config]
        assert absent in ([], ["note"]), f"options with a default are absent: {absent}"

    def _compare_status(self, name: str):
        # Juju's own words, else the last that the charm set.
        own = {
            "install": "installing charm software",
            "stop": "stopping charm software",
            "remove": "cleaning up prior to charm deletion",
        }
        if name in own:
            equal(self.unit.status, ops.MaintenanceStatus(own[name]), "the unit's status")
        elif self._stored.status:
            equal(self.unit.status, ops.ActiveStatus(self._stored.status), "the unit's status")
        if self.unit.is_leader() and name not in ("leader_elected",):
            word = self.app.status.name
            assert word in ("active", "unknown", "waiting", "maintenance"), f"the application is {word}"

    def _compare_network(self, name: str):
        if name in ("stop", "remove"):
            return
        for endpoint in ("crew", "serves", "uses", "juju-info"):
            network = self.model.get_binding(endpoint).network
            assert network.bind_address == network.interfaces[0].address, endpoint
            assert network.ingress_address and network.egress_subnets, endpoint
            assert network.ingress_address in network.egress_subnets[0], endpoint

    def _compare_ports(self, name: str):
        expected = {ops.Port("tcp", 8443)} if self._stored.wrote else None
        if expected and name not in ("start", "install", "stop", "remove"):
            started = any(json.loads(text)["event"] == "start" for text in self._stored.events)
            equal(self.unit.opened_ports(), expected if started else set(), "open ports")

    def _compare_relations(self, event: ops.EventBase):
        breaking = event.relation.id if isinstance(event, ops.RelationBrokenEvent) else None
        for endpoint in ("serves", "uses", "crew"):
            for relation in self.model.relations[endpoint]:
                if relation.id == breaking:
                    continue
                for unit in relation.units:
                    equal(unit.app, relation.app, f"the application of {unit.name}")
                    missing = ADDRESSES - set(relation.data[unit])
                    assert not missing, f"{unit.name} has no {missing} in {endpoint}"
                    dict(relation.data[relation.app])
                if endpoint == "crew":
                    equal(relation.app, self.app, "the far application of a peer relation")
                    assert self.unit not in relation.units, "a unit is its own peer"
                else:
                    equal(relation.remote_model.uuid, self.model.uuid, "the far model")
                own = dict(relation.data[self.unit])
                wrote = json.loads(self._stored.wrote.get(str(relation.id), "{}"))
                equal({k: own[k] for k in own if k not in ADDRESSES}, wrote, f"own databag in {endpoint}")
        assert self.app.planned_units() >= 0

    def _compare_relation_event(self, event: ops.RelationEvent) -> dict:
        relation = event.relation
        seen = {"endpoint": relation.name, "app": event.app and event.app.name}
        equal(os.environ["JUJU_RELATION"], relation.name, "JUJU_RELATION")
        equal(os.environ["JUJU_RELATION_ID"], f"{relation.name}:{relation.id}", "JUJU_RELATION_ID")
        if isinstance(event, ops.RelationBrokenEvent):
            assert not relation.active, "the broken relation is active"
            equal(relation.units, set(), "units of the broken relation")
            dict(relation.data[relation.app])
            return seen
        assert relation.active, f"{relation.name} is not active"
        if event.unit:
            seen["unit"] = event.unit.name
        if isinstance(event, ops.RelationJoinedEvent):
            assert event.unit in relation.units, f"{event.unit} joined and is not listed"
        if isinstance(event, ops.RelationDepartedEvent):
            seen["departing"] = event.departing_unit.name
            if relation.name == "crew":
                # ops itself leaves a departing peer's databag out.
                return seen
            missing = ADDRESSES - set(relation.data[event.unit])
            assert not missing, f"the departing {event.unit.name} has no {missing}"
        return seen

    # What is written.

    def _write(self):
        for endpoint in ("serves", "uses", "crew"):
            for relation in self.model.relations[endpoint]:
                if not relation.active:
                    continue
                mine = {
                    "seen": " ".join(sorted(unit.name for unit in relation.units)) or "nobody",
                    "config": json.dumps(dict(self.config), sort_keys=True),
                    "text": "ä\n--flag=value 'quoted'\ttab",
                }
                relation.data[self.unit].update(mine)
                self._stored.wrote[str(relation.id)] = json.dumps(mine)
                if self.unit.is_leader():
                    relation.data[self.app]["leader"] = self.unit.name
                    equal(relation.data[self.app]["leader"], self.unit.name, "what was written just now")
        for relation in self.model.relations["cos-agent"]:
            if relation.active:
                relation.data[self.unit]["config"] = json.dumps(self._cos_agent())

    def _cos_agent(self) -> dict:
        """What a principal offers, put together by cosl as the cos_agent library does."""
        # Only here: it takes as long to import as all else.
        import cosl
        from cosl.rules import AlertRules, generic_alert_groups

        topology = cosl.JujuTopology.from_charm(self)
        source = self.charm_dir / "src"
        metrics = AlertRules(query_type="promql", topology=topology)
        metrics.add_path(source / "prometheus_alert_rules", recursive=True)
        metrics.add(generic_alert_groups.application_rules, group_name_prefix=topology.identifier)
        logs = AlertRules(query_type="logql", topology=topology)
        logs.add_path(source / "loki_alert_rules", recursive=True)
        dashboards = []
        for path in sorted((source / "grafana_dashboards").glob("*.json")):
            dashboard = json.loads(path.read_text(encoding="utf-8"))
            relative = str(path.relative_to(self.charm_dir))
            dashboard["uid"] = cosl.DashboardPath40UID.generate(self.meta.name, relative)
            dashboards.append(cosl.LZMABase64.compress(json.dumps(dashboard)))
        return {
            "metrics_alert_rules": metrics.as_dict(),
            "log_alert_rules": logs.as_dict(),
            "dashboards": dashboards,
            "metrics_scrape_jobs": [
                {"job_name": "harbor_0", "static_configs": [{"targets": ["localhost:8443"]}]},
            ],
            "log_slots": [],
            "tracing_protocols": None,
        }  # fmt: skip

    # Statuses and actions.

    def _on_collect_unit_status(self, event: ops.CollectStatusEvent):
        message = f"{self.config['name']} at {self._version()}"
        self._stored.status = message
        event.add_status(ops.ActiveStatus(message))

    def _on_collect_app_status(self, event: ops.CollectStatusEvent):
        event.add_status(ops.ActiveStatus(f"led by {self.unit.name}"))

    def _on_report(self, event: ops.ActionEvent):
        assert event.id, "an action without an id"
        event.log("looking around")
        crew = self.model.get_relation("crew")
        event.set_results({
            "leader": str(self.unit.is_leader()).lower(),
            "planned": str(self.app.planned_units()),
            "params": json.dumps(event.params, sort_keys=True),
            "crew": {
                "units": " ".join(sorted(unit.name for unit in crew.units)) if crew else "",
                "led-by": crew.data[self.app]["leader"] if crew and self.unit.is_leader() else "",
            },
            "events": "\n".join(self._stored.events),
        })  # fmt: skip

    def _on_sink(self, event: ops.ActionEvent):
        event.fail("the harbor does not sink")


if __name__ == "__main__":
    # Both of ops' stores: its own file, and Juju's state-get and state-set.
    ops.main(Harbor, use_juju_for_storage=os.environ["JUJU_UNIT_NAME"].startswith("port/"))
