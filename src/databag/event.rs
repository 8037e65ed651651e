//! `event`: what a COS charm writes back into its application databag when it refuses what we sent.
//!
//! Two forms: rules give one text, `{"valid": false, "errors": "..."}`, the checker's lines joined by
//! commas (canonical/prometheus-k8s-operator and loki-k8s-operator); dashboards give a list,
//! `{"errors": [{"dashboard_id": "...", "error": "..."}]}` (canonical/grafana-k8s-operator).

use serde_json::Value;

/// The key.
pub const EVENT: &str = "event";

/// Errors of one event that are looked at; the far side may name every rule.
const MAX_ERRORS: usize = 20;
/// Characters of one error that are kept.
const MAX_TEXT: usize = 300;
const NO_REASON: &str = "no reason";

/// One thing that the far side refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The template id, if it is one dashboard.
    pub dashboard: Option<String>,
    /// The far side's words: one line, shortened.
    pub text: String,
}

/// Reads an `event` value. Nothing refused, or nothing that can be understood as a refusal, is empty:
/// a sloppy far side is no fault of the data that we forward.
pub fn read_event(text: &str) -> Vec<Refusal> {
    let Ok(Value::Object(event)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let mut refusals: Vec<Refusal> = match event.get("errors") {
        Some(Value::String(errors)) => split(errors),
        Some(Value::Array(errors)) => errors.iter().filter_map(refusal).collect(),
        _ => Vec::new(),
    };
    if refusals.is_empty() && event.get("valid") == Some(&Value::Bool(false)) {
        refusals.push(Refusal { dashboard: None, text: "not valid, without a reason".to_owned() });
    }
    refusals.truncate(MAX_ERRORS);
    refusals
}

/// The checker's lines each begin with `error validating`, and stand in one text joined by `, `.
fn split(errors: &str) -> Vec<Refusal> {
    errors
        .split("error validating")
        .map(|part| one_line(part.trim_matches(|c: char| c.is_whitespace() || c == ',' || c == ':')))
        .filter(|text| !text.is_empty())
        .map(|text| Refusal { dashboard: None, text })
        .collect()
}

fn refusal(error: &Value) -> Option<Refusal> {
    let (dashboard, text) = match error {
        Value::String(text) => (None, text.as_str()),
        Value::Object(error) => (
            error.get("dashboard_id").and_then(Value::as_str),
            error.get("error").and_then(Value::as_str).unwrap_or(NO_REASON),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let text = Some(one_line(text)).filter(|text| !text.is_empty()).unwrap_or_else(|| NO_REASON.to_owned());
    Some(Refusal { dashboard: dashboard.map(str::to_owned), text })
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_nothing_else_is_a_refusal() {
        let texts = |event: &str| -> Vec<String> {
            let pair = |r: Refusal| format!("{}|{}", r.dashboard.unwrap_or_default(), r.text);
            read_event(event).into_iter().map(pair).collect()
        };
        for quiet in ["", "{}", "not json", "[]", "null", r#"{"valid":true,"errors":""}"#, r#"{"errors":7}"#]
        {
            assert_eq!(texts(quiet), [""; 0], "{quiet}");
        }
        assert_eq!(
            texts(
                r#"{"valid":false,"errors":"error validating a.rules: group \"x\",\n rule 1, error validating: b"}"#
            ),
            ["|a.rules: group \"x\", rule 1", "|b"]
        );
        assert_eq!(texts(r#"{"valid":false}"#), ["|not valid, without a reason"]);
        assert_eq!(
            texts(r#"{"errors":[{"dashboard_id":"file:x","error":"Invalid JSON"},"text",7,{}]}"#),
            ["file:x|Invalid JSON", "|text", "|no reason"]
        );
        let many = format!(r#"{{"errors":[{}"x"]}}"#, r#""x","#.repeat(100));
        assert_eq!(texts(&many).len(), MAX_ERRORS);
        let long = format!(r#"{{"errors":"{}"}}"#, "ü".repeat(1000));
        assert_eq!(read_event(&long)[0].text.chars().count(), MAX_TEXT);
    }
}
