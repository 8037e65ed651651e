//! The wire form of a dashboard: base64 of an xz container (or an old LZMA "alone" one) of UTF-8 JSON.
//!
//! Sizes are bounded before and after, and so is the dictionary that a header may ask for. What the
//! far side cannot decode drops every dashboard of the relation there, so this is no more lenient than
//! Python's `base64` and `lzma` (liblzma's auto decoder) are.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lzma_rust2::{CheckType, LzmaReader, XzOptions, XzReader, XzWriter};
use std::io::{Read, Write};

/// Bytes of one encoded dashboard; the largest seen in the field have about 300 kB decoded, a tenth of
/// that encoded.
pub const MAX_ENCODED: usize = 1 << 20;
/// Bytes of one decoded dashboard.
pub const MAX_DECODED: usize = 16 << 20;
/// Decoder memory in KiB: the 64 MiB dictionary of xz preset 9 fits, nothing larger does.
const MAX_MEMORY_KIB: u32 = 80 << 10;

const XZ_MAGIC: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];

/// Decodes to the JSON text.
pub(super) fn decode(encoded: &str) -> Result<String, String> {
    if encoded.len() > MAX_ENCODED {
        return Err(format!("has {} KiB encoded, more than {}", encoded.len() >> 10, MAX_ENCODED >> 10));
    }
    // Python skips everything outside the alphabet. White space is a writer's line break; the rest is damage.
    let blank = |b: &u8| b.is_ascii_whitespace();
    let bytes = if encoded.bytes().any(|b| blank(&b)) {
        STANDARD.decode(encoded.bytes().filter(|b| !blank(b)).collect::<Vec<u8>>())
    } else {
        STANDARD.decode(encoded)
    };
    let bytes = bytes.map_err(|error| format!("is not base64: {}", base64_reason(&error)))?;
    let mut decoded = Vec::new();
    let limit = MAX_DECODED as u64 + 1;
    let (container, result) = if bytes.starts_with(XZ_MAGIC) {
        // Several streams in a row are one text for Python too; anything else behind the end is damage.
        let reader = XzReader::new_mem_limit(bytes.as_slice(), true, MAX_MEMORY_KIB);
        ("xz", reader.take(limit).read_to_end(&mut decoded))
    } else {
        ("xz or LZMA", decode_alone(&bytes, limit, &mut decoded))
    };
    // The size first: a bomb is cut, so its check sum was never reached.
    if decoded.len() > MAX_DECODED {
        return Err(format!("has more than {} MiB decoded", MAX_DECODED >> 20));
    }
    result.map_err(|error| format!("is not {container} data: {error}"))?;
    String::from_utf8(decoded).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("is not UTF-8 at byte {at}")
    })
}

/// base64's own message names the byte that it does not like; the place is enough.
fn base64_reason(error: &base64::DecodeError) -> String {
    match error {
        base64::DecodeError::InvalidByte(at, _) => format!("byte {at} is not of its alphabet"),
        base64::DecodeError::InvalidLastSymbol { .. } => "its last digit is wrong".to_owned(),
        base64::DecodeError::InvalidLength(_) => "its length is wrong".to_owned(),
        base64::DecodeError::InvalidPadding => "its padding is wrong".to_owned(),
    }
}

/// Decodes the old container if its header is one that liblzma's auto decoder believes
/// (`alone_decoder.c`, "picky"), so that nothing passes here that fails at the far side.
fn decode_alone(bytes: &[u8], limit: u64, decoded: &mut Vec<u8>) -> std::io::Result<usize> {
    let bad = |reason: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, reason);
    let header: [u8; 13] =
        bytes.get(..13).and_then(|header| header.try_into().ok()).ok_or_else(|| bad("too short"))?;
    let [props, d0, d1, d2, d3, size @ ..] = header;
    let dictionary = u32::from_le_bytes([d0, d1, d2, d3]);
    let size = u64::from_le_bytes(size);
    let (lc, lp) = (props % 9, props / 9 % 5);
    // 2^n or 2^n + 2^(n-1) bytes; all ones is taken too.
    let shape = dictionary == u32::MAX
        || dictionary.is_power_of_two()
        || (dictionary % 3 == 0 && (dictionary / 3).is_power_of_two());
    if props > 224 || lc + lp > 4 || !shape || (size != u64::MAX && size >= 1 << 38) {
        return Err(bad("unknown header"));
    }
    let mut reader = LzmaReader::new_mem_limit(bytes, MAX_MEMORY_KIB, None)?;
    reader.set_relaxed_end_condition(false);
    let read = reader.by_ref().take(limit).read_to_end(decoded)?;
    let (rest, buffered) = reader.into_parts();
    if decoded.len() as u64 != limit && !(rest.is_empty() && buffered.is_empty()) {
        return Err(bad("something follows the end"));
    }
    Ok(read)
}

/// Encodes a JSON text: xz preset 6 with CRC64, as Python's `lzma.compress` does it.
///
/// # Errors
/// The encoder fails; writing into memory, it does not.
pub fn encode(json: &str) -> std::io::Result<String> {
    let mut options = XzOptions::with_preset(6);
    options.set_check_sum_type(CheckType::Crc64);
    // A dictionary larger than the text only costs memory: 94 MiB for 8 MiB of it.
    let needed = u32::try_from(json.len()).unwrap_or(u32::MAX).max(4096);
    options.lzma_options.dict_size = options.lzma_options.dict_size.min(needed);
    let mut writer = XzWriter::new(Vec::new(), options)?;
    writer.write_all(json.as_bytes())?;
    Ok(STANDARD.encode(writer.finish()?))
}
