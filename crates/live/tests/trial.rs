//! Short runs of scenarios on this host's kernel. They need root: elsewhere they say that they are skipped, and pass.

#[path = "emulator/attempts.rs"]
mod attempts;

use airtcp_live::namespace::Namespace;
use airtcp_live::namespace::leftovers;
use airtcp_live::trial::{Run, run};
use airtcp_proto::scheme::Scheme;
use airtcp_sim::RunOptions;
use airtcp_sim::scenario::{Recipe, Scenario};
use airtcp_wire::Dur;
use attempts::one_of_a_few;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Mutex;

/// One emulator at a time keeps time better than two.
static ALONE: Mutex<()> = Mutex::new(());

fn may_run() -> bool {
    match Namespace::new() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            eprintln!("skipped: {error}");
            false
        }
        made => made.map(|_| true).unwrap(),
    }
}

const LINK: &str = r#"
    [[link]]
    name = "l"
    rate = "10Mbit/s"
    delay = "5ms"
    queue = { packets = 50 }
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::load(text, "test.toml", Path::new(""), &[]).unwrap()
}

/// What it says, as JSON; `None` where it cannot be run.
fn outcome(scenario: &Scenario, scheme: &str) -> Option<Value> {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !may_run() {
        return None;
    }
    let request = Run { scenario, scheme, seed: 1, series: Some(Dur::from_millis(40)) };
    let found = run(&request, |_| ControlFlow::Continue(())).unwrap();
    Some(serde_json::to_value(&found).unwrap())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Says so if it is not.
fn within(value: &Value, range: std::ops::RangeInclusive<f64>) -> bool {
    let is_within = range.contains(&number(value));
    if !is_within {
        eprintln!("{value} is not in {range:?}");
    }
    is_within
}

/// The names of all fields, with where they stand.
fn fields(prefix: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            found.insert(format!("{prefix}.{name}"));
            fields(&format!("{prefix}.{name}"), value, found);
        }),
        Value::Array(values) => values.iter().for_each(|value| fields(prefix, value, found)),
        _ => {}
    }
}

#[test]
fn without_loss_the_link_is_full_and_the_record_is_the_simulators() {
    let scenario = scenario(&format!("duration = \"3s\"\nwarmup = \"1s\"\n{LINK}"));
    one_of_a_few(|| {
        let found = outcome(&scenario, "reno")?;
        let record = &found["record"];
        let flow = &record["flows"][0];
        assert!(number(&record["goodput_bps"]) <= 1.02 * number(&record["bound_bps"]));
        assert!(number(&flow["throughput_bps"]) <= 10.01e6, "{flow}");
        assert_eq!(found["host"]["lost_by_machine"], 0);
        assert_eq!((&flow["losses_corruption"], &flow["losses_outage"]), (&0.into(), &0.into()));
        assert_eq!(flow["losses_congestion"], record["links"][0]["drops_overflow"]);
        is_as_simulated(&scenario, &found);
        let kept = [
            within(&record["goodput_bps"], 8.5e6..=9.75e6),
            // Once Reno has found the queue's end, halving does not empty it any more.
            within(&flow["rtt_min_ms"], 10.0..=50.0),
            within(&flow["rtt_p95_ms"], 40.0..=80.0),
            within(&record["links"][0]["utilisation"], 0.9..=1.01),
        ];
        Some(kept == [true; 4])
    });
}

/// Its record has the simulator's fields, and its series have rows.
fn is_as_simulated(scenario: &Scenario, found: &Value) {
    let scheme = Scheme::parse("reno", "linux").unwrap();
    let simulated = airtcp_sim::run(scenario, &scheme, 1, RunOptions::default()).unwrap();
    let names = |record: &Value| {
        let mut found = BTreeSet::new();
        fields("", record, &mut found);
        found
    };
    assert_eq!(names(&found["record"]), names(&serde_json::to_value(&simulated.record).unwrap()));
    for (table, rows) in [("flows", 60), ("queues", 120), ("deliveries", 60), ("rtts", 10)] {
        let columns = found["series"][table].as_object().unwrap();
        let lengths: BTreeSet<_> = columns.values().map(|column| column.as_array().unwrap().len()).collect();
        assert!(lengths.len() == 1 && *lengths.first().unwrap() >= rows, "{table}: {lengths:?}");
    }
}

#[test]
fn every_loss_is_found_and_repaired() {
    let scenario = scenario(&format!("duration = \"3s\"\n{LINK}loss = {{ ber = 2e-6 }}\n"));
    let Some(found) = outcome(&scenario, "cubic") else { return };
    let (record, flow) = (&found["record"], &found["record"]["flows"][0]);
    let of = |name: &str| flow[name].as_u64().unwrap();
    let dropped = |link: usize| record["links"][link]["drops_corruption"].as_u64().unwrap();
    assert!(of("losses_corruption") > 5);
    // A SYN or its answer may be among them.
    assert!((of("losses_corruption") + of("acks_lost")).abs_diff(dropped(0) + dropped(1)) <= 1);
    let lost = of("losses_corruption") + of("losses_congestion");
    assert_eq!(of("data_packets_sent"), of("data_packets_delivered") + lost + of("data_packets_under_way"));
    assert!(of("retransmissions") - of("retransmissions_spurious") <= lost);
    assert!(of("fast_retransmits") > 0 && of("cwnd_reductions") >= of("fast_retransmits") / 2);
    let kinds: BTreeSet<_> =
        found["series"]["events"]["kind"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert!(
        kinds.contains("\"loss\"")
            && kinds.contains("\"fast-retransmit\"")
            && kinds.contains("\"duplicate-ack\""),
        "{kinds:?}"
    );
}

/// 400 kB, of which four fifths are data, carry 25.6 Mbit/s over a round trip of 100 ms. A full socket is writable again
/// when it is down to two thirds (`sk_stream_min_wspace`), so the buffer holds at least that: 17.1 Mbit/s. Without a limit
/// it would be more than 50 Mbit/s.
#[test]
fn a_send_buffer_bounds_a_sender_that_is_not_paced() {
    let link = r#"
        duration = "3s"
        warmup = "1s"
        [[link]]
        name = "l"
        rate = "200Mbit/s"
        delay = "50ms"
        queue = { packets = 5000 }
    "#;
    let scenario = scenario(link);
    one_of_a_few(|| {
        let found = outcome(&scenario, "cubic:send_buffer=400kB")?;
        Some(within(&found["record"]["goodput_bps"], 17e6..=31e6))
    });
}

#[test]
fn all_kinds_of_traffic_cross_at_once() {
    let scenario = scenario(&format!(
        r#"duration = "4s"
        {LINK}
        [[link]]
        name = "m"
        rate = "20Mbit/s"
        delay = "2ms"
        [[flow]]
        name = "short"
        traffic = {{ kind = "poisson", interval = "50ms", size = "20kB" }}
        [[flow]]
        name = "bulk"
        traffic = {{ kind = "bytes", size = "300kB" }}
        count = 2
        stagger = "1s"
        [[flow]]
        name = "back"
        direction = "reverse"
        scheme = "cubic"
        enter = "m"
        start = "500ms"
        stop = "2s"
        [[flow]]
        name = "bursts"
        traffic = {{ kind = "on-off", on = "200ms", off = "200ms", rate = "1Mbit/s" }}
        leave = "l"
        [[flow]]
        name = "datagrams"
        traffic = {{ kind = "udp", rate = "800kbit/s", packet = "1000B" }}
        measure = false
        "#
    ));
    one_of_a_few(|| {
        let found = outcome(&scenario, "reno")?;
        let flows = found["record"]["flows"].as_array().unwrap();
        let flow = |name: &str| flows.iter().find(|flow| flow["name"] == name).unwrap();
        let completions = |name: &str| flow(name)["completion_times_s"].as_array().unwrap().len() as f64;
        for bulk in flows.iter().filter(|flow| flow["name"] == "bulk") {
            assert_eq!(
                (&bulk["bytes_received"], bulk["completion_times_s"].as_array().unwrap().len()),
                (&300_000.into(), 1)
            );
        }
        assert_eq!(flow("back")["scheme"], "cubic");
        assert_eq!(completions("back"), 1.0);
        assert!(flows.iter().all(|flow| flow["resets"] == 0), "{flows:?}");
        let kept = [
            within(&flow("short")["transfers_started"], 40.0..=130.0),
            completions("short") >= 0.8 * number(&flow("short")["transfers_started"]),
            within(&flow("back")["goodput_bps"], 1e6..=20e6),
            within(&flow("bursts")["bytes_received"], 20e3..=1e6),
            within(&flow("datagrams")["data_packets_delivered"], 300.0..=401.0),
        ];
        Some(kept == [true; 5])
    });
}

/// A router stands between the two links, or behind the sender, and does what the simulator's machines do.
#[test]
fn what_stands_on_a_router_does_as_in_the_simulator() {
    let path = r#"
        duration = "4s"
        [[link]]
        name = "wired"
        rate = "10Mbit/s"
        delay = "5ms"
        [[link]]
        name = "air"
        rate = "2Mbit/s"
        delay = "20ms"
        loss = { packet = 0.01 }
    "#;
    let schemes = [
        "reno+packet-control:threshold=9",
        "cubic+split",
        "rto-m:m=10+gbn+split",
        "sr:rto.min=50ms",
        "cubic+decoupling",
        "cubic+decoupling:fec=1",
        "reno+decoupling:error_control=paper",
    ];
    stands_as_in_the_simulator(&scenario(path), &schemes);
}

/// Two senders at nodes of their own, each with its own machine beside it where a scheme has one there, and a base station for both.
#[test]
fn in_a_network() {
    let dumbbell = r#"
        duration = "4s"
        base_station = "air"
        [[link]]
        name = "air"
        from = "left"
        to = "right"
        rate = "4Mbit/s"
        delay = "20ms"
        loss = { packet = 0.01 }
        [[link]]
        name = "last"
        from = "right"
        to = "far"
        rate = "100Mbit/s"
        delay = "1ms"
        [[flow]]
        name = "sender"
        from = "left"
        to = "far"
        count = 2
        access = [{ delay = "2ms", rate = "10Mbit/s" }, { delay = "6ms", rate = "10Mbit/s" }]
    "#;
    let schemes = ["reno+packet-control:threshold=9", "cubic+split", "sr:rto.min=50ms", "cubic+decoupling"];
    stands_as_in_the_simulator(&scenario(dumbbell), &schemes);
    let trunk = r#"
        [[circuit]]
        name = "trunk"
        scheme = "reno+decoupling:controls=2"
        flows = ["sender"]
        from = "left"
        to = "right"
    "#;
    stands_as_in_the_simulator(&scenario(&format!("{dumbbell}{trunk}")), &["reno"]);
}

/// Each scheme's flows have together what they have in a simulation, within a quarter.
fn stands_as_in_the_simulator(scenario: &Scenario, schemes: &[&str]) {
    for name in schemes {
        one_of_a_few(|| {
            let found = outcome(scenario, name)?;
            let scheme = Scheme::parse(name, "linux").unwrap();
            let simulated = airtcp_sim::run(scenario, &scheme, 1, RunOptions::default()).unwrap().record;
            let simulated = serde_json::to_value(&simulated).unwrap();
            let sum = |record: &Value, key: &str| {
                record["flows"].as_array().unwrap().iter().map(|flow| number(&flow[key])).sum::<f64>()
            };
            let flows = simulated["flows"].as_array().unwrap().len() as f64;
            let near = |key: &str, slack: f64| {
                let (found, expected) = (sum(&found["record"], key), sum(&simulated, key));
                eprintln!("{key}: {found} {expected}");
                within(&found.into(), 0.75 * expected - flows * slack..=1.25 * expected + flows * slack)
            };
            // In the simulator a data packet that finds the tunnel queue full is lost; here it waits.
            let waits = name.contains("decoupling");
            let kept = [
                near("goodput_bps", 0.0),
                near("data_packets_delivered", 0.0),
                near("losses_corruption", 2.0),
                waits || near("retransmissions", 8.0),
                near("rtt_p50_ms", 10.0),
                near("timeouts", 1.0),
            ];
            eprintln!("{name}: {kept:?}");
            Some(kept == [true; 6])
        });
    }
}

/// Two gateways in the middle of the path carry connections and datagrams, and leave a third alone.
#[test]
fn a_trunk_does_as_in_the_simulator() {
    let scenario = scenario(
        r#"
        duration = "6s"
        warmup = "2s"
        [[link]]
        name = "access"
        rate = "100Mbit/s"
        delay = "2ms"
        [[link]]
        name = "backbone"
        rate = "10Mbit/s"
        delay = "10ms"
        queue = { packets = 60 }
        [[link]]
        name = "edge"
        rate = "100Mbit/s"
        delay = "2ms"
        [[flow]]
        name = "user"
        count = 3
        [[flow]]
        name = "stream"
        traffic = { kind = "udp", rate = "1Mbit/s", packet = "500B" }
        measure = true
        [[flow]]
        name = "other"
        enter = "backbone"
        leave = "backbone"
        measure = true
        [[circuit]]
        name = "trunk"
        scheme = "reno+decoupling:controls=2:gmb=2Mbit/s:compression=twice"
        flows = ["user", "stream"]
        enter = "backbone"
        leave = "backbone"
        "#,
    );
    let scheme = Scheme::parse("reno", "linux").unwrap();
    let simulated = airtcp_sim::run(&scenario, &scheme, 1, RunOptions::default()).unwrap().record;
    let simulated = serde_json::to_value(&simulated).unwrap();
    one_of_a_few(|| {
        let found = outcome(&scenario, "reno")?;
        let (record, expected) = (&found["record"], &simulated);
        let near = |place: &str, slack: f64| {
            let expected = number(expected.pointer(place).unwrap());
            eprintln!("{place}: {} {expected}", record.pointer(place).unwrap());
            within(record.pointer(place).unwrap(), (1.0 - slack) * expected..=(1.0 + slack) * expected)
        };
        assert_eq!(record["circuits"][0]["name"], "trunk");
        let circuit = &record["circuits"][0];
        assert!(number(&circuit["forwarded_bytes"]) > 1500.0 * number(&circuit["header_packets_sent"]));
        let kept = [
            near("/goodput_bps", 0.25),
            near("/flows/3/goodput_bps", 0.25),
            near("/flows/4/goodput_bps", 0.5),
            near("/circuits/0/forwarded_bytes", 0.25),
            near("/circuits/0/header_packets_sent", 0.3),
            near("/circuits/0/control_acks_sent", 0.3),
            near("/circuits/0/control_window_mean_packets", 0.5),
        ];
        Some(kept == [true; 7])
    });
}

#[test]
fn what_is_sent_late_makes_nothing_late_that_comes_after_it() {
    let datagrams = "traffic = { kind = \"udp\", rate = \"8Mbit/s\", packet = \"500B\" }";
    let scenario = scenario(&format!(
        "duration = \"2s\"\n{LINK}\n[[flow]]\nname = \"steady\"\nstart = \"0s\"\nmeasure = true\n{datagrams}\n"
    ));
    one_of_a_few(|| {
        let found = outcome(&scenario, "reno")?;
        Some(within(&found["record"]["flows"][0]["data_packets_sent"], 3990.0..=4001.0))
    });
}

#[test]
fn a_papers_sender_is_loaded_for_the_run_alone() {
    let scenario = scenario(&format!("duration = \"2s\"\n{LINK}"));
    one_of_a_few(|| {
        let found = outcome(&scenario, "westwood-vt:beta=18:initial_window=4")?;
        assert_eq!(found["host"]["congestion_control"], "westwood_vt");
        assert!(found["host"]["controller"]["sockets_opened"].as_u64().unwrap() > 0);
        let left = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        assert!(!left.contains(&format!("air{}_", std::process::id())), "{left}");
        Some(within(&found["record"]["goodput_bps"], 7e6..=9.75e6))
    });
}

/// A recipe file and where the record is to go.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, scenario: &str) -> Files {
        let folder = std::env::temp_dir().join(format!("airtcp-trial-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let recipe = Recipe::new(scenario, "test.toml", Path::new(""), &[]);
        fs::write(folder.join("recipe.json"), serde_json::to_vec(&recipe).unwrap()).unwrap();
        Files(folder)
    }

    fn out(&self) -> PathBuf {
        self.0.join("record.json")
    }

    fn start(&self, scheme: &str) -> Child {
        self.start_after(":", scheme)
    }

    /// After this line of a shell.
    fn start_after(&self, line: &str, scheme: &str) -> Child {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{line}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_airtcpd")])
            .args(["run", "--seed", "1", "--scheme", scheme, "--progress", "--recipe"])
            .arg(self.0.join("recipe.json"));
        command.arg("--out").arg(self.out()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// Waits for its first line, which says how far it is; the answer has the rest.
fn under_way(child: &mut Child) -> BufReader<ChildStderr> {
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains(r#""of_s": 60.0"#), "{line}");
    stderr
}

fn cgroup(pid: u32) -> PathBuf {
    airtcp_kernel::cgroup::mount().unwrap().join(format!("airtcp-run-{pid}"))
}

#[test]
fn an_interrupted_run_leaves_no_record_and_a_killed_one_nothing_after_the_next() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !may_run() {
        return;
    }
    if airtcp_kernel::cgroup::mount().is_none() {
        return eprintln!("skipped: no cgroup2 is mounted");
    }
    let files = Files::new("killed", &format!("duration = \"60s\"\n{LINK}"));
    let mut killed = files.start("rto-m:m=10+gbn+split");
    under_way(&mut killed);
    assert!(cgroup(killed.id()).exists());
    signal(&killed, Signal::SIGKILL);
    killed.wait().unwrap();

    let mut interrupted = files.start("rto-m");
    let mut stderr = under_way(&mut interrupted);
    assert!(!cgroup(killed.id()).exists(), "what the killed one left");
    let of_the_dead = format!("{}-", killed.id());
    let records = fs::read_dir(leftovers::FOLDER).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<_> = records.filter(|name| name.to_string_lossy().starts_with(&of_the_dead)).collect();
    assert!(left.is_empty(), "{left:?}");
    signal(&interrupted, Signal::SIGINT);
    let pid = interrupted.id();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let status = interrupted.wait().unwrap();
    assert!(!status.success() && said.contains("airtcpd: interrupted"), "{said}");
    assert!(!files.out().exists() && !cgroup(pid).exists());
}

#[test]
fn as_many_files_are_opened_as_may_be() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !may_run() {
        return;
    }
    let files =
        Files::new("many", &format!("duration = \"300ms\"\n{LINK}\n[[flow]]\nname = \"f\"\ncount = 40\n"));
    let ended = |limit: &str| files.start_after(limit, "reno").wait_with_output().unwrap();
    let said = String::from_utf8(ended("ulimit -n 150").stderr).unwrap();
    assert!(said.contains("40 flows need 184 open files") && said.contains("ulimit -Hn"), "{said}");
    assert!(!files.out().exists());
    assert!(ended("ulimit -Sn 64").status.success() && files.out().exists());
}

#[test]
fn what_has_no_form_is_refused_with_its_reason() {
    let files = Files::new("refused", LINK);
    let ended = files.start("cubic+snoop").wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(
        !ended.status.success() && said.contains("no Linux form yet: the base-station machine `snoop`"),
        "{said}"
    );
    assert!(!files.out().exists());
}
