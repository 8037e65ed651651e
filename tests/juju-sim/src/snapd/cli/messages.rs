//! Sentences about snaps: what became of one, and why there is nothing for it.

use crate::snapd::Snap;
use crate::store::{Channel, Refusal, Risk};

/// `plane-api (1.30/stable) 1.30.4 from Acme refreshed`, with a second line where the channel is closed.
pub(super) fn from_of(snap: &Snap, done: &str) -> String {
    let channel = snap.channel.as_ref().map(Channel::short).filter(|short| short != "stable");
    let channel = channel.map_or(String::new(), |channel| format!(" ({channel})"));
    let from = snap.publisher.as_ref().map_or(String::new(), |p| format!(" from {}", p.long()));
    let mut out = format!("{}{channel} {}{from} {done}\n", snap.name, snap.version);
    if let (Some(tracking), Some(channel)) = (&snap.tracking, &snap.channel)
        && tracking != channel
    {
        out.push_str(&format!(
            "Channel {} for {} is closed; temporarily forwarding to {}.\n",
            tracking.short(),
            snap.name,
            channel.short()
        ));
    }
    out
}

/// What is said about a snap that the store has nothing for; `asked` is what `--channel` said.
pub(super) fn refused(
    name: &str,
    action: &str,
    arch: &str,
    asked: Option<&str>,
    tracking: &Channel,
    refusal: Refusal,
) -> String {
    match refusal {
        Refusal::NotFound => format!("snap \"{name}\" not found"),
        Refusal::NoRevision(number) => {
            format!("snap \"{name}\" revision {number} not available (see 'snap info {name}')")
        }
        Refusal::Says(text) => format!("cannot {action} \"{name}\": {text}"),
        Refusal::NoRelease(releases) if releases.is_empty() => match asked {
            Some(channel) => {
                format!("snap \"{name}\" not available on channel \"{channel}\" (see 'snap info {name}')")
            }
            None => format!("snap \"{name}\" not available as specified (see 'snap info {name}')"),
        },
        Refusal::NoRelease(releases) => elsewhere(name, action, arch, tracking, &releases),
    }
}

fn elsewhere(
    name: &str,
    action: &str,
    arch: &str,
    wanted: &Channel,
    releases: &[(Channel, String)],
) -> String {
    let wanted_text = wanted.short();
    let archs = |found: &[&(Channel, String)]| {
        let mut archs: Vec<&str> = found.iter().map(|(_, arch)| arch.as_str()).collect();
        archs.sort_unstable();
        archs.dedup();
        archs.join(", ")
    };
    if !releases.iter().any(|(_, a)| a == arch) {
        let same =
            |(channel, _): &&(Channel, String)| channel.track == wanted.track && channel.risk == wanted.risk;
        let hits: Vec<_> = releases.iter().filter(same).collect();
        let (place, hits) = match hits.is_empty() {
            false => (format!(" on {wanted_text} for"), hits),
            true => (" on".to_owned(), releases.iter().collect()),
        };
        return format!(
            "snap \"{name}\" is not available{place} this architecture ({arch}) but exists on other architectures ({}).",
            archs(&hits)
        );
    }
    if let Some(branch) = &wanted.branch {
        return format!(
            "requested a non-existing branch on {} for snap \"{name}\": {branch}",
            wanted.at(wanted.risk)
        );
    }
    let here = || releases.iter().filter(|(channel, a)| a == arch && channel.branch.is_none());
    let hint = format!("Get more information with 'snap info {name}'.");
    let same_track: Vec<&Channel> = here().map(|(c, _)| c).filter(|c| c.track == wanted.track).collect();
    if !same_track.is_empty() {
        let table = install_table(name, action, &same_track, false);
        let warning = "\n\nPlease be mindful pre-release channels may include features not completely tested or implemented.";
        let warning = if wanted.risk == Risk::Stable { warning } else { "\n" };
        return format!(
            "snap \"{name}\" is not available on {wanted_text} but is available to install on the following channels:\n\n{table}{warning}\n{hint}"
        );
    }
    let features = "Please be mindful that different tracks may include different features.";
    let same_risk: Vec<&Channel> = here().map(|(c, _)| c).filter(|c| c.risk == wanted.risk).collect();
    if !same_risk.is_empty() {
        let table = install_table(name, action, &same_risk, true);
        return format!(
            "snap \"{name}\" is not available on {wanted_text} but is available to install on the following tracks:\n\n{table}\n\n{features}\n{hint}"
        );
    }
    format!("snap \"{name}\" is not available on {wanted_text} but other tracks exist.\n\n{features}\n{hint}")
}

fn install_table(name: &str, action: &str, channels: &[&Channel], full: bool) -> String {
    let rows: Vec<Vec<String>> = channels
        .iter()
        .map(|channel| {
            let shown = if full { channel.to_string() } else { channel.short() };
            let option = match (channel.track.as_str(), channel.risk) {
                ("latest", risk) => format!("--{}", risk.name()),
                (track, Risk::Stable) => format!("--channel={track}"),
                (_, _) => format!("--channel={channel}"),
            };
            vec![format!("  {shown}"), format!("snap {action} {option} {name}")]
        })
        .collect();
    super::text::table(&rows, 13, 2).trim_end().to_owned()
}

/// What an unclassified snap says of one that needs `--classic`.
pub(super) fn needs_classic(name: &str) -> String {
    format!(
        "This revision of snap \"{name}\" was published using classic confinement and thus may perform arbitrary system changes outside of the security sandbox that snaps are usually confined to, which may put your system at risk.\n\nIf you understand and want to proceed repeat the command including --classic."
    )
}
