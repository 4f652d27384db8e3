//! Every key of the stack, and what it is on Linux.

use super::{CongestionControl, Draft, Form, Route, Settings, SocketOptions};
use airtcp_kernel::rto::{RTO_MAX, RtoRule, Timer};
use airtcp_proto::cc::slow_start::SlowStartKind;
use airtcp_proto::tcp::{Recovery, RtoConfig, TcpConfig, profile};
use airtcp_wire::Bytes;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// How a key is treated.
enum Rule {
    /// Set, whatever its value: the host's own settings do not matter.
    Set(fn(&TcpConfig, &mut Form)),
    /// Another key's rule covers it.
    Elsewhere,
    /// May differ from the kernel in this way, which matters little.
    Small(&'static str),
    /// Must have the kernel's value, for this reason.
    Fixed(&'static str),
    /// A function decides.
    Judge(fn(&TcpConfig, &mut Form, &mut Draft<'_>)),
}

use Rule::{Elsewhere, Fixed, Judge, Set, Small};

/// A rule for every key of [`airtcp_proto::scheme::keys`], by its name there.
const RULES: &[(&str, Rule)] = &[
    ("congestion_control", Judge(congestion_control)),
    ("slow_start", Judge(slow_start)),
    ("byte_counting_limit", Fixed("the kernel counts all bytes that an ACK acknowledges")),
    ("windows", Fixed("the kernel's windows follow its own rules")),
    ("cubic", Fixed("the kernel's CUBIC follows its own rules")),
    ("pacing", Set(|config, form| form.socket.pacing = config.pacing)),
    ("packet_size", Judge(packet_size)),
    ("initial_window", Set(initial_window)),
    ("initial_ssthresh", Fixed("the kernel starts with an unbounded ssthresh")),
    ("loss_window", Fixed("the kernel's is one segment")),
    ("send_buffer", Set(send_buffer)),
    ("receive_window", Set(receive_window)),
    ("receive_buffer", Elsewhere),
    ("window_scaling", Set(|config, form| form.switch("tcp_window_scaling", config.window_scaling))),
    ("timestamps", Set(|config, form| form.switch("tcp_timestamps", config.timestamps))),
    ("sack", Set(|config, form| form.switch("tcp_sack", config.sack))),
    ("dsack", Set(|config, form| form.switch("tcp_dsack", config.dsack))),
    ("ecn", Set(|config, form| form.switch("tcp_ecn", config.ecn))),
    ("ecn_retransmissions", Fixed("the kernel's retransmissions are never ECN-capable")),
    ("eln", Fixed("the kernel has no explicit loss notification")),
    ("nagle", Set(|config, form| form.socket.nodelay = !config.nagle)),
    ("tail_copies", Fixed("the kernel sends a segment again only if it may be lost")),
    ("ack_every", Judge(ack_every)),
    ("delayed_ack", Small("the kernel delays an ACK by 40 to 200 ms, depending on how segments arrive")),
    ("delayed_ack_tick", Fixed("the kernel's delayed ACKs follow no clock tick")),
    ("quick_acks", Small("the kernel acknowledges up to 16 initial segments at once")),
    ("compressed_acks", Set(|config, form| form.sysctl("tcp_comp_sack_nr", config.compressed_acks))),
    ("recovery", Judge(recovery)),
    ("timeout_policy", Fixed("after a timeout the kernel resends all that is outstanding")),
    ("dupack_threshold", Set(dupack_threshold)),
    ("limited_transmit", Fixed("the kernel's limited transmit cannot be turned off")),
    ("prr", Fixed("the kernel always reduces by PRR")),
    ("eifel", Judge(eifel)),
    ("f_rto", Set(|config, form| form.sysctl("tcp_frto", if config.f_rto { 2 } else { 0 }))),
    ("rto.alpha", Fixed("the kernel's gain of SRTT is 1/8")),
    ("rto.beta", Fixed("the kernel's gain of RTTVAR is 1/4")),
    ("rto.factor", Judge(rto)),
    ("rto.initial", Fixed("the kernel's first timeout is 1 s")),
    ("rto.min", Elsewhere),
    ("rto.max", Elsewhere),
    ("rto.granularity", Small("the kernel's timers have a granularity of 1 to 10 ms")),
    ("rto.backoff", Elsewhere),
    ("rto.syn_linear", Judge(syn_linear)),
    ("rto.measure_tick", Fixed("the kernel measures round trips in microseconds")),
    ("rto.expire_tick", Fixed("the kernel's timers follow no clock tick of that kind")),
    ("rto.timing", Fixed("the kernel times every acknowledgment")),
    ("rto.timers", Fixed("the kernel has one retransmission timer per connection")),
    ("rto.arithmetic", Fixed("the kernel keeps SRTT and RTTVAR in microseconds")),
    ("rto.restart_at_fast_retransmit", Fixed("the kernel's timer restarts when data is acknowledged")),
    ("rto.min_on_variance", Elsewhere),
    ("temporal_sharing", Fixed("the kernel's SYN waits for a second whatever it remembers of the peer")),
    ("time_wait", Small("TIME-WAIT lasts 60 s in the kernel")),
    ("max_retries", Set(|config, form| form.sysctl("tcp_retries2", config.max_retries))),
];

/// Keys that concern only a sender, besides those of its timer (`rto.*`): its peer does not have to know of them.
const SENDERS: &[&str] = &[
    "congestion_control",
    "slow_start",
    "byte_counting_limit",
    "windows",
    "cubic",
    "pacing",
    "initial_window",
    "initial_ssthresh",
    "loss_window",
    "ecn_retransmissions",
    "nagle",
    "tail_copies",
    "send_buffer",
    "recovery",
    "timeout_policy",
    "dupack_threshold",
    "limited_transmit",
    "prr",
    "eifel",
    "f_rto",
    "max_retries",
];

/// Fills in the draft's form from `config`, and notes everything that prevents it.
pub(super) fn account(config: &TcpConfig, draft: &mut Draft<'_>) {
    let mut form = draft.form.clone();
    let kernel = leaves(&profile::linux());
    let asked = leaves(config);
    for (key, value) in &asked {
        let differs = kernel.get(key) != Some(value);
        let known = draft.lacks.len();
        match RULES.iter().find(|(name, _)| name == key).map(|(_, rule)| rule) {
            Some(Set(set)) => set(config, &mut form),
            Some(Judge(judge)) => judge(config, &mut form, draft),
            Some(Small(note)) if differs => draft.notes.push(format!("{key} = {}: {note}", plain(value))),
            Some(Fixed(why)) if differs => draft.lacks(format!("{key} = {}: {why}", plain(value))),
            Some(Small(_) | Fixed(_) | Elsewhere) => {}
            None => draft.lacks(format!("{key} has no counterpart in the kernel")),
        }
        let is_senders = SENDERS.contains(&key.as_str()) || key.starts_with("rto.");
        draft.lacks[known..].iter_mut().for_each(|lack| lack.is_senders = is_senders);
    }
    draft.form = form;
}

/// The form before any key. It makes hosts alike, whatever this host's settings are.
pub(super) fn empty() -> Form {
    let mut form = Form {
        congestion_control: CongestionControl {
            name: String::new(),
            loaded: false,
            parameters: BTreeMap::new(),
        },
        settings: Settings { sysctls: BTreeMap::new(), mtu_bytes: 0, route: Route::default() },
        rto: None,
        socket: SocketOptions {
            nodelay: false,
            pacing: false,
            receive_buffer_bytes: 0,
            window_clamp_bytes: None,
        },
        station: None,
    };
    // A connection learns nothing from earlier ones.
    form.sysctl("tcp_no_metrics_save", 1);
    form.sysctl("tcp_slow_start_after_idle", 1);
    form
}

/// A receiver's initial buffer in the kernel.
const SMALLEST_BUFFER: Bytes = Bytes(1 << 17);

impl Form {
    fn sysctl(&mut self, name: &str, value: impl ToString) {
        self.settings.sysctls.insert(format!("net.ipv4.{name}"), value.to_string());
    }

    fn switch(&mut self, name: &str, on: bool) {
        self.sysctl(name, u8::from(on));
    }
}

fn congestion_control(config: &TcpConfig, form: &mut Form, draft: &mut Draft<'_>) {
    match CongestionControl::of(config, draft.host) {
        Ok(found) => form.congestion_control = found,
        Err(lack) => draft.lacks.push(lack),
    }
}

fn slow_start(config: &TcpConfig, _form: &mut Form, draft: &mut Draft<'_>) {
    let is_cubic = config.congestion_control == "cubic";
    let own = if is_cubic { SlowStartKind::Hystart } else { SlowStartKind::Classic };
    let kernel = if draft.host.hystart { own } else { SlowStartKind::Classic };
    // BBR's own start-up takes the place of slow start.
    if config.congestion_control == "bbr" || config.slow_start.unwrap_or(own) == kernel {
        return;
    }
    match config.slow_start {
        Some(SlowStartKind::Classic) => {
            draft.notes.push("the kernel's cubic leaves slow start by HyStart".to_owned())
        }
        None | Some(SlowStartKind::Hystart) if is_cubic => {
            draft.lacks_here(
                "slow_start = hystart: it is turned off in /sys/module/tcp_cubic/parameters/hystart",
            );
        }
        _ => draft.lacks("slow_start: the kernel has HyStart only in cubic, and no HyStart++"),
    }
}

/// What an interface accepts as its MTU, and TCP as a segment (`tcp_min_snd_mss`).
const PACKET_BYTES: RangeInclusive<u32> = 100..=65_535;

fn packet_size(config: &TcpConfig, form: &mut Form, draft: &mut Draft<'_>) {
    form.settings.mtu_bytes = config.packet_size;
    if !PACKET_BYTES.contains(&config.packet_size) {
        draft.lacks(format!("packet_size = {}: the kernel accepts 100 to 65535 bytes", config.packet_size));
    }
}

/// What stands for no limit.
const LARGEST_BUFFER: Bytes = Bytes(64 << 20);

/// The buffer has its largest size from the beginning. By default it grows to two windows, which one hole fills if its
/// retransmission is lost.
///
/// A paced sender uses less of it than one beside an ordinary application: ours keeps little unsent (`TCP_NOTSENT_LOWAT`), and
/// after each write Linux asks it again only when a third of the buffer is free.
fn send_buffer(config: &TcpConfig, form: &mut Form) {
    let most = config.send_buffer.unwrap_or(LARGEST_BUFFER).0.clamp(4096, LARGEST_BUFFER.0);
    form.sysctl("tcp_wmem", format!("4096 {most} {most}"));
}

/// Of the buffer, five eighths are for data, as in the simulator: with 32 MiB, Linux 6.18 was seen to offer 20 MiB to a sender of
/// packets of 1500 bytes. Before Linux 6.6 it is half.
fn receive_window(config: &TcpConfig, form: &mut Form) {
    let window = config.receive_window;
    let most = window.0.saturating_mul(8).div_ceil(5).clamp(SMALLEST_BUFFER.0, 1 << 30);
    let first = config.receive_buffer.unwrap_or(SMALLEST_BUFFER).0.clamp(SMALLEST_BUFFER.0, most);
    form.sysctl("tcp_rmem", format!("4096 {first} {most}"));
    form.socket.receive_buffer_bytes = most;
    form.socket.window_clamp_bytes = (window < profile::linux().receive_window).then_some(window.0);
}

fn initial_window(config: &TcpConfig, form: &mut Form) {
    form.settings.route.initcwnd = (config.initial_window != 10).then_some(config.initial_window);
}

fn ack_every(config: &TcpConfig, form: &mut Form, draft: &mut Draft<'_>) {
    match config.ack_every {
        1 => form.settings.route.quickack = true,
        2 => {}
        other => draft.lacks(format!("ack_every = {other}: the kernel supports 1 and 2")),
    }
}

fn recovery(config: &TcpConfig, form: &mut Form, draft: &mut Draft<'_>) {
    form.sysctl("tcp_recovery", 1);
    form.sysctl("tcp_early_retrans", 3);
    match (config.recovery, config.sack) {
        (Recovery::RackTlp, _) | (Recovery::Newreno, false) => {}
        (Recovery::Sack, true) if !draft.host.is_at_least(6, 17) => {
            form.sysctl("tcp_recovery", 0);
            form.sysctl("tcp_early_retrans", 0);
        }
        (Recovery::Sack, true) => {
            draft.lacks_here("recovery = sack: since Linux 6.17 the kernel has only RACK");
        }
        (Recovery::Sack, false) => {
            draft.notes.push("recovery = sack: without SACK the kernel uses NewReno".to_owned());
        }
        (Recovery::Newreno, true) => {
            draft.lacks("recovery = newreno: the kernel uses it only without SACK");
        }
        (Recovery::Tahoe | Recovery::Reno | Recovery::RenoNs2, _) => {
            draft.lacks("recovery: the kernel has RACK, and NewReno where there is no SACK");
        }
    }
}

fn dupack_threshold(config: &TcpConfig, form: &mut Form) {
    form.sysctl("tcp_reordering", config.dupack_threshold);
}

fn eifel(config: &TcpConfig, _form: &mut Form, draft: &mut Draft<'_>) {
    match (config.eifel, config.timestamps) {
        (false, true) => {
            draft
                .notes
                .push("eifel = false: with timestamps the kernel undoes what they prove spurious".to_owned());
        }
        (true, false) => {
            draft.notes.push("eifel = true: without timestamps the kernel has only DSACK".to_owned())
        }
        _ => {}
    }
}

fn rto(config: &TcpConfig, form: &mut Form, draft: &mut Draft<'_>) {
    let rto = &config.rto;
    if rto.factor == 4.0 && rto.backoff && rto.min_on_variance {
        return kernels_rto(rto, form, draft);
    }
    let (least, most) = (*RTO_MAX.start(), *RTO_MAX.end());
    let timer = match rto.factor == 4.0 && rto.min_on_variance {
        true => Timer::Floor(rto.min),
        false => Timer::Factor { factor: rto.factor, min: rto.min.max(least) },
    };
    let rule = RtoRule { timer, max: rto.max.clamp(least, most), backoff: rto.backoff, mark: None };
    if let Err(problem) = rule.check() {
        return draft.lacks(format!("rto: {problem}"));
    }
    let asked = match rto.min_on_variance {
        true => format!("SRTT + max({}, {}·RTTVAR)", rto.min, rto.factor),
        false => format!("max(SRTT + {}·RTTVAR, {})", rto.factor, rto.min),
    };
    let backoff = if rto.backoff { ", doubled at each expiry" } else { ", never doubled" };
    draft
        .notes
        .push(format!("the timeout is {rule}; the scheme asks for {asked}, at most {}{backoff}", rto.max));
    for (name, value) in rule.sysctls() {
        form.settings.sysctls.insert(name.to_owned(), value);
    }
    form.rto = Some(rule);
}

fn syn_linear(config: &TcpConfig, form: &mut Form, draft: &mut Draft<'_>) {
    match draft.host.is_at_least(6, 5) {
        true => form.sysctl("tcp_syn_linear_timeouts", config.rto.syn_linear),
        false if config.rto.syn_linear == 0 => {}
        false => draft
            .notes
            .push("rto.syn_linear: before Linux 6.5 each timeout of a SYN doubles the next".to_owned()),
    }
}

/// SRTT + max(RTO_MIN, 4·RTTVAR), with bounds that sysctls set.
fn kernels_rto(rto: &RtoConfig, form: &mut Form, draft: &mut Draft<'_>) {
    let kernel = profile::linux().rto;
    if rto.min != kernel.min {
        match draft.host.is_at_least(6, 11) {
            true => form.sysctl("tcp_rto_min_us", rto.min.0 / 1000),
            false => draft.lacks_here("rto.min: net.ipv4.tcp_rto_min_us needs Linux 6.11"),
        }
    }
    if rto.max != kernel.max {
        match (RTO_MAX.contains(&rto.max), draft.host.is_at_least(6, 15)) {
            (true, true) => form.sysctl("tcp_rto_max_ms", rto.max.as_millis()),
            (true, false) => draft.lacks_here("rto.max: net.ipv4.tcp_rto_max_ms needs Linux 6.15"),
            (false, _) => draft.lacks("rto.max: the kernel allows 1 s to 120 s, since Linux 6.15"),
        }
    }
}

/// The stack with the kernel's own sender.
pub(super) fn with_kernels_sender(config: &TcpConfig) -> TcpConfig {
    let kernel = profile::linux();
    let mut tree = serde_json::to_value(config).expect("a configuration is plain data");
    let kernels = serde_json::to_value(&kernel).expect("a configuration is plain data");
    for key in SENDERS.iter().chain(&["rto", "cc"]) {
        tree[key] = kernels[key].clone();
    }
    let config: TcpConfig = serde_json::from_value(tree).expect("keys of another configuration");
    // Every kernel has it.
    TcpConfig { congestion_control: "reno".to_owned(), ..config }
}

/// Keys of a configuration with their values, dotted as in schemes.
fn leaves(config: &TcpConfig) -> BTreeMap<String, Value> {
    let tree = serde_json::to_value(config).expect("a configuration is plain data");
    let mut leaves = BTreeMap::new();
    collect("", &tree, &mut leaves);
    leaves
}

fn collect(prefix: &str, tree: &Value, leaves: &mut BTreeMap<String, Value>) {
    for (name, value) in tree.as_object().into_iter().flatten().filter(|(name, _)| *name != "cc") {
        match value {
            Value::Object(_) => collect(&format!("{prefix}{name}."), value, leaves),
            leaf => drop(leaves.insert(format!("{prefix}{name}"), leaf.clone())),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::forms::{Host, Onward, Proxy, ProxySite, SchemeForm, Station};
    use airtcp_proto::scheme::{self, Scheme};
    use airtcp_wire::Dur;

    fn host(kernel: &str) -> Host {
        Host {
            kernel: kernel.to_owned(),
            congestion_controls: ["reno", "cubic", "bbr"].map(str::to_owned).into(),
            hystart: true,
        }
    }

    fn verdict_on(host: &Host, scheme: &str) -> SchemeForm {
        SchemeForm::on(host, &Scheme::parse(scheme, "linux").unwrap())
    }

    fn verdict(scheme: &str) -> SchemeForm {
        verdict_on(&host("6.18.0"), scheme)
    }

    fn sysctl(scheme: &str, name: &str) -> String {
        verdict(scheme).form.expect(scheme).settings.sysctls[&format!("net.ipv4.{name}")].clone()
    }

    fn reason(scheme: &str) -> String {
        verdict(scheme).reason.expect(scheme)
    }

    /// A new key of the stack needs a rule here.
    #[test]
    fn every_key_has_a_rule_and_every_rule_a_key() {
        let keys: Vec<_> = scheme::keys().into_iter().map(|key| key.name).collect();
        let rules: Vec<_> = RULES.iter().map(|(name, _)| (*name).to_owned()).collect();
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(sorted(keys), sorted(rules));
    }

    /// Every scheme has a form here, or a reason why not.
    #[test]
    fn every_scheme_on_every_profile_has_a_form_or_a_reason() {
        for name in scheme::names() {
            for profile in profile::PROFILES {
                let verdict = verdict(&format!("{name}:profile={}", profile.name));
                assert_ne!(verdict.form.is_some(), verdict.reason.is_some(), "{verdict:?}");
                // Because of its clock for delayed ACKs. For a split connection, the profile is the proxy's.
                let is_no_kernels = profile.name == "bsd-1998" && name != "split";
                assert!(!is_no_kernels || verdict.reason.is_some(), "{verdict:?}");
            }
        }
    }

    #[test]
    fn the_kernels_own_are_themselves() {
        for name in ["reno", "cubic", "bbr"] {
            assert_eq!(verdict(name).form.unwrap().congestion_control.name, name);
        }
        assert!(own("cubic:beta=0.5").contains("no parameter `beta`"));
        assert!(reason("westwood-plus").contains("modprobe tcp_westwood"));
        assert!(own("bbr3").contains("the kernel has no `bbr3`"));
        assert!(verdict("cubic:slow_start=hystart").notes.is_empty());
        assert!(verdict("cubic").notes.is_empty());
        assert!(verdict("cubic:slow_start=classic").notes[0].contains("HyStart"));
        assert!(own("reno:slow_start=hystart").contains("HyStart only in cubic"));
    }

    /// Controllers that can be loaded have the names and parameters under which they are loaded.
    #[test]
    fn the_papers_and_our_own_are_loaded() {
        let papers =
            ["westwood-vt", "westwood-nr", "new-jersey", "jersey", "spectcp", "veno", "vegas", "hybla"];
        for name in papers.into_iter().chain(["concord"]) {
            let control = verdict(name).form.expect(name).congestion_control;
            assert!(control.loaded && control.name == name.replace('-', "_"), "{control:?}");
        }
        let control = verdict("veno:beta=4").form.unwrap().congestion_control;
        assert_eq!(control.parameters["beta"], 4.0);
        assert_eq!(sysctl("spectcp", "tcp_ecn"), "1");
    }

    #[test]
    fn sysctls_that_a_kernel_lacks_are_not_set() {
        const NAME: &str = "net.ipv4.tcp_syn_linear_timeouts";
        let on = |kernel: &str, scheme: &str| {
            SchemeForm::on(&host(kernel), &Scheme::parse(scheme, "linux").unwrap())
        };
        let old = on("6.1.0-50-amd64", "reno");
        assert!(!old.form.unwrap().settings.sysctls.contains_key(NAME));
        assert!(old.notes.iter().any(|note| note.contains("before Linux 6.5")), "{:?}", old.notes);
        assert!(on("6.5.0", "reno").form.unwrap().settings.sysctls.contains_key(NAME));
    }

    #[test]
    fn keys_become_sysctls_options_and_routes() {
        assert_eq!(sysctl("reno:ecn=true", "tcp_ecn"), "1");
        assert_eq!(sysctl("reno", "tcp_ecn"), "0");
        assert_eq!(sysctl("newreno", "tcp_sack"), "0");
        assert_eq!(sysctl("reno:f_rto=false", "tcp_frto"), "0");
        assert_eq!(sysctl("reno:rto.min=50ms", "tcp_rto_min_us"), "50000");
        assert_eq!(sysctl("reno:rto.max=3s", "tcp_rto_max_ms"), "3000");
        assert_eq!(sysctl("reno", "tcp_rmem"), "4096 131072 26843546");
        assert_eq!(sysctl("reno:receive_window=2MB", "tcp_rmem"), "4096 131072 3200000");
        assert_eq!(sysctl("reno", "tcp_wmem"), "4096 4194304 4194304");
        assert_eq!(sysctl("reno:send_buffer=1MB", "tcp_wmem"), "4096 1000000 1000000");
        assert_eq!(sysctl("reno:send_buffer=1GB", "tcp_wmem"), "4096 67108864 67108864");
        let form = verdict("reno:packet_size=1000:ack_every=1:initial_window=3:nagle=false").form.unwrap();
        assert_eq!(form.settings.mtu_bytes, 1000);
        assert_eq!(form.settings.route, Route { initcwnd: Some(3), quickack: true });
        assert!(form.socket.nodelay && !form.socket.pacing);
        assert!(verdict("reno:pacing=true").form.unwrap().socket.pacing);
    }

    /// Checks that our own machine sends at the senders' node, and returns why.
    fn own(scheme: &str) -> String {
        let verdict = verdict(scheme);
        match verdict.form.expect(scheme).station {
            Some(Station::Proxy(Proxy { place: ProxySite::Sender, onward: Onward::Own(config), .. })) => {
                assert_eq!(*config, Scheme::parse(scheme, "linux").unwrap().config);
            }
            other => panic!("{other:?}"),
        }
        verdict.notes.join("; ")
    }

    #[test]
    fn our_own_machine_sends_what_no_kernel_can() {
        assert!(own("tahoe").contains("the kernel has RACK"));
        assert!(own("sr").contains("timeout_policy = selective-repeat"));
        assert!(own("reno:rto.max=500ms").contains("1 s to 120 s"));
        let form = verdict("rto-m:m=10+sr").form.unwrap();
        assert!(form.rto.is_none() && form.settings == verdict("reno").form.unwrap().settings);
        assert!(reason("sr:delayed_ack_tick=200ms").contains("delayed_ack_tick"));
    }

    #[test]
    fn a_decoupled_connection_has_our_own_data_tcp() {
        assert!(verdict("cubic+decoupling:error_control=paper").form.is_some(), "with F2, too");
        assert!(verdict("cubic+decoupling:fec=auto").form.is_some(), "with repairs, too");
        match verdict("bbr+decoupling:controls=2").form.unwrap().station {
            Some(Station::Proxy(Proxy {
                place: ProxySite::Sender,
                onward: Onward::Own(data),
                circuit,
                ..
            })) => {
                let circuit = circuit.unwrap();
                assert_eq!((data.congestion_control.as_str(), circuit.config.controls), ("unlimited", 2));
                assert_eq!(circuit.tcp.congestion_control, "bbr");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_split_connection_is_the_kernels_if_it_can_be() {
        let onward = |scheme: &str| match verdict(scheme).form.expect(scheme).station {
            Some(Station::Proxy(Proxy { place: ProxySite::BaseStation, onward, .. })) => onward,
            other => panic!("{other:?}"),
        };
        let kernels = |name: &str| match onward(name) {
            Onward::Kernel(control) => control.name,
            Onward::Own(config) => panic!("{config:?}"),
        };
        assert_eq!(kernels("cubic+split"), "cubic");
        assert_eq!(kernels("cubic+split:congestion_control=westwood-vt"), "westwood_vt");
        for scheme in ["rto-m:m=10+gbn+split", "cubic+split:timeout_policy=selective-repeat", "tahoe+split"] {
            assert!(matches!(onward(scheme), Onward::Own(_)), "{scheme}");
        }
        assert!(
            verdict("tahoe+split").notes[0].starts_with("the fixed hosts' TCP is the kernel's: recovery")
        );
        assert!(reason("cubic:delayed_ack_tick=200ms+split").contains("delayed_ack_tick"));
    }

    #[test]
    fn what_the_kernel_cannot_do_is_said() {
        assert!(reason("sack").contains("since Linux 6.17 the kernel has only RACK"));
        assert!(reason("reno+delay-jitter").contains("`airtcpd link --base-station`"));
        assert!(reason("reno+snoop").contains("`snoop` runs only in the simulator"));
        assert!(reason("reno:profile=bsd-1998").contains("delayed_ack_tick = 200ms"));
        assert!(verdict("f-rto").notes[0].contains("eifel = false"));
    }

    #[test]
    fn what_another_kernel_could_do_is_not_on_this_one() {
        let old = host("6.8.0");
        for scheme in ["westwood-plus", "reno:rto.min=50ms", "reno:rto.max=3s"] {
            let reason = verdict_on(&old, scheme).reason.expect(scheme);
            assert!(reason.starts_with("not on this kernel: "), "{reason}");
        }
        assert!(verdict_on(&old, "sack").form.is_some());
        assert!(reason("sack").starts_with("not on this kernel: recovery = sack"));
        let without = Host { hystart: false, ..host("6.18.0") };
        for scheme in ["cubic", "cubic:slow_start=hystart"] {
            let hystart = verdict_on(&without, scheme).reason.unwrap();
            assert!(hystart.starts_with("not on this kernel: slow_start = hystart"), "{hystart}");
        }
        assert!(verdict_on(&without, "cubic:slow_start=classic").notes.is_empty());
        // A lack of every kernel outweighs one of this kernel.
        for scheme in ["reno:rto.min=50ms+snoop", "reno:delayed_ack_tick=200ms"] {
            let reason = verdict_on(&old, scheme).reason.expect(scheme);
            assert!(reason.starts_with("no Linux form yet: "), "{reason}");
        }
    }

    #[test]
    fn a_timeout_of_another_form_is_a_rule_of_its_own() {
        assert_eq!(verdict("rto-m:m=10").form.unwrap().rto, Some(RtoRule::factor(10.0)));
        assert!(verdict("rto-m:m=10").notes[0].contains("the scheme asks for SRTT + max(200ms, 10·RTTVAR)"));
        assert_eq!(sysctl("rto-m", "tcp_rto_min_us"), "120000000");
        let linear = verdict("reno:rto.backoff=false:rto.min=50ms").form.unwrap().rto.unwrap();
        assert_eq!((linear.timer, linear.backoff), (Timer::Floor(Dur::from_millis(50)), false));
        assert!(verdict("reno:rto.min=1s").form.unwrap().rto.is_none());
        assert!(own("rto-m:m=2000").contains("from 0.1 to 1000"));
    }
}
