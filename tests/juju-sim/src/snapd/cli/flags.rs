//! Arguments, parsed as the client's go-flags does.

use std::collections::BTreeMap;

/// How a flag takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// None.
    Bool,
    /// Behind `=` or as the next argument.
    Value,
    /// Behind `=`, or else this.
    Optional(&'static str),
}

/// The flags of a command.
pub(super) type Spec = [(&'static str, Option<char>, Kind)];

/// What was given.
#[derive(Debug, Default)]
pub(super) struct Flags {
    set: BTreeMap<&'static str, String>,
    pub(super) args: Vec<String>,
}

impl Flags {
    pub(super) fn has(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// A value; an empty one is as none.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Flags may stand anywhere before `--`; the last one counts.
pub(super) fn parse(args: &[String], spec: &Spec) -> Result<Flags, String> {
    let mut flags = Flags::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            flags.args.extend(rest.by_ref().cloned());
        } else if let Some(long) = arg.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let found = spec.iter().find(|(known, _, _)| *known == name);
            let Some((known, _, kind)) = found else { return Err(format!("unknown flag `{name}'")) };
            let value = take(&format!("--{known}"), *kind, value, &mut rest)?;
            flags.set.insert(known, value);
        } else if arg.len() > 1 && arg.starts_with('-') {
            let mut letters = arg.chars().skip(1);
            while let Some(letter) = letters.next() {
                let found = spec.iter().find(|(_, short, _)| *short == Some(letter));
                let Some((known, _, kind)) = found else { return Err(format!("unknown flag `{letter}'")) };
                let joined: String = match kind {
                    Kind::Bool => String::new(),
                    Kind::Value | Kind::Optional(_) => letters.by_ref().collect(),
                };
                let value = (!joined.is_empty()).then(|| joined.trim_start_matches('=').to_owned());
                let value = take(&format!("-{letter}, --{known}"), *kind, value, &mut rest)?;
                flags.set.insert(known, value);
            }
        } else {
            flags.args.push(arg.clone());
        }
    }
    Ok(flags)
}

fn take(
    shown: &str,
    kind: Kind,
    value: Option<String>,
    rest: &mut std::slice::Iter<'_, String>,
) -> Result<String, String> {
    let value = match (kind, value) {
        (Kind::Bool, None) => return Ok("true".to_owned()),
        (Kind::Bool, Some(_)) => return Err(format!("bool flag `{shown}' cannot have an argument")),
        (Kind::Optional(default), None) => return Ok(default.to_owned()),
        (Kind::Value | Kind::Optional(_), Some(value)) => value,
        (Kind::Value, None) => match rest.next() {
            None => return Err(format!("expected argument for flag `{shown}'")),
            Some(next) if next.len() > 1 && next.starts_with('-') => {
                return Err(format!("expected argument for flag `{shown}', but got option `{next}'"));
            }
            Some(next) => next.clone(),
        },
    };
    // A value in double quotes is taken out of them.
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    Ok(inner.map_or(value.clone(), str::to_owned))
}
