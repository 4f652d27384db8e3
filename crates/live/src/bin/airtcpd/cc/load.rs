//! `airtcpd cc load`.

use super::key_and_value;
use airtcp_kernel::bpffs;
use airtcp_kernel::cc::{self, Controller, Prefix, Request, Target};
use anyhow::ensure;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// Give congestion controls to the kernel: all that are named, or none
#[derive(clap::Args)]
pub struct Options {
    /// As schemes are written: westwood-vt:alpha=10:beta=12, or westwood_vt
    #[arg(required = true, value_name = "CONTROLLER[:KEY=VALUE]…")]
    controllers: Vec<Wanted>,

    /// A parameter, if one controller is named
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, f64)>,

    /// What the kernel is to call it [default: the scheme's name, with `_` for `-`]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,

    /// Let connections use it that the processes of this cgroup of version 2, and of those below it, open or accept. What
    /// a program chooses later counts
    #[arg(long, value_name = "PATH")]
    cgroup: Vec<PathBuf>,

    /// Let connections over the route to exactly this IPv4 prefix use it, or over the route `default`. It overrides what a
    /// program has chosen before it connects
    #[arg(long, value_name = "PREFIX")]
    route: Vec<Prefix>,

    /// Let all connections of this network namespace use it that do not ask for another
    #[arg(long)]
    default: bool,
}

#[derive(Clone)]
struct Wanted {
    controller: &'static Controller,
    params: BTreeMap<String, f64>,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        let mut parts = text.split(':');
        let controller = cc::find(parts.next().unwrap_or_default()).map_err(|error| error.to_string())?;
        Ok(Wanted { controller, params: parts.map(key_and_value).collect::<Result<_, _>>()? })
    }
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let targets = options.targets();
    let is_for_one = options.name.is_some() || !options.set.is_empty() || !targets.is_empty();
    ensure!(
        options.controllers.len() == 1 || !is_for_one,
        "--set, --as, --cgroup, --route and --default are for one controller: load the others apart, or write \
         CONTROLLER:KEY=VALUE"
    );
    let requests: Vec<_> = options.controllers.iter().map(|wanted| options.request(wanted)).collect();
    if bpffs::mount()? {
        eprintln!("mounted the BPF file system at {}, where what is loaded is kept", bpffs::PLACE);
    }
    for pinned in cc::load(&requests, &targets)? {
        let params = super::params_text(&pinned.params()?);
        println!("loaded {} {params}", pinned.name());
        for applied in pinned.applied() {
            println!("  for {applied}");
        }
    }
    Ok(())
}

impl Options {
    fn request(&self, wanted: &Wanted) -> Request {
        let mut params = wanted.params.clone();
        params.extend(self.set.iter().cloned());
        Request { controller: wanted.controller, name: self.name.clone(), params }
    }

    fn targets(&self) -> Vec<Target> {
        let cgroups = self.cgroup.iter().cloned().map(Target::Cgroup);
        let routes = self.route.iter().copied().map(Target::Route);
        cgroups.chain(routes).chain(self.default.then_some(Target::Default)).collect()
    }
}
