//! `airtcpd run`.

use airtcp_live::lab::forms::Host;
use airtcp_live::lab::plan::plan;
use airtcp_sim::scenario::{Recipe, Scenario};
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd run --plan --recipe recipe.json
  airtcpd run --recipe recipe.json --scheme cubic --seed 1 --out record.json

`airtcp compare --on linux` writes recipes and calls this once a scheme and seed.";

/// One run of a scenario on this host's kernel, as a record
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The scenario: its text, changes to it and the files that it names, as JSON
    #[arg(long, value_name = "FILE")]
    recipe: PathBuf,
    /// Say what each scheme of the scenario is on this kernel, as JSON, and run nothing
    #[arg(long)]
    plan: bool,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let scenario = read(&options.recipe)?;
    let host = Host::this()?;
    println!("{}", serde_json::to_string_pretty(&plan(&scenario, &host)?)?);
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Scenario> {
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(name)?;
    let mut recipe: Recipe = serde_json::from_str(&text).with_context(name)?;
    Ok(recipe.read()?)
}
