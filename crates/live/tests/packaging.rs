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
            assert_taken(&words.split(' ').map(str::to_owned).collect::<Vec<_>>(), &name);
        }
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
start_service && service_stopped
"#;

#[test]
fn the_init_script_of_openwrt_starts_and_stops_what_there_is() {
    let output = Command::new("sh")
        .args(["-eu", "-c", OPENWRT])
        .env("INIT", folder("openwrt/airtcpd.init"))
        .env("CONFIG", folder("openwrt/airtcpd.config"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), 12, "{lines}");
    for line in lines.lines() {
        let words: Vec<_> = line.strip_prefix("airtcpd ").unwrap().split(' ').map(str::to_owned).collect();
        assert_taken(&words, "airtcpd.init");
    }
}
