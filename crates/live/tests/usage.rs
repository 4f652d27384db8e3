//! What `airtcpd` says to those who use it wrongly, or ask how to. Needs no root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn airtcpd(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_airtcpd")).args(line.split_whitespace()).output().unwrap()
}

/// As clap has it for options that it does not know.
#[test]
fn a_mistake_ends_with_status_2() {
    for (line, expected) in [
        ("cc load venno", "did you mean `veno`?"),
        ("cc load veno veno", "veno is named twice"),
        ("cc load veno:beta=-1", "out of range: 0 to 1000"),
        ("cc load westwood-vt:alpha=20", "alpha = 20 exceeds beta = 16"),
        ("cc load veno --as ../veno", "1 to 15 letters"),
        ("cc load veno hybla --default", "for one controller"),
        ("cc list venno", "did you mean `veno`?"),
        ("cc set veno beta=1 beta=2", "beta is given twice"),
        ("rto --factor 10 --min 500ms --cgroup /", "min 500ms: "),
        ("rto --factor 10 --cgroup /nowhere", "no cgroup /nowhere"),
        ("rto --factor 10", "--cgroup <PATH>"),
        ("filter attach no-such-interface", "no interface `no-such-interface`"),
        ("filter attach lo --ack-threshold 5", "must be 3, 6, 9 or 12"),
        ("filter set lo", "--ack-threshold"),
        ("filter detach", "--all"),
        ("rto --factor 10 --cgroup / --mark 0", "a number above 0"),
        ("rto --cgroup /", "--factor <M>|--floor <FLOOR>"),
        ("link --between a b --base-station delay-jitter:delay=1", "no unit"),
        (
            "link --between a b --base-station delay-jitter:delai=1s",
            "did you mean `delay`?); allowed: delay, overtaking, probability",
        ),
        ("link --between a b --base-station delay-jitter:probability=2", "must be 0 to 1"),
        (
            "link --between a b --base-station delay-jitter:rto.min=1s",
            "unknown key `rto.min`; allowed: delay, overtaking, probability",
        ),
        ("link --between a b --base-station reno", "name one base-station machine"),
        ("link --between a b --base-station reno+delay-jitter", "name one base-station machine"),
        ("link --between a b --base-station delay-jitter@red", "name one base-station machine"),
        ("link --between a b --base-station packet-control", "`airtcpd filter attach` runs it"),
        ("link --between a b --base-station split", "`airtcpd proxy run` runs it"),
        ("link --between a b --base-station snoop", "resends data by itself"),
        ("link --between a b --base-station eln", "changes packets"),
        ("link --shell --base-station delay-jitter", "cannot be used with"),
        ("proxy run", "--wireless <IFACE>|--listen <ADDRESS>"),
        ("proxy run --listen 127.0.0.1:1", "--to <ADDRESS>"),
        ("proxy run --wireless wl0;drop", "an interface name has"),
        ("proxy run --wireless wl0 --metrics 0.0.0.0:9464", "from other hosts"),
        ("proxy run --wireless wl0 --wireless-stack own --wireless-cc bbr", "use --wireless-scheme"),
        ("proxy run --wireless wl0 --wireless-scheme cubik", "cubic"),
        ("proxy run --wireless wl0 --wireless-scheme cubic+split", "only sender terms"),
        ("proxy run --wireless wl0 --wireless-scheme cubic@fq-codel", "`tc qdisc` sets it"),
        ("proxy run --wireless wl0 --wireless-scheme gbn", "add --wireless-stack own"),
        (
            "proxy run --wireless wl0 --wireless-scheme gbn:timeout_policy=go-back-n-at-once",
            "RFC 5681 §3.1 allows one segment after a timeout; use the term `gbn`",
        ),
        ("proxy run --wireless wl0 --wireless-scheme reno:loss_window=2", "leave it at 1"),
        ("proxy run --wireless wl0 --memory 10kB", "at least 1MB"),
        ("circuit send --prefix 10.2.0.0/24 --key-file k", "--to <ADDRESS>"),
        (
            "circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.1/24",
            "has bits set beyond the prefix length",
        ),
        ("circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.0/24 --vmss 10B", "64 to 65000 bytes"),
        ("circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.0/24 --controls 33", "32 at most"),
        ("decouple --to 192.0.2.2 --key-file k --fec many", "from 0 to 3"),
        ("circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.0/24 --control cubik", "cubic"),
        (
            "circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.0/24 --control reno+split",
            "only sender terms",
        ),
        (
            "decouple --to 192.0.2.2 --key-file k --control sr:timeout_policy=go-back-n-at-once",
            "the term `gbn`",
        ),
        ("circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.0/24 --gmb 2", "no unit"),
        ("circuit send --to 192.0.2.2:1 --key-file k --prefix 10.2.0.0/24 --mark 64", "1 to 63, or none"),
        ("circuit receive --listen 0.0.0.0:4007 --key-file /nowhere/k", "/nowhere/k: No such file"),
        ("circuit receive --listen 0.0.0.0:4007 --key-file /etc/passwd", "chmod 600 /etc/passwd"),
        ("circuit key /etc/passwd", "File exists"),
        ("decouple --key-file k", "--to <PREFIX>"),
        ("decouple --to 192.0.2.2", "--key-file <FILE>"),
        ("decouple --to 192.0.2.0/24 --key-file k", "--receiver is missing"),
        ("decouple --key-file k -- true", "--receiver is missing"),
        ("decouple --to 192.0.2.2 --key-file k --vmss 10B", "64 to 65000 bytes"),
        ("header-first eth1", "--max-headers <COUNT>"),
        ("header-first eth1 --max-headers 0", "write 1 to 4096"),
        ("header-first eth1 --max-headers 40 --mark none", "only by a mark"),
        ("decouple --to 192.0.2.2 --key-file /nowhere/k", "/nowhere/k: No such file"),
    ] {
        let output = airtcpd(line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn who_asks_for_nothing_is_shown_examples() {
    for line in ["cc", "filter", "rto", "proxy", "circuit", "decouple", "header-first"] {
        let output = airtcpd(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("Examples:\n  airtcpd "), "{line}");
    }
}

/// What stands below "Commands:" in the help.
fn commands_of(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help")
}

#[test]
fn every_command_has_examples() {
    let mut lines = vec![String::new()];
    let mut seen = 0;
    while let Some(line) = lines.pop() {
        let help = String::from_utf8(airtcpd(&format!("{line} --help")).stdout).unwrap();
        let of_it = commands_of(&help).map(|name| format!("{line} {name}")).collect::<Vec<_>>();
        let begun = [format!("Examples:\n  airtcpd{line}"), format!("Examples:\n  sudo airtcpd{line}")];
        assert!(line.is_empty() || begun.iter().any(|begin| help.contains(begin)), "{help}");
        lines.extend(of_it);
        seen += 1;
    }
    assert!(seen > 25, "{seen} commands");
}

/// The README and the pages of the guide.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).unwrap().map(|file| file.unwrap().path());
    [root.join("README.md"), root.join("packaging/README.md")].into_iter().chain(guide).collect()
}

/// The words after `airtcpd`, in an indented line or in backticks, up to one that stands for something else.
fn shown(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = lines.map(|line| line.trim_start().trim_start_matches("$ "));
    let commands =
        lines.chain(text.split('`').skip(1).step_by(2)).map(|line| line.trim_start_matches("sudo "));
    let stands_for_another =
        |word: &str| word == "--" || word.starts_with(['|', '>', '&', '#', '\'', '"', '\\', '…', '$', '[']);
    commands
        .filter_map(|command| command.strip_prefix("airtcpd "))
        .map(|command| command.split_whitespace().take_while(|word| !stands_for_another(word)).collect())
        .collect()
}

/// With `--help` at its end a line does nothing, and is read all the same.
#[test]
fn what_the_guide_shows_exists() {
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for words in shown(&text) {
            let line = format!("{} --help", words.join(" "));
            let output = airtcpd(&line);
            let told = String::from_utf8_lossy(&output.stderr);
            let stands_open = told.contains("a value is required") || told.contains("`NAME`");
            assert!(output.status.success() || stands_open, "{}: {line}: {told}", page.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen} commands");
}

#[test]
fn a_reader_who_has_gone_is_no_panic() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_airtcpd"));
    let output = command
        .args(["cc", "list"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output();
    let output = output.unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_path_of_very_many_links_is_refused() {
    let path = std::env::temp_dir().join(format!("airtcp-usage-{}.toml", std::process::id()));
    std::fs::write(&path, "[[link]]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n".repeat(1001)).unwrap();
    let output = airtcpd(&format!("link {} --shell", path.display()));
    std::fs::remove_file(&path).unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("link: 1001 links; a path has at most 1000"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}
