//! Any two terms either go together, and then run, or say why not.

use airtcp_proto::scheme::{Scheme, names};
use airtcp_sim::{RunOptions, Scenario, run};

/// What the refusal of two terms begins to say.
const REFUSED: &str = "cannot be combined: ";

/// The default scenario for a second, and how two terms fare on it: `None` if they are refused, else the bytes received.
fn fare(scenario: &Scenario, text: &str) -> Option<u64> {
    let scheme = match Scheme::parse(text, "linux") {
        Ok(scheme) => scheme,
        Err(error) => {
            assert!(error.to_string().contains(REFUSED), "{error}");
            return None;
        }
    };
    let outcome = run(scenario, &scheme, 1, RunOptions::default());
    Some(outcome.unwrap_or_else(|error| panic!("{text}: {error}")).record.flows[0].bytes_received)
}

#[test]
fn every_pair_of_terms_runs_or_is_refused_with_the_reason() {
    let scenario = Scenario::built_in(&[("duration".to_owned(), "1s".to_owned())]).unwrap();
    let names: Vec<_> = names().collect();
    let (mut run, mut refused) = (0, 0);
    for (index, first) in names.iter().enumerate() {
        for second in &names[index + 1..] {
            let text = format!("{first}+{second}");
            let found = fare(&scenario, &text);
            // An initial window at the least.
            assert!(found.is_none_or(|bytes| bytes > 10_000), "{text} received {found:?}");
            let swapped = format!("{second}+{first}");
            assert_eq!(Scheme::parse(&swapped, "linux").is_ok(), found.is_some(), "{swapped}");
            *(if found.is_some() { &mut run } else { &mut refused }) += 1;
        }
    }
    assert!(run > 100 && refused > 50, "{run} {refused}");
}

/// A few of three and more, with keys where they belong.
#[test]
fn what_the_papers_would_combine_runs() {
    let scenario = Scenario::built_in(&[("duration".to_owned(), "2s".to_owned())]).unwrap();
    for text in [
        "westwood-vt+packet-control:threshold=9",
        "reno+rto-m:m=12+gbn+split:rto.factor=12",
        "reno+split:rto.factor=12:timeout_policy=go-back-n:congestion_control=cubic",
        "cubic+sack+snoop:cache=50",
        "newreno+eln+eifel",
        "cubic+decoupling",
        "bbr+split:congestion_control=westwood-vt",
    ] {
        assert!(fare(&scenario, text).unwrap() > 10_000, "{text}");
    }
}
