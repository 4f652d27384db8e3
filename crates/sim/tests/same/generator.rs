//! Scenarios made of the lines of `features.txt`: one of them on a plain path, or many of them at random.

pub mod network;

use airtcp_proto::Chance;
use std::sync::LazyLock;

/// A line of `features.txt`.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Which part of a scenario may have it: `top`, `link`, `flow`, `circuit`, `medium`, or a `member` of that, a link on it;
    /// `cell`, an LTE medium, or a `user` of that.
    pub part: &'static str,
    /// Of the features of a slot, a part has one at most.
    pub slot: &'static str,
    toml: &'static str,
}

pub static FEATURES: LazyLock<Vec<Feature>> = LazyLock::new(|| {
    let feature = |line: &'static str| {
        let (part, rest) = line.split_once(' ').expect("a part");
        let (slot, toml) = rest.trim_start().split_once(' ').expect("a slot");
        Feature { part, slot, toml: toml.trim_start() }
    };
    let lines = include_str!("features.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(feature).collect()
});

/// Slots of a link that its way back does not have of its own.
const OF_BOTH_WAYS: [&str; 3] = ["name", "steps", "outages"];

impl Feature {
    /// Whether a link's way back can have it, too.
    pub fn has_reverse(self) -> bool {
        self.part == "link" && !OF_BOTH_WAYS.contains(&self.slot)
    }
}

/// A scenario, of which each part has its lines by slot.
#[derive(Clone, Default)]
struct Draft {
    top: Part,
    media: Vec<Part>,
    links: Vec<Part>,
    flows: Vec<Part>,
    circuits: Vec<Part>,
}

#[derive(Clone, Default)]
struct Part(Vec<(String, String)>);

impl Part {
    fn with(mut self, slot: &str, line: impl Into<String>) -> Part {
        self.0.retain(|(other, _)| other != slot);
        self.0.push((slot.to_owned(), line.into()));
        self
    }
}

impl Draft {
    fn text(&self) -> String {
        let part = |heading: &str, part: &Part| {
            let lines = part.0.iter().map(|(_, line)| format!("{line}\n"));
            format!("{heading}{}", lines.collect::<String>())
        };
        let parts = |heading: &str, parts: &[Part]| {
            parts.iter().map(|one| part(&format!("\n[[{heading}]]\n"), one)).collect::<String>()
        };
        part("", &self.top)
            + &parts("medium", &self.media)
            + &parts("link", &self.links)
            + &parts("flow", &self.flows)
            + &parts("circuit", &self.circuits)
    }
}

/// A path of two links with queues, and two flows.
fn plain() -> Draft {
    let link = |rate: &str, delay: &str, packets: u32| {
        Part::default()
            .with("capacity", format!("rate = \"{rate}\""))
            .with("delay", format!("delay = \"{delay}\""))
            .with("queue", format!("queue = {{ packets = {packets} }}"))
    };
    let first = Part::default().with("name", "name = \"flow0\"");
    Draft {
        top: Part::default().with("duration", "duration = \"2s\""),
        media: Vec::new(),
        links: vec![link("20Mbit/s", "3ms", 50), link("4Mbit/s", "12ms", 20)],
        flows: vec![first.with("start", "start = \"0s\""), Part::default().with("start", "start = \"1s\"")],
        circuits: Vec::new(),
    }
}

/// The plain path with this feature alone; on the way back only, if so said.
pub fn with_feature(feature: Feature, back: bool, chance: &mut Chance) -> String {
    let mut draft = plain();
    let line = filled(feature.toml, draft.links.len(), chance);
    if feature.part == "circuit" {
        let circuit = Part::default().with("scheme", "scheme = \"reno+decoupling\"");
        draft.circuits.push(circuit.with("flows", "flows = [\"flow0\"]"));
    }
    if let "medium" | "member" | "cell" | "user" = feature.part {
        let medium = Part::default().with("name", "name = \"air\"");
        let is_cell = matches!(feature.part, "cell" | "user");
        draft.media.push(if is_cell { medium.with("kind", "kind = \"lte\"") } else { medium });
        draft.links[1] = std::mem::take(&mut draft.links[1]).with("capacity", "medium = \"air\"");
    }
    let part = match feature.part {
        "medium" | "cell" => &mut draft.media[0],
        "top" => &mut draft.top,
        "link" | "member" | "user" => &mut draft.links[1],
        "flow" => &mut draft.flows[0],
        _ => &mut draft.circuits[0],
    };
    let line = if back { format!("reverse.{line}") } else { line };
    let slot = if back { "reverse" } else { feature.slot };
    *part = std::mem::take(part).with(slot, line);
    draft.text()
}

/// A chain with features at random. It may be one that is refused.
pub fn random(chance: &mut Chance) -> String {
    // Few features leave paths simple enough for shortcuts.
    let share = *pick(&[0.0, 0.05, 0.15, 0.4], chance);
    let links = *pick(&[1, 1, 2, 3], chance);
    draft(links, share, chance).text()
}

fn draft(links: usize, share: f64, chance: &mut Chance) -> Draft {
    let flows = *pick(&[1, 1, 2, 4], chance);
    let mut drawing = Drawing { share, links, chance };
    Draft {
        top: drawing.part("top", &["duration"]),
        media: Vec::new(),
        links: (0..links).map(|_| drawing.link()).collect(),
        flows: (0..flows).map(|number| drawing.flow(number)).collect(),
        circuits: drawing.circuit(flows).into_iter().collect(),
    }
}

struct Drawing<'a> {
    /// Of the slots that have a line.
    share: f64,
    links: usize,
    chance: &'a mut Chance,
}

impl Drawing<'_> {
    /// Some features of this part, one of a slot; those of `needed` slots in any case, mostly with their first line.
    fn part(&mut self, part: &str, needed: &[&str]) -> Part {
        let features: Vec<Feature> =
            FEATURES.iter().copied().filter(|feature| feature.part == part).collect();
        let mut drawn = Part::default();
        for of_slot in features.chunk_by(|one, other| one.slot == other.slot) {
            let is_needed = needed.contains(&of_slot[0].slot);
            if is_needed || self.chance.happens(self.share) {
                let is_first = is_needed && self.chance.happens(0.9);
                let feature = if is_first { of_slot[0] } else { *pick(of_slot, self.chance) };
                drawn = drawn.with(feature.slot, filled(feature.toml, self.links, self.chance));
            }
        }
        drawn
    }

    /// A link, which has some features only on its way back.
    fn link(&mut self) -> Part {
        let link = self.part("link", &["capacity", "delay"]);
        if !self.chance.happens(self.share) {
            return link;
        }
        let is_of_side = |slot: &str| !OF_BOTH_WAYS.contains(&slot);
        let back = self.part("link", &[]).0.into_iter().filter(|(slot, _)| is_of_side(slot));
        back.fold(link, |link, (slot, line)| link.with(&format!("reverse {slot}"), format!("reverse.{line}")))
    }

    fn flow(&mut self, number: usize) -> Part {
        self.part("flow", &[]).with("name", format!("name = \"flow{number}\""))
    }

    /// Sometimes a circuit that carries some of the flows.
    fn circuit(&mut self, flows: usize) -> Option<Part> {
        if !self.chance.happens(0.15) {
            return None;
        }
        let carried: Vec<_> =
            (0..flows).filter(|_| self.chance.happens(0.7)).map(|flow| format!("\"flow{flow}\"")).collect();
        let circuit = self.part("circuit", &["scheme"]);
        Some(circuit.with("flows", format!("flows = [{}]", carried.join(", "))))
    }
}

/// One of these, each as likely as the others.
pub fn pick<'a, T>(of: &'a [T], chance: &mut Chance) -> &'a T {
    &of[(chance.u64() % of.len() as u64) as usize]
}

/// The text with one of `a` and `b` for each `<a|b>`, and the name of one of the links for `<link>`.
fn filled(text: &str, links: usize, chance: &mut Chance) -> String {
    let Some((before, rest)) = text.split_once('<') else { return text.to_owned() };
    let (choices, after) = rest.split_once('>').expect("a choice ends");
    let chosen = match choices {
        "link" => format!("link{}", chance.u64() % links as u64),
        _ => (*pick(&choices.split('|').collect::<Vec<_>>(), chance)).to_owned(),
    };
    format!("{before}{chosen}{}", filled(after, links, chance))
}
