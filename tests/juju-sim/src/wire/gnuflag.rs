//! Arguments of a hook tool, parsed as juju/gnuflag does for every command of juju/cmd.
//!
//! Options may stand anywhere before `--`, one-letter options may be joined (`-abc`, `-r3`), a long name takes
//! its value after `=` or as the next argument, and a name of one letter may be written with two dashes.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Peekable;

use super::format::Format;
use super::go_text::{quote, quote_list};

type Check<'a> = Box<dyn Fn(&str) -> Result<(), String> + 'a>;

enum Kind<'a> {
    Flag,
    Value(Check<'a>),
}

struct Opt<'a> {
    names: Vec<&'static str>,
    kind: Kind<'a>,
}

/// The options that one tool accepts.
#[derive(Default)]
pub struct Spec<'a> {
    options: Vec<Opt<'a>>,
}

impl fmt::Debug for Spec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.options.iter().map(|option| &option.names)).finish()
    }
}

/// Why a tool does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// `-h` or `--help`: usage on stdout, exit 0.
    Help,
    /// Wrong arguments: `ERROR <text>` on stderr, exit 2.
    Usage(String),
}

/// Parsed arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// By the first name of the option.
    values: BTreeMap<&'static str, String>,
    names: BTreeMap<&'static str, &'static str>,
    args: Vec<String>,
}

impl<'a> Spec<'a> {
    /// No options but `-h` and `--help`.
    pub fn new() -> Self {
        Self::default()
    }

    /// An option with a value; all names mean the same.
    pub fn value(self, names: &[&'static str]) -> Self {
        self.checked(names, |_| Ok(()))
    }

    /// An option with a value that is checked while parsing, so that its error names the option as written.
    pub fn checked(
        mut self,
        names: &[&'static str],
        check: impl Fn(&str) -> Result<(), String> + 'a,
    ) -> Self {
        self.options.push(Opt { names: names.to_vec(), kind: Kind::Value(Box::new(check)) });
        self
    }

    /// An option without a value.
    pub fn flag(mut self, names: &[&'static str]) -> Self {
        self.options.push(Opt { names: names.to_vec(), kind: Kind::Flag });
        self
    }

    /// `--format` with the three common formats, and `-o/--output`: what every tool with output accepts.
    pub fn output(self) -> Self {
        let known = |value: &str| {
            Format::from_name(value).map(|_| ()).ok_or(format!("unknown format {}", quote(value)))
        };
        self.checked(&["format"], known).value(&["o", "output"])
    }

    /// Parse the arguments after the tool's name.
    pub fn parse<T: AsRef<str>>(&self, argv: &[T]) -> Result<Parsed, Stop> {
        let mut parsed = Parsed::default();
        for option in &self.options {
            let Some(first) = option.names.first() else {
                continue;
            };
            parsed.names.extend(option.names.iter().map(|name| (*name, *first)));
        }
        let mut rest = argv.iter().map(AsRef::as_ref).peekable();
        while let Some(arg) = rest.next() {
            if arg == "--" {
                parsed.args.extend(rest.by_ref().map(str::to_owned));
            } else if let Some(long) = arg.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                if name.is_empty() {
                    return Err(Stop::Usage(format!("empty option in argument {}", quote(arg))));
                }
                self.set(&mut parsed, name, value, &mut rest)?;
            } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.short(&mut parsed, letters, &mut rest)?;
            } else {
                parsed.args.push(arg.to_owned());
            }
        }
        Ok(parsed)
    }

    /// One or more joined one-letter options. What follows an option with a value is that value, with any `=`.
    fn short<'v>(
        &self,
        parsed: &mut Parsed,
        mut letters: &'v str,
        rest: &mut Peekable<impl Iterator<Item = &'v str>>,
    ) -> Result<(), Stop> {
        while let Some(letter) = letters.chars().next() {
            let (name, tail) = letters.split_at(letter.len_utf8());
            letters = tail;
            let takes_tail = match self.find(name)?.1.kind {
                Kind::Flag => tail.starts_with('='),
                Kind::Value(_) => !tail.is_empty(),
            };
            if takes_tail {
                return self.set(parsed, name, Some(tail), rest);
            }
            self.set(parsed, name, None, rest)?;
            if rest.peek().is_none() {
                // gnuflag looks for the end of the arguments first, and so forgets the other letters of the last one.
                break;
            }
        }
        Ok(())
    }

    fn set<'v>(
        &self,
        parsed: &mut Parsed,
        name: &str,
        value: Option<&'v str>,
        rest: &mut Peekable<impl Iterator<Item = &'v str>>,
    ) -> Result<(), Stop> {
        let (first, option) = self.find(name)?;
        let refuse = |value: &str, why: String| {
            Stop::Usage(format!("invalid value {} for option {}: {why}", quote(value), dashed(name)))
        };
        let stored = match (&option.kind, value) {
            (Kind::Flag, None) => "true".to_owned(),
            (Kind::Flag, Some(value)) => parse_bool(value).map_err(|why| refuse(value, why))?.to_string(),
            (Kind::Value(check), value) => {
                let Some(value) = value.or_else(|| rest.next()) else {
                    return Err(Stop::Usage(format!("option needs an argument: {}", dashed(name))));
                };
                check(value).map_err(|why| refuse(value, why))?;
                value.to_owned()
            }
        };
        parsed.values.insert(first, stored);
        Ok(())
    }

    fn find(&self, name: &str) -> Result<(&'static str, &Opt<'a>), Stop> {
        let found = self.options.iter().find(|option| option.names.contains(&name));
        match found.and_then(|option| Some((*option.names.first()?, option))) {
            Some(found) => Ok(found),
            None if name == "h" || name == "help" => Err(Stop::Help),
            None => Err(Stop::Usage(format!("option provided but not defined: {}", dashed(name)))),
        }
    }
}

impl Parsed {
    /// The value of the option with this name; of several the last.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(self.names.get(name)?).map(String::as_str)
    }

    /// Whether a flag was given (and not with `=false`).
    pub fn is_set(&self, name: &str) -> bool {
        self.value(name) == Some("true")
    }

    /// The chosen `--format`, or this tool's default.
    pub fn format(&self, default: Format) -> Format {
        self.value("format").and_then(Format::from_name).unwrap_or(default)
    }

    /// The arguments that are not options.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Refuse arguments from this position on.
    pub fn at_most(&self, count: usize) -> Result<(), Stop> {
        match self.args.get(count..) {
            Some(surplus) if !surplus.is_empty() => {
                Err(Stop::Usage(format!("unrecognized args: {}", quote_list(surplus))))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn dashed(name: &str) -> String {
    if name.len() > 1 { format!("--{name}") } else { format!("-{name}") }
}

fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", quote(text))),
    }
}

#[cfg(test)]
mod tests;
