//! The step `kube`: how the Kubernetes cluster of the machines is from now on.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::OneOrMany;
use crate::kube::{Access, Api, Kubectl, NodeIs, Part, Pod};
use crate::sim::Sim;

/// Of `kube`. What is not given stays.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct KubeStep {
    /// On the machines of these units; `all`.
    pub unit: Option<OneOrMany>,
    /// On this machine.
    pub machine: Option<String>,
    /// On all machines of this application; of what is said here its `kubeconfig` holds for later ones too.
    pub application: Option<String>,
    /// `control-plane`, `worker` or `none`, whatever its snaps are.
    pub role: Option<Part>,
    /// The name of its node, where that is not its host name.
    pub name: Option<String>,
    /// `by-snaps`, `present`, `absent` or `hangs`.
    pub kubectl: Option<Kubectl>,
    /// `admin`, `node`, `nothing`, `unauthorized` or `absent`.
    pub kubeconfig: Option<Access>,
    /// Where that file is, if not at the usual place.
    pub at: Option<String>,
    /// `up`, `down`, `{slow: SECONDS}` or `{failing: [CHECKS]}`.
    pub api_server: Option<Api>,
    /// `ready`, `not-ready`, `unknown`, `absent` or `{reason, message}`.
    pub node: Option<NodeIs>,
    /// Pods of `kube-system`: new ones, or ones that change.
    pub pods: Vec<Pod>,
    /// Pods that are gone; `all`.
    pub remove_pods: Vec<String>,
}

impl Sim {
    pub(super) fn kube_step(&mut self, step: &KubeStep) -> Result<()> {
        let machines = self.machines_of(step)?;
        let of_machines = step.role.is_some()
            || step.name.is_some()
            || step.kubectl.is_some()
            || step.kubeconfig.is_some()
            || step.api_server.is_some()
            || step.node.is_some();
        ensure!(!of_machines || !machines.is_empty(), "no machine to be so: give a `unit`");
        if let (Some(app), Some(access)) = (&step.application, step.kubeconfig) {
            let provision = self.world.provisions.entry(app.clone()).or_default();
            provision.kubeconfigs.insert(step.at.clone(), access);
        }
        for machine in &machines {
            if let Some(access) = step.kubeconfig {
                self.world.set_kubeconfig(machine, step.at.as_deref(), access);
            }
            let of = &mut self.world.machines.get_mut(machine).context("no such machine")?.kube;
            of.part = step.role.or(of.part);
            of.name = step.name.clone().or(of.name.take());
            of.kubectl = step.kubectl.unwrap_or(of.kubectl);
            of.api = step.api_server.clone().unwrap_or_else(|| of.api.clone());
            of.node = step.node.clone().unwrap_or_else(|| of.node.clone());
            self.link_programs(machine)?;
        }
        for name in &step.remove_pods {
            match name.as_str() {
                "all" => self.world.kube.pods.clear(),
                name => {
                    let removed = self.world.kube.pods.remove(name);
                    ensure!(removed.is_some(), "no pod {name}");
                }
            }
        }
        for pod in &step.pods {
            self.world.kube.pods.insert(pod.name.clone(), pod.clone());
        }
        self.say(format!("cluster: {}", step.describe(&machines)));
        Ok(())
    }

    fn machines_of(&self, step: &KubeStep) -> Result<Vec<String>> {
        match (&step.application, &step.unit, &step.machine) {
            (Some(app), None, None) => {
                Ok(self.world.units_of(app).iter().map(|unit| unit.machine.clone()).collect())
            }
            (None, None, None) => Ok(Vec::new()),
            (_, unit, machine) => self.machines_named(machine.as_deref(), unit.as_ref()),
        }
    }
}

impl KubeStep {
    /// For the timeline.
    fn describe(&self, machines: &[String]) -> String {
        let mut parts = Vec::new();
        let shown = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
        parts.extend(shown("role", self.role.map(|is| format!("{is:?}"))));
        parts.extend(shown("name", self.name.clone()));
        parts.extend(shown("kubectl", self.kubectl.map(|is| format!("{is:?}"))));
        parts.extend(shown("kubeconfig", self.kubeconfig.map(|is| format!("{is:?}"))));
        parts.extend(shown("API server", self.api_server.as_ref().map(|is| format!("{is:?}"))));
        parts.extend(shown("node", self.node.as_ref().map(|is| format!("{is:?}"))));
        if !parts.is_empty() {
            parts.push(format!("on {}", machines.join(", ")));
        }
        let pods = self.pods.iter().map(|pod| match &pod.waiting {
            Some(reason) => format!("pod {} {}: {reason}", pod.name, pod.phase),
            None => format!("pod {} {}", pod.name, pod.phase),
        });
        parts.extend(pods);
        parts.extend(self.remove_pods.iter().map(|name| format!("pod {name} is gone")));
        parts.join(", ")
    }
}
