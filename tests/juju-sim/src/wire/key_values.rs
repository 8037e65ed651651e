//! `key=value` arguments of relation-set, state-set and action-set.
//!
//! relation-set and state-set share juju/utils keyvalues; action-set has a form of its own with dotted keys.

use super::go_text::quote;

const RESERVED_ACTION_KEYS: [&str; 4] = ["stdout", "stdout-encoding", "stderr", "stderr-encoding"];

/// Arguments of relation-set and state-set, white space at both ends of key and value removed. Error: exit 2.
///
/// An empty argument is skipped and an empty value kept: what it means is the tool's own affair.
pub fn pairs<T: AsRef<str>>(args: &[T]) -> Result<Vec<(String, String)>, String> {
    let mut result: Vec<(String, String)> = Vec::new();
    for arg in args.iter().map(AsRef::as_ref).filter(|arg| !arg.is_empty()) {
        let Some((key, value)) = arg.split_once('=') else {
            return Err(format!("expected \"key=value\", got {}", quote(arg)));
        };
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() {
            return Err(format!("expected \"key=value\", got \"={value}\""));
        }
        if result.iter().any(|(known, _)| known == key) {
            return Err(format!("key {} specified more than once", quote(key)));
        }
        result.push((key.to_owned(), value.to_owned()));
    }
    Ok(result)
}

/// Arguments of action-set: the parts of the dotted key, and the value as written. Error: exit 2.
pub fn action_results<T: AsRef<str>>(args: &[T]) -> Result<Vec<(Vec<String>, String)>, String> {
    let mut result = Vec::new();
    for arg in args.iter().map(AsRef::as_ref) {
        let Some((dotted, value)) = arg.split_once('=') else {
            return Err(format!("argument {} must be of the form key...=value", quote(arg)));
        };
        if RESERVED_ACTION_KEYS.contains(&dotted) {
            return Err(format!("cannot set reserved action key {}", quote(dotted)));
        }
        let parts: Vec<String> = dotted.split('.').map(str::to_owned).collect();
        if let Some(bad) = parts.iter().find(|part| !is_action_name(part)) {
            return Err(format!(
                "key {} must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric, \
                 hyphens and periods",
                quote(bad)
            ));
        }
        result.push((parts, value.to_owned()));
    }
    Ok(result)
}

/// `^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`, the rule for parts of action keys and for names of actions.
pub fn is_action_name(text: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_trimmed() {
        let parsed = pairs(&["a=1", " b = x y ", "c=", "", "d=e=f\n"]).unwrap();
        let shown: Vec<String> = parsed.iter().map(|(k, v)| format!("{k}|{v}")).collect();
        assert_eq!(shown, ["a|1", "b|x y", "c|", "d|e=f"]);
    }

    #[test]
    fn bad_pairs_are_refused() {
        for (args, expected) in [
            (&["x"][..], r#"expected "key=value", got "x""#),
            (&["=v"], r#"expected "key=value", got "=v""#),
            (&["a=1", " a=2"], r#"key "a" specified more than once"#),
        ] {
            assert_eq!(pairs(args).unwrap_err(), expected);
        }
    }

    #[test]
    fn action_keys_nest_at_dots() {
        let parsed = action_results(&["a.b-c.0= v ", "x=", "stdout.x=1"]).unwrap();
        assert_eq!(
            format!("{parsed:?}"),
            r#"[(["a", "b-c", "0"], " v "), (["x"], ""), (["stdout", "x"], "1")]"#
        );
    }

    #[test]
    fn bad_action_keys_are_refused() {
        let rule = "must start and end with lowercase alphanumeric, and contain only lowercase alphanumeric, \
                    hyphens and periods";
        for (arg, expected) in [
            ("x", r#"argument "x" must be of the form key...=value"#.to_owned()),
            ("X=1", format!(r#"key "X" {rule}"#)),
            ("a.b_c=1", format!(r#"key "b_c" {rule}"#)),
            ("a..b=1", format!(r#"key "" {rule}"#)),
            ("a-=1", format!(r#"key "a-" {rule}"#)),
            ("=1", format!(r#"key "" {rule}"#)),
            ("stdout=1", r#"cannot set reserved action key "stdout""#.to_owned()),
            ("stderr-encoding=1", r#"cannot set reserved action key "stderr-encoding""#.to_owned()),
        ] {
            assert_eq!(action_results(&[arg]).unwrap_err(), expected);
        }
    }
}
