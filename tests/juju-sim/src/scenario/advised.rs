//! The step `run-advised`: an admin does what a text tells him, to the letter.
//!
//! The command is taken out of a status, or out of the message or output of an action, as it is printed there.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::sim::Sim;

/// Of `run-advised`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AdvisedStep {
    /// By the status of this unit, or
    pub unit: Option<String>,
    /// of this application, or
    pub application: Option<String>,
    /// by what the action that was kept under this name says.
    pub action: Option<String>,
    /// The command begins with these words; the first one that is advised if it is left out.
    pub begins: Option<String>,
    /// What the admin puts in the place of words in capitals, such as `CHANNEL`.
    pub fill: BTreeMap<String, String>,
    /// Under which name the result of an action is kept; the action's own if left out.
    pub r#as: Option<String>,
}

impl Sim {
    pub(super) fn advised_step(&mut self, step: &AdvisedStep) -> Result<()> {
        let text = self.advice(step)?;
        let begins = step.begins.as_deref().unwrap_or("juju ");
        let command = commands(&text).into_iter().find(|command| command.starts_with(begins));
        let command = command.with_context(|| format!("no command `{begins}...` is advised by: {text}"))?;
        self.say(format!("as advised: {command}"));
        let words = filled(words(&command), &step.fill)?;
        self.command_line(&words, step.r#as.as_deref()).with_context(|| command)
    }

    fn advice(&self, step: &AdvisedStep) -> Result<String> {
        Ok(match (&step.unit, &step.application, &step.action) {
            (Some(unit), None, None) => {
                let unit = self.unit_named(unit)?;
                self.world.units.get(&unit).context("no such unit")?.shown_status().message.clone()
            }
            (None, Some(app), None) => self.world.app_status(app).message,
            (None, None, Some(name)) => {
                let id = self.kept.get(name).with_context(|| format!("no action {name} was run"))?;
                let action = self.world.actions.get(id).context("no such action")?;
                format!("{}; {}", action.message, texts(&action.results).join("; "))
            }
            (_, _, _) => bail!("give one of `unit`, `application` and `action`"),
        })
    }

    /// `juju` with these arguments.
    fn command_line(&mut self, words: &[String], kept: Option<&str>) -> Result<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["juju", "run", unit, action, params @ ..] => {
                let unit = self.unit_named(unit)?;
                let params = params.iter().map(|param| pair(param, yaml)).collect::<Result<_>>()?;
                let id = self.run_action(&unit, action, params)?;
                self.kept.insert(kept.unwrap_or(action).to_owned(), id);
                let of = self.world.actions.get(&id).context("no such action")?;
                ensure!(of.status == "completed", "the action has {}: {}", of.status, of.message);
                Ok(())
            }
            ["juju", "config", app, values @ ..] if !values.is_empty() => {
                let values = values.iter().map(|value| pair(value, |text| self.typed(app, text)));
                let values = values.collect::<Result<_>>()?;
                self.configure(app, &values)
            }
            ["juju", "integrate", one, two] => self.integrate(one, two).map(|_| ()),
            ["juju", "remove-relation", one, two] => {
                let id = self.relation_between(one, two)?;
                self.remove_relation(id, false)
            }
            ["juju", "resolved", unit] => self.resolve(unit, true),
            ["juju", "resolved", "--no-retry", unit] => self.resolve(unit, false),
            ["juju", "remove-unit", unit] => self.remove_unit(unit, false),
            _ => bail!("juju has no such command, or the simulator does not know it"),
        }
    }

    /// The one relation between two ends, each an endpoint or an application.
    fn relation_between(&self, one: &str, two: &str) -> Result<u32> {
        let fits = |end: &str, key: &str| {
            key.split(' ')
                .any(|place| place == end || place.split_once(':').is_some_and(|(app, _)| app == end))
        };
        let relations = self.world.relations.iter();
        let mut found = relations.filter(|(_, of)| fits(one, &of.key) && fits(two, &of.key));
        let (id, _) = found.next().with_context(|| format!("no relation between {one} and {two}"))?;
        ensure!(found.next().is_none(), "more than one relation between {one} and {two}");
        Ok(*id)
    }

    /// The value of an option as its type has it: what looks like a number may be a text.
    fn typed(&self, app: &str, text: &str) -> Value {
        let config = self.world.applications.get(app).map(|app| app.config());
        let is_text = |key: &Value| key.is_string();
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        match config.as_ref().and_then(|config| config.get(name)) {
            Some(present) if !is_text(present) => yaml(text),
            Some(_) | None => Value::String(value.to_owned()),
        }
    }
}

/// All texts of a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(entries) => entries.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The commands in a text: from `juju ` on to the end of its clause.
fn commands(text: &str) -> Vec<String> {
    let starts = text.match_indices("juju ").filter(|(at, _)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && before != '-')
    });
    let clause = |(at, _): (usize, &str)| {
        let rest = text.get(at..).unwrap_or_default();
        let mut quoted = false;
        let mut end = rest.len();
        for (place, letter) in rest.char_indices() {
            let next = rest.get(place + letter.len_utf8()..).and_then(|after| after.chars().next());
            quoted ^= letter == '"';
            let stops = match letter {
                ',' | ';' | ':' => next.is_none_or(char::is_whitespace),
                '\n' => true,
                ' ' => next == Some('('),
                _ => false,
            };
            if stops && !quoted {
                end = place;
                break;
            }
        }
        rest.get(..end).unwrap_or_default().trim_end().to_owned()
    };
    starts.map(clause).collect()
}

/// The words of a command line, as a shell takes them.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().into_iter().for_each(|word| word.push(letter)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Words in capitals stand for what the admin knows: each must be given, and be there.
fn filled(words: Vec<String>, fill: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let mut words = words;
    for (name, value) in fill {
        ensure!(words.iter().any(|word| word.contains(name)), "nothing is said of {name}");
        words.iter_mut().for_each(|word| *word = word.replace(name, value));
    }
    let open = |word: &&String| {
        word.split(|letter: char| !letter.is_ascii_alphabetic())
            .any(|part| part.len() > 2 && part.chars().all(|letter| letter.is_ascii_uppercase()))
    };
    match words.iter().find(open) {
        Some(word) => bail!("what stands for {word}? give it in `fill`"),
        None => Ok(words),
    }
}

fn pair(word: &str, value: impl Fn(&str) -> Value) -> Result<(String, Value)> {
    let (name, _) = word.split_once('=').with_context(|| format!("{word} is not NAME=VALUE"))?;
    Ok((name.to_owned(), value(word)))
}

/// What `juju run` makes of the value in NAME=VALUE.
fn yaml(word: &str) -> Value {
    let (_, text) = word.split_once('=').unwrap_or(("", word));
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_end_with_their_clause() {
        let told = "db/1 failed: juju run app/leader retry unit=db/1, skip or go back: no disk (+2 more)";
        assert_eq!(commands(told), ["juju run app/leader retry unit=db/1"]);
        let told = "which one? juju config app snaps=\"a, b=CHANNEL\"; or juju remove-unit app/1\nthen wait";
        assert_eq!(commands(told), ["juju config app snaps=\"a, b=CHANNEL\"", "juju remove-unit app/1"]);
        assert_eq!(commands("juju integrate a:b c:d"), ["juju integrate a:b c:d"]);
        assert!(commands("see juju-sim, or nothing").is_empty());
    }

    #[test]
    fn words_in_capitals_have_to_be_filled_in() {
        let line = words("juju config app snaps=\"a b=CHANNEL\"");
        assert_eq!(line, ["juju", "config", "app", "snaps=a b=CHANNEL"]);
        assert!(filled(line.clone(), &BTreeMap::new()).is_err());
        let fill = BTreeMap::from([("CHANNEL".to_owned(), "1.30".to_owned())]);
        assert_eq!(filled(line, &fill).unwrap().last().unwrap(), "snaps=a b=1.30");
        assert!(filled(words("juju resolved app/1"), &fill).is_err());
    }
}
