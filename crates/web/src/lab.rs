//! Requests: read a scenario, list the schemes, begin a run, continue it.

use crate::answer::Answer;
use airtcp_proto::base_station;
use airtcp_proto::cc;
use airtcp_proto::scheme::{self, CIRCUIT, Scheme};
use airtcp_sim::scenario::Recipe;
use airtcp_sim::{Outcome, RunOptions, Running, Scenario};
use airtcp_wire::Dur;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    Schemes,
    Read(Wanted),
    Begin {
        of: Wanted,
        scheme: String,
        seed: u64,
        /// Zero: a sample per ACK. Absent: no series.
        #[serde(default)]
        series_s: Option<f64>,
        #[serde(default)]
        packets: bool,
    },
    /// Handles so many events of the run begun last.
    Advance {
        events: u64,
    },
}

/// A requested scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Absent: the built-in one.
    #[serde(default)]
    text: Option<String>,
    /// In the form of `--set`.
    #[serde(default)]
    overrides: Vec<(String, String)>,
}

/// State between requests: the run in progress.
#[derive(Default)]
pub struct Lab {
    running: Option<Running>,
}

impl Lab {
    pub fn handle(&mut self, request: &[u8]) -> Answer {
        match serde_json::from_slice(request) {
            Ok(Request::Schemes) => Answer::of(schemes()),
            Ok(Request::Read(wanted)) => read(&wanted).map_or_else(Answer::error, |found| described(&found)),
            Ok(Request::Begin { of, scheme, seed, series_s, packets }) => {
                let series = series_s.map(Dur::from_secs_f64);
                let options = RunOptions { series, packets, ..RunOptions::default() };
                match begin(&of, &scheme, seed, options) {
                    Ok(running) => {
                        self.running = Some(running);
                        Answer::default()
                    }
                    Err(error) => Answer::error(error),
                }
            }
            Ok(Request::Advance { events }) => self.advance(events),
            Err(error) => Answer::error(error),
        }
    }

    /// Continues the run; a finished run is returned and dropped.
    fn advance(&mut self, events: u64) -> Answer {
        let Some(mut running) = self.running.take() else { return Answer::error("no run was begun") };
        if running.advance(events) {
            let now = running.now();
            self.running = Some(running);
            return Answer::of(json!({ "now_ns": now.0 }));
        }
        running.finish().map_or_else(Answer::error, finished)
    }
}

fn read(wanted: &Wanted) -> Result<Scenario, String> {
    let mut recipe = match &wanted.text {
        None => Recipe::built_in(&wanted.overrides),
        Some(text) => Recipe::new(text, "scenario", Path::new(""), &wanted.overrides),
    };
    recipe.read().map_err(|error| error.to_string())
}

fn begin(wanted: &Wanted, scheme: &str, seed: u64, options: RunOptions<'_>) -> Result<Running, String> {
    let scenario = read(wanted)?;
    let scheme = Scheme::parse(scheme, &scenario.profile).map_err(|error| error.to_string())?;
    Running::new(&scenario, &scheme, seed, options).map_err(|error| error.to_string())
}

/// Returns the scenario with all its defaults, as a value and as a file.
fn described(scenario: &Scenario) -> Answer {
    let text = scenario.to_toml();
    match toml::from_str::<Value>(&text) {
        Ok(value) => Answer::default().with("scenario", value).with("toml", text),
        Err(error) => Answer::error(error),
    }
}

fn finished(outcome: Outcome) -> Answer {
    let mut answer = Answer::default().with("run", &outcome.record);
    if let Some(series) = outcome.series {
        answer = answer
            .with_table("flows", series.flows.into_columns())
            .with_table("queues", series.queues.into_columns())
            .with_table("events", series.events.into_columns())
            .with_table("deliveries", series.deliveries.into_columns());
    }
    let packets = outcome.packets.map(|packets| ("packets", packets.into_columns()));
    let turns = outcome.turns.map(|turns| ("turns", turns.into_columns()));
    packets.into_iter().chain(turns).fold(answer, |answer, (name, columns)| answer.with_table(name, columns))
}

/// Returns every scheme, in the order for display.
fn schemes() -> Value {
    let controllers = cc::controllers().iter().map(|spec| (spec.name, spec.summary));
    let combinations = scheme::COMBINATIONS.iter().map(|spec| (spec.name, spec.summary));
    let machines = base_station::all().into_iter().map(|machine| machine.spec());
    let alone = controllers.chain(combinations).map(|(name, summary)| one(name, summary, true));
    let added = std::iter::once((CIRCUIT.name, CIRCUIT.summary))
        .chain(machines.map(|spec| (spec.name, spec.summary)))
        .map(|(name, summary)| one(name, summary, false));
    json!({ "schemes": alone.chain(added).collect::<Vec<_>>() })
}

/// `is_alone`: it is usable without another term.
fn one(name: &str, summary: &str, is_alone: bool) -> Value {
    json!({ "name": name, "summary": summary, "alone": is_alone })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(lab: &mut Lab, request: &Value) -> Value {
        let bytes = lab.handle(request.to_string().as_bytes()).into_bytes();
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[4..4 + length]).unwrap()
    }

    #[test]
    fn a_run_in_slices_is_the_same_run() {
        let mut lab = Lab::default();
        let of = json!({ "overrides": [["duration", "3s"]] });
        let begun =
            json!({ "do": "begin", "of": of, "scheme": "cubic", "seed": 2, "series_s": 0, "packets": true });
        assert_eq!(asked(&mut lab, &begun).get("error"), None);
        let mut slices = 0;
        let found = loop {
            let answer = asked(&mut lab, &json!({ "do": "advance", "events": 500 }));
            slices += 1;
            if answer.get("run").is_some() {
                break answer;
            }
        };
        let scenario =
            read(&Wanted { text: None, overrides: vec![("duration".into(), "3s".into())] }).unwrap();
        let scheme = Scheme::parse("cubic", "linux").unwrap();
        let alone = airtcp_sim::run(&scenario, &scheme, 2, RunOptions::default()).unwrap();
        // Through text, as the answer went.
        let expected: Value = serde_json::from_str(&serde_json::to_string(&alone.record).unwrap()).unwrap();
        assert_eq!(found["run"], expected);
        assert!(slices > 3, "{slices}");
        // Every packet that the links counted is in the log.
        let logged = found["tables"]["packets"]["sent_ns"]["length"].as_u64().unwrap();
        assert_eq!(logged, alone.record.links.iter().map(|link| link.packets_arrived).sum::<u64>());
    }

    #[test]
    fn mistakes_are_answered() {
        let mut lab = Lab::default();
        let unknown = json!({ "do": "read", "overrides": [["wireless.los", "1"]] });
        assert!(asked(&mut lab, &unknown)["error"].as_str().unwrap().contains("los"));
        let unnamed = json!({ "do": "begin", "of": {}, "scheme": "renno", "seed": 1 });
        assert!(asked(&mut lab, &unnamed)["error"].as_str().unwrap().contains("reno"));
        assert!(asked(&mut lab, &json!({ "do": "advance", "events": 1 })).get("error").is_some());
    }
}
