//! The charm's own file `snaps.yaml`. It is part of the charm, so it changes with the charm only.

use crate::snap::{PACKED, PACKED_LIMIT, Packed, parse_packed};
use fs_err as fs;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads the file, if there is one. The error says what is wrong with it, and where.
pub fn read(charm_dir: &Path) -> Option<Result<Packed, String>> {
    let mut text = String::new();
    let read = fs::File::open(charm_dir.join(PACKED))
        .and_then(|file| file.take(PACKED_LIMIT + 1).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(format!("cannot be read: {}", error.kind()))),
        Ok(_) if text.len() as u64 > PACKED_LIMIT => Some(Err(format!("longer than {PACKED_LIMIT} bytes"))),
        Ok(_) => Some(parse_packed(&text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_read_and_bounded() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), None);
        let write = |text: &[u8]| fs::write(dir.path().join(PACKED), text).unwrap();
        write(b"snaps: {kubelet: {channel: 1.30}}");
        assert_eq!(read(dir.path()).unwrap().unwrap().len(), 1);
        write(b"\xff");
        assert!(read(dir.path()).unwrap().unwrap_err().starts_with("cannot be read"));
        let long = usize::try_from(PACKED_LIMIT).unwrap() + 1;
        write(&vec![b'#'; long]);
        assert!(read(dir.path()).unwrap().unwrap_err().starts_with("longer than"));
    }
}
