//! Sound dashboards in every container, and every kind of damage.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lzma_rust2::{LzmaOptions, LzmaWriter, XzOptions, XzWriter};
use std::io::Write;

/// The quickest one for bombs.
fn preset(bytes: &[u8]) -> u32 {
    if bytes.len() > 1 << 20 { 0 } else { 6 }
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut options = XzOptions::with_preset(preset(bytes));
    options.lzma_options.dict_size = 1 << 20;
    let mut writer = XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn alone(bytes: &[u8], size: Option<u64>) -> Vec<u8> {
    let mut options = LzmaOptions::with_preset(preset(bytes));
    options.dict_size = 1 << 20;
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, size).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn encoded(json: &str) -> String {
    STANDARD.encode(xz(json.as_bytes()))
}

const UID: &str = "aba19dedc9e97b5baa61c4977d1bdd2ae9665060";

#[test]
fn facts_are_read_from_every_container() {
    let json = format!(r#"{{"title":"Disk/IO","uid":"{UID}","tags":["charm: k8s"],"version":3}}"#);
    let bytes = json.as_bytes();
    let mut broken_lines = STANDARD.encode(xz(bytes));
    broken_lines.insert(20, '\n');
    let mut two_streams = xz(&bytes[..10]);
    two_streams.extend(xz(&bytes[10..]));
    for text in [
        STANDARD.encode(xz(bytes)),
        STANDARD.encode(alone(bytes, None)),
        STANDARD.encode(alone(bytes, Some(bytes.len() as u64))),
        STANDARD.encode(two_streams),
        broken_lines,
    ] {
        let decoded = decode(&text).unwrap();
        assert_eq!(decoded.json, json);
        assert_eq!(decoded.facts.title.as_deref(), Some("Disk/IO"));
        assert_eq!(decoded.facts.uid.as_deref(), Some(UID));
        assert_eq!(decoded.facts.version, 3);
        assert!(decoded.facts.as_it_is);
    }
}

#[test]
fn what_needs_a_rewrite_is_seen() {
    for (json, title, foreign) in [
        ("{}".to_owned(), None, None),
        (r#"{"title":"","tags":null}"#.to_owned(), None, None),
        (r#"{"title":"a","uid":"disk-io"}"#.to_owned(), Some("a"), Some("disk-io")),
        (r#"{"dashboard":{"title":"in"},"uid":7}"#.to_owned(), Some("in"), None),
        (format!(r#"{{"uid":"{UID}","tags":["charm: x"],"templating":null}}"#), None, None),
        (format!(r#"{{"uid":"{UID}","tags":["charm:x"]}}"#), None, None),
    ] {
        let facts = decode(&encoded(&json)).unwrap().facts;
        assert!(!facts.as_it_is, "{json}");
        assert_eq!(facts.title.as_deref(), title, "{json}");
        assert_eq!(facts.foreign_uid.as_deref(), foreign, "{json}");
        let text = rewrite(&json, UID, "db").unwrap();
        assert!(decode(&text).unwrap().facts.as_it_is, "{json}");
    }
}

#[test]
fn a_rewrite_changes_uid_and_tags_only() {
    let json = r#"{"n": 0.10000000000000000001, "uid": "x", "big": 123456789012345678901234567890,
        "tags": ["a"], "text": "\u00dc", "templating": {"list": []}}"#;
    let decoded = decode(&rewrite(json, UID, "db").unwrap()).unwrap();
    let expected = format!(
        r#"{{"n":0.10000000000000000001,"big":123456789012345678901234567890,"text":"\u00dc","templating":{{"list": []}},"uid":"{UID}","tags":["a","charm: db"]}}"#
    );
    assert_eq!(decoded.json, expected);
}

#[test]
fn every_kind_of_damage_is_named() {
    let good = xz(b"{}");
    let cut = |n: usize| STANDARD.encode(&good[..n]);
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let mut trailing = good.clone();
    trailing.extend(b"more");
    let mut alone_trailing = alone(b"{}", Some(2));
    alone_trailing.extend(b"more");
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for (text, reason) in [
        (String::new(), "is not xz or LZMA data: too short"),
        ("#".to_owned(), "is not base64: byte 0"),
        ("YWJ".to_owned(), "is not base64: its padding is wrong"),
        ("YWJj".to_owned(), "is not xz or LZMA data: too short"),
        (STANDARD.encode("plain JSON, not compressed: {}"), "is not xz or LZMA data: unknown header"),
        (cut(good.len() - 4), "is not xz data"),
        (cut(20), "is not xz data"),
        (STANDARD.encode(&flipped), "is not xz data"),
        (STANDARD.encode(&trailing), "is not xz data"),
        (STANDARD.encode(&alone_trailing), "is not xz or LZMA data: something follows the end"),
        (STANDARD.encode(xz(b"\xff{}")), "is not UTF-8 at byte 0"),
        (encoded("{"), "decodes to no JSON: EOF"),
        (encoded(r#"{"a":NaN}"#), "decodes to no JSON"),
        (encoded(r#"{"a":Infinity}"#), "decodes to no JSON"),
        (encoded(r#"{"a":"\ud800"}"#), "decodes to no JSON"),
        (encoded(&deep), "decodes to no JSON: recursion limit"),
        (encoded("[]"), "decoded is a list, not an object"),
        (encoded("null"), "decoded is null, not an object"),
        (encoded(r#"{"title":7}"#), "decodes to an object whose $.title is a number, not a text"),
        (encoded(r#"{"dashboard":{"title":[]}}"#), "decodes to an object whose $.dashboard.title is a list"),
        (encoded(r#"{"tags":"x"}"#), "decodes to an object whose $.tags is not a list"),
        (encoded(r#"{"tags":["x",1]}"#), "decodes to an object whose $.tags is not a list"),
        (encoded(r#"{"templating":{}}"#), "decodes to an object whose $.templating has no list"),
        (encoded(r#"{"templating":{"list":null}}"#), "decodes to an object whose $.templating has no list"),
    ] {
        let error = decode(&text).unwrap_err();
        assert!(error.starts_with(reason), "{error} / {reason}");
    }
}

#[test]
fn large_ones_pass_and_bombs_do_not() {
    let large = format!(r#"{{"panels":["{}"]}}"#, "0123456789abcdef".repeat(20_000));
    assert!(large.len() > 300_000);
    assert_eq!(decode(&encoded(&large)).unwrap().json, large);
    let bomb = vec![b' '; MAX_DECODED + 10];
    for text in [
        STANDARD.encode(xz(&bomb)),
        STANDARD.encode(alone(&bomb, None)),
        STANDARD.encode(alone(&bomb, Some(bomb.len() as u64))),
    ] {
        assert_eq!(decode(&text).unwrap_err(), "has more than 16 MiB decoded");
    }
    let text = "A".repeat(MAX_ENCODED + 4);
    assert_eq!(decode(&text).unwrap_err(), "has 1024 KiB encoded, more than 1024");
    // A header that asks for a dictionary of 1.5 GiB.
    let mut greedy = alone(b"{}", None);
    greedy[1..5].copy_from_slice(&(3_u32 << 29).to_le_bytes());
    let error = decode(&STANDARD.encode(&greedy)).unwrap_err();
    assert!(error.contains("needed memory too big"), "{error}");
}

#[test]
fn no_changed_byte_and_no_cut_is_accepted_or_panics() {
    let json = r#"{"title":"x","panels":[1,2,3,4,5,6,7,8,9],"text":"abcabcabcabcabc"}"#;
    let good = xz(json.as_bytes());
    for at in 0..good.len() {
        for bit in [1_u8, 16, 128] {
            let mut bad = good.clone();
            bad[at] ^= bit;
            let decoded = decode(&STANDARD.encode(&bad));
            assert!(decoded.map_or(true, |d| d.json == json), "byte {at}");
        }
        assert!(decode(&STANDARD.encode(&good[..at])).is_err(), "cut {at}");
    }
}

#[test]
fn a_memo_answers_from_the_pass_before_and_forgets_what_is_not_used() {
    let text = encoded(r#"{"title":"x"}"#);
    let mut values = crate::databag::Values::default();
    let digest = values.keep(&text);
    let mut first = Memo::default();
    let facts = first.facts(&Memo::default(), digest, &values).clone();
    let charm = (UID, "db");
    let written = first.rewritten(&Memo::default(), digest, charm, &values).clone();
    // Without the text: only the memo can know.
    let nothing = crate::databag::Values::default();
    let mut second = Memo::default();
    assert_eq!(second.facts(&first, digest, &nothing), &facts);
    assert_eq!(second.rewritten(&first, digest, charm, &nothing), &written);
    assert_eq!(first, second);
    let json = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<Memo>(&json).unwrap(), first);
    let error = Memo::default().facts(&Memo::default(), digest, &nothing).clone();
    assert_eq!(error.unwrap_err(), "was not read");
}

#[test]
fn all_that_python_writes_is_read() {
    // Recorded from `lzma.compress` of Python 3 with the options beside each.
    for text in [
        "XQAAgAD//////////wA9iIqG1FTp3Td40/IPWfqMcrBnlLJhIlCdliQqQEvFcV74q55rhVMEi1k2eyk+RLl+RYz7Sz2TJZv2HIMdL8JClywhHh8Om0dx6Z22W5Ik/dzOwk34Wds6Y/bHn/n66pPpw01bcf/jdeAA", // FORMAT_ALONE
        "XQAAAAT//////////wA9iIqG1FTp3Td40/IPWfqMcrBnlLJhIlCdliQqQEvFcV74q55rhVMEi1k2eyk+RLl+RYz7Sz2TJZv2HIMdL8JClywhHh8Om0dx6Z22W5Ik/dzOwk34Wds6Y/bHn/n66pPpw01bcf/jdeAA", // FORMAT_ALONE, preset 9
        "/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4ABoAGVdAD2IiobUVOndN3jT8g9Z+oxysGeUsmEiUJ2WJCpAS8VxXvirnmuFUwSLWTZ7KT5EuX5FjPtLPZMlm/Ycgx0vwkKXLCEeHw6bR3HpnbZbkiT93M7CTfhZ2zpj9sef+frqk+mKx1UAAAAAACU+1CkAAX1pbGt5jpBCmQ0BAAAAAAFZWg==", // CHECK_CRC32
        "/Td6WFoAAArh+wyhAgAhARYAAAB0L+Wj4ABoAGVdAD2IiobUVOndN3jT8g9Z+oxysGeUsmEiUJ2WJCpAS8VxXvirnmuFUwSLWTZ7KT5EuX5FjPtLPZMlm/Ycgx0vwkKXLCEeHw6bR3HpnbZbkiT93M7CTfhZ2zpj9sef+frqk+mKx1UAAAAAAAZ1w3GAy0wejQNF4UhqKZqnI5o8f3c1KDrfZeGisXX6AAGZAWkAAABvAnKCtunfHAIAAAAAClla", // CHECK_SHA256
        "/Td6WFoAAAD/EtlBAgAhARYAAAB0L+Wj4ABoAGVdAD2IiobUVOndN3jT8g9Z+oxysGeUsmEiUJ2WJCpAS8VxXvirnmuFUwSLWTZ7KT5EuX5FjPtLPZMlm/Ycgx0vwkKXLCEeHw6bR3HpnbZbkiT93M7CTfhZ2zpj9sef+frqk+mKx1UAAAAAAAABeWlorhXqBnKeegEAAAAAAFla", // CHECK_NONE
        "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4ABoAGVdAD2IiobUVOndN3jT8g9Z+oxysGeUsmEiUJ2WJCpAS8VxXvirnmuFUwSLWTZ7KT5EuX5FjPtLPZMlm/Ycgx0vwkKXLCEeHw6bR3HpnbZbkiT93M7CTfhZ2zpj9sef+frqk+mKx1UAAAAAAKzrKvZt6AR3AAGBAWkAAACZgvdtscRn+wIAAAAABFla", // preset 9 | PRESET_EXTREME
        "/Td6WFoAAATm1rRGAgEDAQQhARYut6ZhAQBoeyJ0aXTxQ67RrLb3U/YQQgerLEUA1RMI5xEsMv3Wrci7wUI/O1MAxr/0r0EuQRdL17gXsPDyAKpTDDgCGKu5/UAnERcDAwMyAAHU0//8/Sgq1PwB09gBBgH9KS0tzjAD1dIE1Mv9+uxIAAAAAKzrKvZt6AR3AAGBAWkAAACZgvdtscRn+wIAAAAABFla", // FILTER_DELTA before LZMA2
    ] {
        let facts = decode(text).unwrap().facts;
        assert_eq!(facts.title.as_deref(), Some("Ü 🚢"), "{text}");
        assert!(facts.as_it_is);
    }
}
