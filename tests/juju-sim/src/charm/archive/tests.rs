use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

const METADATA: &str = "name: lockstep\nsummary: s\ndescription: d\nprovides: {db: sql}\n";
const MANIFEST: &str = "bases: [{name: ubuntu, channel: '24.04', architectures: [amd64]}]\n";

/// Name, mode and content; a mode of a link means a link.
type Entry<'a> = (&'a str, u32, &'a str);

fn base() -> Vec<Entry<'static>> {
    vec![
        ("metadata.yaml", 0o644, METADATA),
        ("manifest.yaml", 0o644, MANIFEST),
        ("dispatch", 0o755, "#!/bin/sh\n"),
    ]
}

fn pack(dir: &TempDir, entries: &[Entry<'_>]) -> PathBuf {
    let path = dir.path().join("x.charm");
    let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, mode, content) in entries {
        let options = SimpleFileOptions::default();
        if *mode == 0o120_777 {
            zip.add_symlink(*name, *content, options.compression_method(CompressionMethod::Stored)).unwrap();
        } else if name.ends_with('/') {
            zip.add_directory(*name, options.unix_permissions(*mode)).unwrap();
        } else {
            zip.start_file(
                *name,
                options.compression_method(CompressionMethod::Deflated).unix_permissions(*mode),
            )
            .unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
    }
    zip.finish().unwrap();
    path
}

fn with<'a>(more: &[Entry<'a>]) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = base();
    entries.extend_from_slice(more);
    entries
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn refusal(entries: &[Entry<'_>]) -> String {
    let dir = TempDir::new().unwrap();
    let file = pack(&dir, entries);
    unpack(&file, &dir.path().join("charm")).unwrap_err().to_string()
}

#[test]
fn members_keep_modes_and_links() {
    let dir = TempDir::new().unwrap();
    let file = pack(
        &dir,
        &with(&[
            ("hooks/install", 0o120_777, "../dispatch"),
            ("hooks/start", 0o644, "real"),
            ("hooks/db-relation-joined", 0o644, "real"),
            ("hooks/other", 0o644, "real"),
            ("hooks/sub/stop", 0o644, "real"),
            ("actions/go", 0o644, "real"),
            ("wide", 0o777, ""),
            ("empty/", 0o755, ""),
            ("version", 0o644, "abc\ndef\n"),
        ]),
    );
    let charm = dir.path().join("charm");
    let files = unpack(&file, &charm).unwrap();
    assert_eq!(fs::read_link(charm.join("hooks/install")).unwrap(), Path::new("../dispatch"));
    for (name, expected) in [
        ("dispatch", 0o755),
        ("metadata.yaml", 0o644),
        ("hooks/start", 0o744),
        ("hooks/db-relation-joined", 0o744),
        ("hooks/other", 0o644),
        ("hooks/sub/stop", 0o644),
        ("actions/go", 0o644),
        ("wide", 0o755),
        ("empty", 0o755),
    ] {
        assert_eq!(mode(&charm.join(name)), expected, "{name}");
    }
    assert_eq!(fs::read_to_string(charm.join("revision")).unwrap(), "0");
    assert_eq!((files.version.as_str(), files.revision), ("abc", 0));
    assert!(files.members.contains("revision") && files.members.contains("empty"));
}

/// Rewrites the "made by" system and the attributes in the central directory.
fn forget_unix(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let starts: Vec<usize> =
        (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02")).collect();
    for at in starts {
        bytes[at + 5] = 0;
        bytes[at + 38..at + 42].fill(0);
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn without_unix_attributes_nothing_is_executable() {
    let dir = TempDir::new().unwrap();
    let file = pack(&dir, &with(&[("hooks/install", 0o755, "real")]));
    forget_unix(&file);
    let charm = dir.path().join("charm");
    unpack(&file, &charm).unwrap();
    assert_eq!(mode(&charm.join("dispatch")), 0o644);
    assert_eq!(mode(&charm.join("hooks/install")), 0o744);
}

#[test]
fn links_must_stay_inside() {
    for (name, target, expected) in [
        ("hooks/install", "/bin/sh", "cannot extract \"hooks/install\": symlink \"/bin/sh\" is absolute"),
        (
            "hooks/install",
            "../../t",
            "cannot extract \"hooks/install\": symlink \"../../t\" leads out of scope",
        ),
        ("t", "..", "cannot extract \"t\": symlink \"..\" leads out of scope"),
        ("a/b/t", "../../../x", "cannot extract \"a/b/t\": symlink \"../../../x\" leads out of scope"),
    ] {
        assert_eq!(refusal(&with(&[(name, 0o120_777, target)])), expected);
    }
    let dir = TempDir::new().unwrap();
    let file = pack(&dir, &with(&[("a/b/t", 0o120_777, "../../missing"), ("here", 0o120_777, ".")]));
    assert!(unpack(&file, &dir.path().join("charm")).is_ok());
}

#[test]
fn incomplete_charms_are_refused() {
    let without =
        |name: &str| -> Vec<Entry<'static>> { base().into_iter().filter(|entry| entry.0 != name).collect() };
    assert_eq!(refusal(&without("metadata.yaml")), "archive file \"metadata.yaml\" not found");
    assert_eq!(refusal(&without("dispatch")), "invalid charm \"lockstep\": has no hooks nor dispatch file");
    assert_eq!(refusal(&without("manifest.yaml")), "charm does not define any bases");
    let mut prefixed = without("metadata.yaml");
    prefixed.push(("./metadata.yaml", 0o644, METADATA));
    assert_eq!(refusal(&prefixed), "archive file \"metadata.yaml\" not found");
    let mut folder_only = without("dispatch");
    folder_only.extend([("hooks/", 0o755, ""), ("hooks/sub/install", 0o755, "")]);
    assert_eq!(refusal(&folder_only), "invalid charm \"lockstep\": has no hooks nor dispatch file");
    assert_eq!(refusal(&with(&[("config.yaml", 0o644, "")])), "invalid config: empty configuration");
    assert_eq!(refusal(&with(&[("actions.yaml", 0o644, "B: {}")])), "bad action name B");
    assert_eq!(refusal(&with(&[("revision", 0o644, "x")])), "invalid revision file");
    for hook in [("hooks/install", 0o120_777, "../metadata.yaml"), ("hooks/install", 0o644, "")] {
        let mut linked = without("dispatch");
        linked.push(hook);
        let dir = TempDir::new().unwrap();
        assert!(open(&pack(&dir, &linked)).is_ok());
    }
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("x.charm"), "no zip").unwrap();
    assert!(matches!(open(&dir.path().join("x.charm")), Err(Error::Zip(_))));
}

#[test]
fn upgrades_replace_members_and_keep_the_rest() {
    let dir = TempDir::new().unwrap();
    let charm = dir.path().join("charm");
    let old = unpack(&pack(&dir, &with(&[("old/only", 0o644, "x"), ("lib", 0o644, "x")])), &charm).unwrap();
    fs::write(charm.join("own"), "state").unwrap();
    fs::write(charm.join("old/own"), "state").unwrap();
    let inode = fs::metadata(charm.join("dispatch")).unwrap().ino();
    let running = fs::File::open(charm.join("dispatch")).unwrap();
    let new = upgrade(&charm, &old.members, &pack(&dir, &with(&[("lib/inner", 0o644, "y")]))).unwrap();
    assert!(!charm.join("old/only").exists());
    assert_eq!(fs::read_to_string(charm.join("own")).unwrap(), "state");
    assert_eq!(fs::read_to_string(charm.join("old/own")).unwrap(), "state");
    assert_eq!(fs::read_to_string(charm.join("lib/inner")).unwrap(), "y");
    assert_ne!(fs::metadata(charm.join("dispatch")).unwrap().ino(), inode);
    drop(running);
    assert!(new.members.contains("lib/inner") && !new.members.contains("lib"));
}

#[test]
fn folders_serve_as_charms() {
    let dir = TempDir::new().unwrap();
    let source = dir.path().join("source");
    fs::create_dir_all(source.join("hooks")).unwrap();
    for (name, mode, content) in base() {
        fs::write(source.join(name), content).unwrap();
        fs::set_permissions(source.join(name), Permissions::from_mode(mode)).unwrap();
    }
    fs_err::os::unix::fs::symlink("../dispatch", source.join("hooks/install")).unwrap();
    let charm = dir.path().join("charm");
    let files = unpack(&source, &charm).unwrap();
    assert_eq!(files.metadata.name, "lockstep");
    assert_eq!(fs::read_link(charm.join("hooks/install")).unwrap(), Path::new("../dispatch"));
    assert_eq!(mode(&charm.join("dispatch")), 0o755);
}

#[test]
fn names_that_lead_out_are_put_inside() {
    let dir = TempDir::new().unwrap();
    let file = pack(&dir, &with(&[("../../evil", 0o644, "x"), ("/rooted", 0o644, "y")]));
    let charm = dir.path().join("deep/er/charm");
    unpack(&file, &charm).unwrap();
    assert_eq!(fs::read_to_string(charm.join("evil")).unwrap(), "x");
    assert_eq!(fs::read_to_string(charm.join("rooted")).unwrap(), "y");
}
