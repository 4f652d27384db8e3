//! A daemon's log.

use airtcp_live::daemon::MetricsAddress;
use clap::ValueEnum;
use std::io::{self, IsTerminal};
use tracing::Level;

/// Where a daemon reports.
#[derive(clap::Args)]
pub struct Reports {
    /// Serve Prometheus metrics at 127.0.0.1:PORT, [::1]:PORT, or a UNIX socket path
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<MetricsAddress>,

    /// Log format on stderr
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub log: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Logs to stderr, if `verbose` with a line for each connection.
pub fn begin(format: Format, verbose: bool) {
    begin_at(format, if verbose { Level::DEBUG } else { Level::INFO });
}

/// Logs warnings only, because the command uses stderr too.
pub fn begin_warnings(format: Format) {
    begin_at(format, Level::WARN);
}

fn begin_at(format: Format, level: Level) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_target(false);
    match format {
        Format::Text => log.with_ansi(io::stderr().is_terminal()).init(),
        Format::Json => log.json().flatten_event(true).init(),
    }
}
