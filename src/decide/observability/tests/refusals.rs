//! What comes back in `event` is traced to the application that it concerns.

use super::*;

fn refused(relation: RelationId, event: &str) -> Vec<String> {
    let given = config(
        groups(&[group("disk", &["A"])]),
        groups(&[group("disk", &["A"])]),
        &[dashboard("Disk/IO", UID)],
    );
    let mut world =
        World::new().principal(3, "db/0", &given).peer("lockstep/1", "db-replica/0", &given).with(|o| {
            let outgoing = o.outgoing.iter_mut().find(|o| o.relation == relation);
            outgoing.unwrap().event = Some(event.to_owned());
        });
    blocked(&world.settle()).into_iter().map(str::to_owned).collect()
}

#[test]
fn rules_are_traced_by_their_group() {
    let event = r#"{"errors":"error validating x.rules: group \"harbor_7d1f3c2a_db_replica:disk\", rule 1: bad, error validating y: what","valid":false}"#;
    for relation in [PROMETHEUS, LOKI] {
        assert_eq!(
            refused(relation, event),
            [
                format!(
                    "{relation} refuses group disk of db-replica: x.rules: group \"harbor_7d1f3c2a_db_replica:disk\", rule 1: bad"
                ),
                format!("{relation} refuses rules: y: what"),
            ]
        );
    }
}

#[test]
fn dashboards_are_traced_by_their_template() {
    let event = format!(
        r#"{{"errors":[{{"dashboard_id":"file:harbor_7d1f3c2a_db:disk_io:{UID}","error":"Invalid"}},
            {{"dashboard_id":"file:other","error":"Unknown"}}]}}"#
    );
    assert_eq!(
        refused(GRAFANA, &event),
        [
            "grafana-dashboards-provider:103 refuses dashboard disk_io of db: Invalid",
            "grafana-dashboards-provider:103 refuses dashboards: Unknown",
        ]
    );
}

#[test]
fn an_event_without_errors_is_quiet() {
    for event in ["{}", "", "junk", r#"{"valid":true}"#] {
        assert_eq!(refused(PROMETHEUS, event), [""; 0], "{event}");
    }
}
