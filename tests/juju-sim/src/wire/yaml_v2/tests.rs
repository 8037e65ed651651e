//! Rows were compared with yaml.v2 2.4.0.

use super::*;

fn show(input: &str) -> String {
    match string_map(input.as_bytes()) {
        Ok(entries) => entries.iter().map(|(key, value)| format!("{key}={value};")).collect(),
        Err(text) => text,
    }
}

fn check(rows: &[(&str, &str)]) {
    for (input, expected) in rows {
        assert_eq!(show(input), *expected, "{input:?}");
    }
}

#[test]
fn scalars_are_their_source_text() {
    check(&[
        (
            r#"{"a":1,"b":true,"c":1.5,"d":0x10,"e":2025-11-05,"f":"x"}"#,
            "a=1;b=true;c=1.5;d=0x10;e=2025-11-05;f=x;",
        ),
        (r#"{"a":null,"b":~,"c":"null","d":"","e":'~',f: Null}"#, "a=;b=;c=null;d=;e=~;f=;"),
        (r#"{"a":"1","a":"2"}"#, "a=2;"),
        (
            "{a: x y, 'b c': 'it''s', d: [], e: 1}",
            "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into string",
        ),
        ("{a, b: c,}", "a=;b=c;"),
        ("{a:1}", "a:1=;"),
        ("a: 1\nb: 'two'\n\"c\": \"th\\u0072ee\"\nd:\n# note\ne: x # y\n", "a=1;b=two;c=three;d=;e=x;"),
        ("a: |\n  one\n  two\nb: >-\n  three\n  four\n", "a=one\ntwo\n;b=three four;"),
        ("1: x\ntrue: y\n~: z\n", "1=x;true=y;=z;"),
        ("a: one\n  two\n\n  three\n", "a=one two\nthree;"),
        ("---\na: 1\n", "a=1;"),
        ("<<: {a: 1}\nb: 2\n", "a=1;b=2;"),
    ]);
}

#[test]
fn nothing_is_no_change() {
    check(&[("", ""), ("\n", ""), ("# x", ""), ("{}", ""), ("null", ""), ("~", ""), ("---\n", "")]);
}

#[test]
fn what_is_not_a_map_of_strings_is_refused() {
    let errors = |what: &str| format!("yaml: unmarshal errors:\n  {what}");
    for (input, expected) in [
        (r#"{"a":{"b":"c"}}"#, "line 1: cannot unmarshal !!map into string"),
        (r#"{"a":{}}"#, "line 1: cannot unmarshal !!map into string"),
        (r#"{"a":[1]}"#, "line 1: cannot unmarshal !!seq into string"),
        (
            "{\"x\":\"y\",\n\"a\":[],\n\"b\":{}}",
            "line 2: cannot unmarshal !!seq into string\n  line 3: cannot unmarshal !!map into string",
        ),
        ("a:\n  b: c\n", "line 2: cannot unmarshal !!map into string"),
        ("a:\n- b\n", "line 2: cannot unmarshal !!seq into string"),
        ("foo=bar", "line 1: cannot unmarshal !!str `foo=bar` into map[string]string"),
        ("foo=bar=baz", "line 1: cannot unmarshal !!str `foo=bar...` into map[string]string"),
        ("[]", "line 1: cannot unmarshal !!seq into map[string]string"),
        ("\"null\"", "line 1: cannot unmarshal !!str `null` into map[string]string"),
        ("\n12", "line 2: cannot unmarshal !!int `12` into map[string]string"),
        ("true", "line 1: cannot unmarshal !!bool `true` into map[string]string"),
        ("1.5", "line 1: cannot unmarshal !!float `1.5` into map[string]string"),
    ] {
        assert_eq!(show(input), errors(expected), "{input:?}");
    }
    check(&[("<<: 1\n", "yaml: map merge requires map or sequence of maps as the value")]);
}

#[test]
fn json_escapes_work_but_for_slashes_and_surrogates() {
    check(&[
        (r#"{"a":"\"\\\b\f\n\r\t\u0041\u00e9\u007f\u2028"}"#, "a=\"\\\u{8}\u{c}\n\r\tAé\u{7f}\u{2028};"),
        (r#"{"a":"\U0001f600"}"#, "a=😀;"),
        (r#"{"a":"😀"}"#, "a=😀;"),
        (r#"{"a":"\/"}"#, "yaml: found unknown escape character"),
        (r#"{"a":"\ud83d\ude00"}"#, "yaml: found invalid Unicode character escape code"),
        (r#"{"a":"\u12"}"#, "yaml: did not find expected hexdecimal number"),
        ("{\n\"a\":\"\\/\"}", "yaml: line 2: found unknown escape character"),
    ]);
}

#[test]
fn control_characters_are_refused_and_line_breaks_fold() {
    for c in [
        "\u{7f}", "\u{80}", "\u{84}", "\u{86}", "\u{9f}", "\u{fffe}", "\u{ffff}", "\0", "\u{1}", "\u{1b}",
        "\u{1f}",
    ] {
        assert_eq!(
            show(&format!("{{\"a\":\"x{c}y\"}}")),
            "yaml: control characters are not allowed",
            "{c:?}"
        );
    }
    for c in ["\n", "\r", "\r\n", "\u{85}", " \n  ", "\n\t"] {
        assert_eq!(show(&format!("{{\"a\":\"x{c}y\"}}")), "a=x y;", "{c:?}");
    }
    check(&[
        ("{\"a\":\"x\ty\"}", "a=x\ty;"),
        ("{\"a\":\"x\n\ny\"}", "a=x\ny;"),
        ("{\"a\":\"x\u{2028}y\"}", "a=x\u{2028}y;"),
        ("{\"a\":\"x\\\n  y\"}", "a=xy;"),
    ]);
}

#[test]
fn invalid_utf_8_is_refused() {
    for (bytes, expected) in [
        (&b"{\"a\":\"\xff\"}"[..], "yaml: invalid leading UTF-8 octet"),
        (b"{\"a\":\"\x80\"}", "yaml: invalid leading UTF-8 octet"),
        (b"{\"a\":\"\xc3(\"}", "yaml: invalid trailing UTF-8 octet"),
        (b"{\"a\":\"\xed\xa0\x80\"}", "yaml: invalid Unicode character"),
        (b"{\"a\":\"\xc0\x80\"}", "yaml: invalid length of a UTF-8 sequence"),
        (b"{\"a\":\"\xe2\x82", "yaml: incomplete UTF-8 octet sequence"),
    ] {
        assert_eq!(string_map(bytes).unwrap_err(), expected);
    }
}

#[test]
fn long_keys_fail_in_flow_style() {
    let entry = |length: usize| format!("{{\"{}\":\"v\"}}", "k".repeat(length));
    assert!(string_map(entry(1022).as_bytes()).is_ok());
    assert_eq!(show(&entry(1023)), "yaml: did not find expected ',' or '}'");
    assert_eq!(
        show(&format!("{}: v\n", "k".repeat(1025))),
        "yaml: mapping values are not allowed in this context"
    );
}

#[test]
fn large_values_are_read() {
    let large = "é\\n".repeat(1 << 20);
    let entries = string_map(format!("{{\"a\":\"{large}\"}}").as_bytes()).unwrap();
    assert_eq!(entries[0].1.len(), 3 << 20);
}

#[test]
fn the_first_document_counts() {
    check(&[
        ("{\"a\":\"b\"}\n---\n{\"c\":\"d\"}", "a=b;"),
        ("{\"a\":\"b\"} trailing", "a=b;"),
        ("{\"a\":\"b\"} }", "a=b;"),
        ("a: 1\n...\nb: [", "a=1;"),
    ]);
}

#[test]
fn broken_texts_are_refused() {
    check(&[
        ("{\"a\":\"b\"", "yaml: line 1: did not find expected ',' or '}'"),
        ("{\"a\":\"b", "yaml: found unexpected end of stream"),
        ("{\"a\" \"b\"}", "yaml: did not find expected ',' or '}'"),
        ("{\"a\":@}", "yaml: found character that cannot start any token"),
        ("a: b: c\n", "yaml: mapping values are not allowed in this context"),
        ("a: 1\n b: 2\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: 1\nb\n", "yaml: line 3: could not find expected ':'"),
        ("\ta: 1\n", "yaml: found character that cannot start any token"),
        ("a: 1\n- b\n", "yaml: line 1: did not find expected key"),
        ("}", "yaml: did not find expected node content"),
        ("a: \"x\n---\ny\"", "yaml: line 2: found unexpected document indicator"),
    ]);
}

#[test]
fn forms_that_are_not_implemented_say_so() {
    check(&[
        ("a: &x 1", "juju-sim: YAML form not supported: an anchor"),
        ("a: *x", "juju-sim: YAML form not supported: an alias"),
        ("a: !!str 1", "juju-sim: YAML form not supported: a tag"),
        ("%YAML 1.1\n---\na: 1", "juju-sim: YAML form not supported: a directive"),
    ]);
    assert_eq!(show(&"[".repeat(5000)), "juju-sim: YAML form not supported: nesting this deep");
    assert_eq!(string_map(b"\xff\xfea\0").unwrap_err(), "juju-sim: YAML form not supported: UTF-16");
}
