//! What `packaging/` starts and stops is what `airtcpd` takes. Needs no root.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(name)
}

/// With `--help` at its end a line does nothing, and is read all the same.
fn assert_taken(words: &[String], from: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_airtcpd")).args(words).arg("--help").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{from}: {words:?}: {told}");
}

/// The commands that have `status` and `clean`, as each daemon has.
fn daemons() -> Vec<String> {
    let help = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_airtcpd")).args(words).arg("--help").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let commands = |help: &str| -> Vec<String> {
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let names =
            listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect()
    };
    let is_daemon = |name: &String| {
        let has = commands(&help(&[name]));
        ["status", "clean"].iter().all(|action| has.iter().any(|name| name == action))
    };
    commands(&help(&[])).into_iter().filter(|name| name != "help" && is_daemon(name)).collect()
}

fn units() -> Vec<PathBuf> {
    let files = fs::read_dir(folder("systemd")).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "service")).collect()
}

#[test]
fn units_start_and_stop_what_there_is() {
    for unit in units() {
        let name = unit.display().to_string();
        let text = fs::read_to_string(&unit).unwrap();
        let values = |key: &str| {
            let key = format!("{key}=");
            text.lines().filter_map(|line| line.strip_prefix(&key).map(str::to_owned)).collect::<Vec<_>>()
        };
        let variables: BTreeMap<String, String> = values("Environment")
            .iter()
            .map(|value| value.trim_matches('"').split_once('=').unwrap())
            .map(|(name, value)| (format!("${name}"), value.to_owned()))
            .collect();
        let lines = [values("ExecStart"), values("ExecStop"), values("ExecStopPost")].concat();
        assert!(lines.len() >= 2, "{name}");
        for line in lines {
            let line = line.strip_prefix("/usr/bin/airtcpd ").unwrap();
            let expand = |word: &str| variables.get(word).cloned().unwrap_or_else(|| word.to_owned());
            let words = line.split(' ').map(expand).collect::<Vec<_>>().join(" ");
            // An empty variable is no word.
            assert_taken(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), &name);
        }
    }
}

#[test]
fn every_daemon_has_a_unit_and_is_started_by_openwrt() {
    let texts: Vec<_> = units().iter().map(|unit| fs::read_to_string(unit).unwrap()).collect();
    let (started, _) = openwrt();
    let daemons = daemons();
    assert!(daemons.len() >= 4, "{daemons:?}");
    for name in daemons {
        let starts = |text: &String| text.contains(&format!("\nExecStart=/usr/bin/airtcpd {name} "));
        assert!(texts.iter().any(starts), "no unit in packaging/systemd starts `airtcpd {name}`");
        let line = format!("airtcpd {name}");
        let is_started = started.iter().any(|started| started.starts_with(&line));
        assert!(
            is_started,
            "packaging/openwrt/airtcpd.init does not start `{line}` for a section of airtcpd.config"
        );
    }
}

#[test]
fn systemd_understands_the_units() {
    let Ok(output) = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(units()).output()
    else {
        return eprintln!("skipped: no systemd-analyze here");
    };
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_ours =
        |line: &&str| line.contains("airtcpd") && !line.contains("/usr/bin/airtcpd is not executable");
    assert_eq!(told.lines().filter(is_ours).collect::<Vec<_>>(), [] as [&str; 0]);
}

/// What procd and uci would give it is made up, and each command is printed.
const OPENWRT: &str = r#"
config_load() { :; }
config_foreach() {
	local each="$1" kind="$2" section; shift 2
	for section in $(grep -n "^config $kind" "$CONFIG" | cut -d: -f1); do "$each" "$section" "$@"; done
}
config_get_bool() { eval "$1=1"; }
config_get() {
	value=$(tail -n +"$2" "$CONFIG" | sed -n "s/^\toption $3 '\(.*\)'/\1/p" | head -n 1)
	eval "$1=\$value"
}
procd_open_instance() { :; }
procd_close_instance() { :; }
procd_set_param() { if [ "$1" = command ]; then shift; "$@"; fi; }
. "$INIT"
PROG="echo airtcpd"
start_service && echo && service_stopped
"#;

/// What the init script starts and stops, all that is in the configuration being enabled.
fn openwrt() -> (Vec<String>, Vec<String>) {
    let output = Command::new("sh")
        .args(["-eu", "-c", OPENWRT])
        .env("INIT", folder("openwrt/airtcpd.init"))
        .env("CONFIG", folder("openwrt/airtcpd.config"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let (started, stopped) = lines.split_once("\n\n").unwrap();
    let commands = |lines: &str| lines.lines().map(str::to_owned).collect();
    (commands(started), commands(stopped))
}

#[test]
fn the_init_script_of_openwrt_starts_and_stops_what_there_is() {
    let config = fs::read_to_string(folder("openwrt/airtcpd.config")).unwrap();
    let sections = config.lines().filter(|line| line.starts_with("config ")).count();
    let (started, stopped) = openwrt();
    assert_eq!(started.len(), sections, "one for each section of the configuration: {started:#?}");
    assert!(stopped.contains(&"airtcpd proxy clean".to_owned()), "{stopped:#?}");
    for line in started.iter().chain(&stopped) {
        let words: Vec<_> =
            line.strip_prefix("airtcpd ").unwrap().split_whitespace().map(str::to_owned).collect();
        assert_taken(&words, "airtcpd.init");
    }
}

/// What `make static` has made: the program, and what runs it on this host.
fn static_programs() -> Vec<(PathBuf, Option<&'static str>)> {
    let here = std::env::consts::ARCH;
    let made =
        [("x86_64", "qemu-x86_64-static"), ("aarch64", "qemu-aarch64-static")].map(|(name, emulator)| {
            (folder("../dist").join(format!("airtcpd-{name}")), (name != here).then_some(emulator))
        });
    made.into_iter().filter(|(program, _)| program.exists()).collect()
}

#[test]
fn a_static_program_needs_no_library_and_starts() {
    let programs = static_programs();
    if programs.is_empty() {
        eprintln!("skipped: `make static` has not been run");
    }
    for (program, emulator) in programs {
        let read = Command::new("readelf").args(["--dynamic", "--program-headers"]).arg(&program).output();
        let headers = String::from_utf8(read.unwrap().stdout).unwrap();
        assert!(headers.contains("LOAD"), "{headers}");
        for word in ["NEEDED", "INTERP"] {
            assert!(!headers.contains(word), "{}: {headers}", program.display());
        }
        let mut start = emulator.map_or_else(
            || Command::new(&program),
            |emulator| {
                let mut start = Command::new(emulator);
                start.arg(&program);
                start
            },
        );
        match start.arg("--version").output() {
            Ok(output) => assert!(output.stdout.starts_with(b"airtcpd "), "{output:?}"),
            Err(error) => eprintln!("skipped: {emulator:?}: {error}"),
        }
    }
}
