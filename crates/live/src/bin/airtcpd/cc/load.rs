//! `airtcpd cc load`.

use super::{each_once, key_and_value, params_text};
use crate::input::BadInput;
use airtcp_kernel::cc::{self, Controller, Pinned, Prefix, Request, Target};
use airtcp_kernel::loading::bpffs;
use airtcp_live::{say, warn};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  airtcpd cc load westwood-vt:alpha=10:beta=12 veno
  airtcpd cc load spectcp --cgroup /sys/fs/cgroup/lte
  airtcpd cc load westwood-vt --as vt_slow --set alpha=4 --route 10.1.0.0/16";

/// Load the named controllers, all or none
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// In scheme notation: westwood-vt:alpha=10:beta=12, or westwood_vt
    #[arg(required = true, value_name = "CONTROLLER[:KEY=VALUE]…")]
    controllers: Vec<Wanted>,

    /// Set a parameter, if one controller is named
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, f64)>,

    /// Its name in the kernel [default: the scheme's name, with `_` for `-`]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,

    /// Use it for connections that processes in this v2 cgroup, or those below it, open or accept. Overrides a
    /// route's choice unless that is locked; a program's own choice after connecting takes precedence
    #[arg(long, value_name = "PATH")]
    cgroup: Vec<PathBuf>,

    /// Use it for connections over the route to exactly this IPv4 prefix, or over the route `default`. Overrides a
    /// program's choice made before connecting
    #[arg(long, value_name = "PREFIX")]
    route: Vec<Prefix>,

    /// Use it for all connections of this network namespace that do not ask for another
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
        let given = parts.map(key_and_value).collect::<Result<Vec<_>, _>>()?;
        Ok(Wanted { controller, params: each_once(given)? })
    }
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    options.check().map_err(BadInput)?;
    let targets = options.targets();
    let requests: Vec<_> =
        options.controllers.iter().map(|wanted| options.request(wanted)).collect::<Result<_, _>>()?;
    requests.iter().try_for_each(Request::check)?;
    if bpffs::mount()? {
        warn!("mounted the BPF file system at {} to keep what is loaded", bpffs::PLACE);
    }
    for pinned in cc::load(&requests, &targets)? {
        say!("{}", format!("loaded {} {}", pinned.name(), params_text(&pinned.params()?)).trim_end());
        for applied in pinned.applied() {
            say!("  for {applied}");
        }
        warn_of_needs(&pinned)?;
    }
    Ok(())
}

fn warn_of_needs(pinned: &Pinned) -> anyhow::Result<()> {
    for need in pinned.controller().needs() {
        if let Some(found) = need.unmet()? {
            warn!(
                "warning: this network namespace has {found}: for connections that are opened in it with {}, {}; \
                 sysctl -w {}",
                pinned.name(),
                need.without,
                need.setting()
            );
        }
    }
    Ok(())
}

impl Options {
    fn check(&self) -> Result<(), String> {
        let is_for_one = self.name.is_some() || !self.set.is_empty() || !self.targets().is_empty();
        if self.controllers.len() > 1 && is_for_one {
            return Err(
                "--set, --as, --cgroup, --route and --default are for one controller: load the others apart, or write \
                 CONTROLLER:KEY=VALUE"
                    .to_owned(),
            );
        }
        for (index, Wanted { controller, .. }) in self.controllers.iter().enumerate() {
            let before = &self.controllers[..index];
            if before.iter().any(|wanted| std::ptr::eq(wanted.controller, *controller)) {
                let name = controller.scheme();
                return Err(format!("{name} is named twice; to load it twice, use --as NAME for the second"));
            }
        }
        Ok(())
    }

    fn request(&self, wanted: &Wanted) -> Result<Request, BadInput> {
        let written = wanted.params.clone().into_iter();
        let params = each_once(written.chain(self.set.iter().cloned())).map_err(BadInput)?;
        Ok(Request { controller: wanted.controller, name: self.name.clone(), params })
    }

    fn targets(&self) -> Vec<Target> {
        let cgroups = self.cgroup.iter().cloned().map(Target::Cgroup);
        let routes = self.route.iter().copied().map(Target::Route);
        cgroups.chain(routes).chain(self.default.then_some(Target::Default)).collect()
    }
}
