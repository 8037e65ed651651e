//! What the tool program and the simulator say to each other over a Unix socket: lists of byte strings, each with its
//! length in front.

use std::io::{self, Read, Write};

/// No message has more parts, and no part more bytes; a length beyond is taken for garbage.
const MAX: u32 = 64 << 20;

/// Sends one message.
pub fn send(to: &mut impl Write, parts: &[&[u8]]) -> io::Result<()> {
    let mut bytes = Vec::new();
    bytes.extend((parts.len() as u32).to_le_bytes());
    for part in parts {
        bytes.extend((part.len() as u32).to_le_bytes());
        bytes.extend(*part);
    }
    to.write_all(&bytes)?;
    to.flush()
}

/// Receives one message.
pub fn receive(from: &mut impl Read) -> io::Result<Vec<Vec<u8>>> {
    let count = number(from)?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let length = number(from)?;
        let mut part = vec![0; length as usize];
        from.read_exact(&mut part)?;
        parts.push(part);
    }
    Ok(parts)
}

fn number(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    let number = u32::from_le_bytes(bytes);
    if number > MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "message too long"));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::{receive, send};

    #[test]
    fn what_is_sent_is_received() {
        let mut wire = Vec::new();
        send(&mut wire, &[b"", b"a\0b", &[200; 70_000]]).unwrap();
        assert_eq!(receive(&mut wire.as_slice()).unwrap(), [vec![], b"a\0b".to_vec(), vec![200; 70_000]]);
        assert!(receive(&mut &wire[..10]).is_err());
        assert!(receive(&mut &[255u8; 8][..]).is_err());
    }
}
