//! `airtcpd doctor`.

mod cc;
mod check;
mod circuit;
mod compare;
mod filter;
mod link;
mod proxy;
mod rto;
mod sleep;

use airtcp_live::say;
use check::{Health, Section};
use clap::builder::styling::{AnsiColor, Style};
use serde_json::json;
use std::io::IsTerminal;
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  sudo airtcpd doctor
  sudo airtcpd doctor --json | jq '.sections[].checks[] | select(.verdict == \"missing\")'

Tries everything and leaves nothing behind. Without root it checks what it can, and reports what it could not try.
The exit status is 0 if all sections can work, 1 otherwise.";

/// Check what this host supports and what is missing
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Options {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let sections = [
        link::section(),
        cc::section(),
        rto::section(),
        filter::section(),
        proxy::section(),
        circuit::section(),
        compare::section(),
    ];
    let works = sections.iter().all(Section::works);
    if options.json {
        let works_of = |section: &Section| json!({"name": section.name, "works": section.works(), "checks": section.checks});
        let sections: Vec<_> = sections.iter().map(works_of).collect();
        say!("{:#}", json!({"host": host(), "root": is_root(), "works": works, "sections": sections}));
    } else {
        say!("{}", host());
        if !is_root() {
            say!("not root: much could not be tested; run `sudo airtcpd doctor`");
        }
        let paint = Paint(std::io::stdout().is_terminal());
        sections.iter().for_each(|section| show(section, &paint));
    }
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn host() -> String {
    let name = nix::sys::utsname::uname().ok();
    let kernel = name.map_or_else(String::new, |name| {
        format!("{} {}, {}", name.sysname().display(), name.release().display(), name.machine().display())
    });
    format!("{kernel}, airtcpd {}", env!("CARGO_PKG_VERSION"))
}

/// Colours, on a terminal only.
struct Paint(bool);

impl Paint {
    fn paint(&self, text: &str, style: Style) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

fn show(section: &Section, paint: &Paint) {
    let verdict = if section.works() { "" } else { ": does not work here" };
    say!("\n{}{verdict}", paint.paint(section.name, Style::new().bold()));
    let width = section.checks.iter().map(|check| check.what.chars().count()).max().unwrap_or(0);
    for check in &section.checks {
        let (word, colour) = match check.verdict {
            Health::Ok => ("ok", AnsiColor::Green),
            Health::Limited => ("limited", AnsiColor::Yellow),
            Health::Missing => ("missing", AnsiColor::Red),
        };
        let word = paint.paint(&format!("{word:<7}"), colour.on_default());
        say!("  {word}  {:<width$}  {}", check.what, check.found);
        for (what, text) in check.advice() {
            say!("           {:<width$}  {what}: {text}", "");
        }
    }
}
