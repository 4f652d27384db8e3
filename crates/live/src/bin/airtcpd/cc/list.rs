//! `airtcpd cc list`.

use super::table::Table;
use airtcp_kernel::cc::{self, Controller, Owner};
use airtcp_live::say;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  airtcpd cc list
  airtcpd cc list westwood-vt
      its parameters, and what it needs of the host";

/// Show airtcpd's controllers and those in the kernel
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Show the parameters of these controllers, and the sysctls they need
    #[arg(value_name = "CONTROLLER")]
    controllers: Vec<String>,

    /// Print it as JSON, with all parameters
    #[arg(long, conflicts_with = "controllers")]
    json: bool,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    for name in &options.controllers {
        print_params(cc::find(name)?);
    }
    if options.controllers.is_empty() {
        let available = cc::available()?;
        if options.json {
            say!("{:#}", to_json(&available))
        } else {
            say!("{}", table(&available).to_string().trim_end())
        }
    }
    Ok(())
}

fn table(available: &[(String, Owner)]) -> Table {
    let mut table = Table::new(&["scheme", "in the kernel", "by", "what it does"]);
    for controller in cc::controllers() {
        let loaded = available.iter().find(|(name, _)| name == controller.kernel_name);
        let (name, owner) =
            loaded.map_or(("–", "–".to_owned()), |(name, owner)| (name, owner.to_string()));
        table.row([controller.scheme(), name, &owner, controller.spec.summary]);
    }
    for (name, owner) in available.iter().filter(|(name, _)| !is_known(name)) {
        table.row(["", name, &owner.to_string(), ""]);
    }
    table
}

fn is_known(name: &str) -> bool {
    cc::controllers().iter().any(|controller| controller.kernel_name == name)
}

fn print_params(controller: &Controller) {
    say!("{}: {} ({})", controller.scheme(), controller.spec.summary, controller.spec.source);
    if controller.params.is_empty() {
        say!("  no parameters");
    }
    for param in &controller.params {
        say!("  {} = {}, {} to {}: {}", param.name, param.default, param.min, param.max, param.doc);
    }
    for need in controller.needs() {
        say!("  needs {} where connections are opened; otherwise {}", need.setting(), need.without);
    }
}

fn to_json(available: &[(String, Owner)]) -> Value {
    let controllers = cc::controllers().iter().map(|controller| {
        let params = controller.params.iter().map(|param| {
            json!({"name": param.name, "default": param.default, "min": param.min, "max": param.max, "doc": param.doc})
        });
        json!({
            "scheme": controller.scheme(),
            "kernel_name": controller.kernel_name,
            "summary": controller.spec.summary,
            "source": controller.spec.source,
            "params": params.collect::<Vec<_>>(),
            "needs": controller.needs().iter().map(|need| need.setting()).collect::<Vec<_>>(),
        })
    });
    let kernel = available.iter().map(|(name, owner)| json!({"name": name, "by": owner}));
    json!({"controllers": controllers.collect::<Vec<_>>(), "kernel": kernel.collect::<Vec<_>>()})
}
