//! `airtcpd cc` as a process of its own.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_airtcpd");

/// Returns what it printed.
pub fn cc(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "airtcpd cc {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the error that it ended with, as the host does not let it.
pub fn refused(args: &[&str]) -> String {
    error(args, 1)
}

/// Returns the error that it ended with, as no host lets it.
pub fn mistaken(args: &[&str]) -> String {
    error(args, 2)
}

fn error(args: &[&str], status: i32) -> String {
    let output = run(args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "airtcpd cc {args:?}: {error}");
    error
}

/// Of one loaded controller.
pub fn status(name: &str) -> Value {
    let mut all: Value = serde_json::from_str(&cc(&["status", name, "--json"])).unwrap();
    all[0].take()
}

/// Fails unless nothing is left of `name`.
pub fn assert_gone(name: &str) {
    assert!(!available().iter().any(|known| known == name), "the kernel has {name}");
    assert!(!Path::new("/sys/fs/bpf/airtcp/cc").join(name).exists(), "{name} is pinned");
    assert!(!Path::new("/run/airtcp/cc").join(format!("{name}.json")).exists(), "{name} is remembered");
}

/// What the kernel has.
pub fn available() -> Vec<String> {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    names.split_whitespace().map(str::to_owned).collect()
}

fn run(args: &[&str]) -> Output {
    Command::new(PROGRAM).arg("cc").args(args).output().unwrap()
}
