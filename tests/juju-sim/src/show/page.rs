//! One self-contained page of a run: a lane for each unit, hooks as bars over simulated time.

use serde_json::{Value, json};

use crate::sim::Event;

const PAGE: &str = include_str!("page.html");
/// Where the page takes its data from.
const PLACE: &str = "@DATA@";

/// What a page is made from.
#[derive(Debug)]
pub struct Run<'a> {
    /// The scenario's name.
    pub name: &'a str,
    /// The seed that it ran with.
    pub seed: u64,
    /// Why it failed, if it did.
    pub failure: Option<&'a str>,
    /// All that happened.
    pub events: &'a [Event],
}

/// The page. It loads nothing from anywhere, and what charms wrote stays text in it.
pub fn page(run: &Run<'_>) -> serde_json::Result<String> {
    let mut data = json!({"name": run.name, "seed": run.seed, "failure": run.failure});
    if let Value::Object(fields) = &mut data {
        fields.insert("events".to_owned(), serde_json::to_value(run.events)?);
    }
    // No `</script>` or `<!--` of a databag may end the element that holds the data.
    Ok(PAGE.replace(PLACE, &data.to_string().replace('<', "\\u003c")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Time;

    #[test]
    fn what_is_in_the_data_cannot_leave_it() {
        let text = "</script><script>alert(1)</script><!--".to_owned();
        let events = [Event::Step { time: Time(0), text: text.clone() }];
        let run = Run { name: "a \"name\"", seed: 7, failure: None, events: &events };
        let made = page(&run).unwrap();
        let (_, rest) = made.split_once("id=\"data\">").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["events"][0]["text"], Value::from(text));
        assert_eq!(data["name"], Value::from("a \"name\""));
        assert!(!made.contains(PLACE));
    }

    #[test]
    fn it_loads_nothing() {
        let addresses = ["http:", "https:", "src=", "import ", "url("];
        let own = PAGE.replace("http://www.w3.org/2000/svg", "");
        assert!(addresses.iter().all(|address| !own.contains(address)));
    }
}
