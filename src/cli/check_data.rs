//! `check-data FILE`: what is wrong with a cos-agent `config` value, before a charm sends it.

use crate::databag::{Fault, scrape};
use crate::decide::observability;
use anyhow::{Context as _, bail};
use fs_err as fs;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

/// No databag can be larger: in the controller it is a document of 16 MiB.
const LIMIT: u64 = 16 << 20;

/// Checks a file. Gives the text to print and whether the value is good.
pub fn check_data(file: &Path, json: bool) -> anyhow::Result<(String, bool)> {
    let mut text = String::new();
    let mut reader = fs::File::open(file)?.take(LIMIT + 1);
    reader.read_to_string(&mut text).with_context(|| format!("cannot read {}", file.display()))?;
    if text.len() as u64 > LIMIT {
        bail!("{}: larger than {LIMIT} bytes, which no databag can be", file.display());
    }
    let value = value(&text);
    let mut faults = observability::check_data(&value);
    // What is no JSON object has been told.
    faults.extend(scrape::read(&value).map(|jobs| jobs.faults).unwrap_or_default());
    let good = faults.is_empty();
    let shown = if json { machine(&faults) } else { person(file, &faults) };
    Ok((shown, good))
}

/// The value itself, also where the file holds the whole databag, `{"config": "..."}`.
fn value(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(databag)) => match databag.get("config") {
            Some(Value::String(config)) => config.clone(),
            Some(_) | None => text.to_owned(),
        },
        Ok(_) | Err(_) => text.to_owned(),
    }
}

fn machine(faults: &[Fault]) -> String {
    let faults: Vec<Value> =
        faults.iter().map(|fault| json!({"path": fault.path, "reason": fault.reason})).collect();
    format!("{}\n", json!({"good": faults.is_empty(), "faults": faults}))
}

fn person(file: &Path, faults: &[Fault]) -> String {
    if faults.is_empty() {
        return format!("{}: good\n", file.display());
    }
    let lines: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
    let count = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
    format!("{}: {count}\n{lines}", file.display())
}
