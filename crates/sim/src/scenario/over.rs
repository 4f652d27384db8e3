//! Scenarios without a file.

use super::model::{EnterRecordings, Flow, Link, Scenario};
use super::wireless::wireless_of;
use airtcp_wire::Dur;

impl Scenario {
    /// These links in a chain, one unlimited flow across all of them, one run of `reno`; the rest as in an empty file.
    pub fn over(mut links: Vec<Link>, duration: Dur) -> Scenario {
        let last = links.len().saturating_sub(1);
        links.iter_mut().enumerate().for_each(|(index, link)| link.ends = [index, index + 1]);
        let base_station = wireless_of(&links);
        Scenario {
            name: String::new(),
            description: String::new(),
            duration,
            warmup: Dur::ZERO,
            seeds: 1,
            seed: 1,
            enter_recordings: EnterRecordings::AtStart,
            schemes: vec!["reno".to_owned()],
            profile: "linux".to_owned(),
            nodes: Vec::new(),
            media: Vec::new(),
            links,
            base_station,
            flows: vec![Flow::unlimited("main", 0, last)],
            circuits: Vec::new(),
            measurement: None,
        }
    }
}
