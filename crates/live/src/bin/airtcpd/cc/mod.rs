//! `airtcpd cc`.

mod list;
mod load;
mod status;
mod table;
mod unload;

use crate::input::BadInput;
use airtcp_kernel::cc;
use airtcp_live::say;
use clap::Subcommand;
use std::collections::BTreeMap;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd cc load westwood-vt veno:beta=4
      any program can now select them: sysctl, setsockopt(TCP_CONGESTION), `iperf3 -C westwood_vt`
  airtcpd cc load spectcp --route 10.1.0.0/16
      connections over this route use it without asking
  airtcpd cc status
      losses judged corruption and congestion, reductions, sockets
  airtcpd cc set westwood-vt alpha=10
      also for existing sockets
  airtcpd cc unload --all

They stay loaded until they are unloaded or the host reboots. Changing anything needs root.";

/// Load congestion controls into the running kernel; inspect and unload them
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Load(load::Options),
    List(list::Options),
    Status(status::Options),
    Set(SetOptions),
    Unload(unload::Options),
}

const SET_EXAMPLES: &str = "\
Examples:
  airtcpd cc set westwood-vt alpha=10
  airtcpd cc set westwood_vt alpha=20 beta=24";

/// Change a loaded controller's parameters, including for sockets already using it
#[derive(clap::Args)]
#[command(after_help = SET_EXAMPLES)]
struct SetOptions {
    /// The scheme's name, or its name in the kernel
    name: String,

    /// For example alpha=10; `airtcpd cc list NAME` lists them. All are changed, or none
    #[arg(required = true, value_name = "KEY=VALUE", value_parser = key_and_value)]
    params: Vec<(String, f64)>,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.command {
        Command::Load(options) => load::run(&options)?,
        Command::List(options) => list::run(&options)?,
        Command::Status(options) => status::run(&options)?,
        Command::Set(options) => set(options)?,
        Command::Unload(options) => unload::run(&options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn set(options: SetOptions) -> anyhow::Result<()> {
    let changes = each_once(options.params).map_err(BadInput)?;
    cc::set(&options.name, &changes)?;
    let pinned = cc::open(&options.name)?;
    say!("{}: {}", pinned.name(), params_text(&pinned.params()?));
    Ok(())
}

fn each_once(given: impl IntoIterator<Item = (String, f64)>) -> Result<BTreeMap<String, f64>, String> {
    let mut params = BTreeMap::new();
    for (name, value) in given {
        if params.contains_key(&name) {
            return Err(format!("{name} is given twice"));
        }
        params.insert(name, value);
    }
    Ok(params)
}

fn key_and_value(text: &str) -> Result<(String, f64), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, for example alpha=10")?;
    let number = value.trim().parse().map_err(|_| format!("`{value}` is not a number"))?;
    Ok((key.trim().to_owned(), number))
}

/// Parameters as `airtcpd cc load` takes them.
fn params_text(params: &BTreeMap<&str, f64>) -> String {
    let pairs: Vec<_> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(" ")
}
