//! cos-agent forwarding: what each principal tells goes to peers, the leader gathers it and hands it on.
#[allow(missing_docs)]
#[derive(Debug)]
pub struct Outcome {
    pub records: std::collections::BTreeMap<String, String>,
    pub outgoing:
        std::collections::BTreeMap<crate::juju::RelationId, std::collections::BTreeMap<String, String>>,
    pub statuses: Vec<crate::juju::Status>,
    pub observed_principals: usize,
    pub memo: crate::observed::observability::Memo,
}
#[allow(missing_docs)]
pub fn decide(_: &crate::observed::Observability) -> Outcome {
    Outcome {
        records: Default::default(),
        outgoing: Default::default(),
        statuses: vec![],
        observed_principals: 0,
        memo: Default::default(),
    }
}
#[allow(missing_docs)]
pub fn check_data(_: &str) -> Vec<crate::databag::Fault> {
    vec![]
}
