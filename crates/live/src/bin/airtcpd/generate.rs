//! `airtcpd generate`: man pages and completions for packages, made from the program's own commands.

use airtcp_live::say;
use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write man pages and completions of bash, zsh and fish into a folder
#[derive(clap::Args)]
pub struct Options {
    /// Output folder, which gets man8, bash, zsh and fish
    folder: PathBuf,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let mut program = crate::program();
    program.build();
    let name = program.get_name().to_owned();
    let pages = made(&options.folder.join("man8"))?;
    write_pages(&program, &name, &pages).with_context(|| format!("cannot write to {}", pages.display()))?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let folder = made(&options.folder.join(shell.to_string()))?;
        clap_complete::generate_to(shell, &mut program, &name, &folder)
            .with_context(|| format!("cannot write to {}", folder.display()))?;
    }
    say!("man pages and completions: {}", options.folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for each command, named like `airtcpd-cc-load.8`.
fn write_pages(command: &Command, name: &str, folder: &Path) -> anyhow::Result<()> {
    let mut file = File::create(folder.join(format!("{name}.8")))?;
    Man::new(command.clone()).section("8").manual("airtcp").render(&mut file)?;
    let shown = command.get_subcommands().filter(|each| !each.is_hide_set() && each.get_name() != "help");
    shown.into_iter().try_for_each(|each| write_pages(each, &format!("{name}-{}", each.get_name()), folder))
}

fn made(folder: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.to_owned())
}
