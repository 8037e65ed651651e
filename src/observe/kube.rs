//! What can be seen of the Kubernetes cluster: never cached, and asked for only when a decision wants it.

use super::index::Index;
use crate::databag::charm_state::Remembered;
use crate::databag::node::ADDRESS;
use crate::decide::options;
use crate::juju::Context;
use crate::kube::{self, Trouble, TroubleKind};
use crate::observed::rollout::{Kube, Seen};
use crate::tools::Runner;
use crate::tools::kubectl::Kubectl;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Where charms of the field put kubeconfigs, the ones that may read most first: an admin's of Charmed
/// Kubernetes and of the snap k8s, then those of kubelets.
const USUAL: [&str; 4] = [
    "/root/.kube/config",
    "/etc/kubernetes/admin.conf",
    "/root/cdk/kubeconfig",
    "/etc/kubernetes/kubelet.conf",
];
/// The kernel's own host name: a kubelet names its node by it, in lower case, unless it is told otherwise.
const HOSTNAME: &str = "/proc/sys/kernel/hostname";

/// What is known without a question to the API server.
pub fn around(context: &Context, index: &Index, remembered: &Remembered) -> Kube {
    let host = fs::read_to_string(below(&context.root, HOSTNAME)).unwrap_or_default();
    let host = host.trim().to_lowercase();
    Kube {
        host: Some(host).filter(|host| !host.is_empty()),
        // Juju writes it into the unit's own databag.
        address: index.own_texts.as_ref().and_then(|texts| texts.get(ADDRESS)).cloned(),
        kubeconfig: kubeconfig(context, index, remembered).is_some(),
        seen: None,
    }
}

/// Asks the API server. `whole`: whether it is ready, all nodes and the pods of `kube-system`; else the
/// own node alone. Once it does not answer it is not asked another question.
pub fn read(
    runner: &Runner,
    context: &Context,
    index: &Index,
    remembered: &Remembered,
    around: &Kube,
    whole: bool,
) -> Seen {
    let Some(kubeconfig) = kubeconfig(context, index, remembered) else {
        return Seen::nothing(&Trouble { kind: TroubleKind::Other, text: "no kubeconfig".to_owned() }, whole);
    };
    let kubectl = Kubectl::new(runner.clone(), kubeconfig);
    if !whole {
        return Seen { own: own(&kubectl, around), ..Seen::default() };
    }
    let api_server = kubectl.readyz();
    if let Err(trouble) = &api_server
        && is_silent(trouble)
    {
        return Seen::nothing(trouble, whole);
    }
    let nodes = kubectl.nodes();
    if nodes.as_ref().is_err_and(|trouble| trouble.kind == TroubleKind::Forbidden) {
        // A kubelet's kubeconfig: it may read no pods either.
        let pods = nodes.as_ref().map(|_| kube::Pods::default()).map_err(Clone::clone);
        return Seen { api_server: Some(api_server), own: own(&kubectl, around), nodes, pods };
    }
    let own = nodes.as_ref().map_err(Clone::clone).and_then(|nodes| {
        let found = kube::find(nodes, around.host.as_deref(), around.address.as_deref());
        found.cloned().ok_or_else(|| Trouble { kind: TroubleKind::NotFound, text: "not found".to_owned() })
    });
    let silent = nodes.as_ref().err().filter(|trouble| is_silent(trouble)).cloned();
    let pods = silent.map_or_else(|| kubectl.pods(), Err);
    Seen { api_server: Some(api_server), own, nodes, pods }
}

fn own(kubectl: &Kubectl, around: &Kube) -> Result<kube::Node, Trouble> {
    match &around.host {
        Some(host) => kubectl.node(host),
        None => Err(Trouble { kind: TroubleKind::NotFound, text: "the host name is not known".to_owned() }),
    }
}

/// Whether another question would only take more time.
fn is_silent(trouble: &Trouble) -> bool {
    match trouble.kind {
        TroubleKind::NoKubectl | TroubleKind::Refused | TroubleKind::NoAnswer | TroubleKind::Unauthorized => {
            true
        }
        TroubleKind::NotReady
        | TroubleKind::Forbidden
        | TroubleKind::NotFound
        | TroubleKind::NotUnderstood
        | TroubleKind::Other => false,
    }
}

/// The kubeconfig: the option's, whether it is there or not, else the first usual one that is.
fn kubeconfig(context: &Context, index: &Index, remembered: &Remembered) -> Option<PathBuf> {
    let config = index.config.clone().unwrap_or_default();
    match options::read(&config, &remembered.options).rollout.kubeconfig {
        Some(path) => Some(below(&context.root, &path)),
        None => USUAL.iter().map(|path| below(&context.root, path)).find(|path| path.is_file()),
    }
}

pub(super) fn below(root: &Path, path: &str) -> PathBuf {
    if root.as_os_str().is_empty() { path.into() } else { root.join(path.trim_start_matches('/')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_lies_below_the_root() {
        assert_eq!(below(Path::new(""), "/root/x"), Path::new("/root/x"));
        assert_eq!(below(Path::new("/tmp/m/3"), "/root/x"), Path::new("/tmp/m/3/root/x"));
    }
}
