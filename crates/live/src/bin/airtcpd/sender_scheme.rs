//! Schemes of senders that run airtcp's own TCP on a real network.

use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::{TcpConfig, TimeoutPolicy};

/// Reads the scheme of `sender`, which has sender terms only, since `why`.
///
/// # Errors
/// What is wrong with it, or has no place on a network that others use.
pub fn read(text: &str, sender: &str, why: &str) -> Result<Scheme, String> {
    let scheme = Scheme::parse(text, "linux").map_err(|error| error.to_string())?;
    if scheme.base_station.is_some() || scheme.circuit.is_some() {
        return Err(format!("{sender} accepts only sender terms, since {why}"));
    }
    if let Some(queue) = scheme.queue {
        let name = queue.name();
        return Err(format!("`@ {name}`: the queue is the network's, not the sender's; `tc qdisc` sets it"));
    }
    only_for_experiments(&scheme.config).map_or(Ok(scheme), Err)
}

/// What a sender on a real network must not do after a timeout, although experiments after a paper may.
// RFC 5681 §3.1: cwnd is then at most the loss window, one full-sized segment; all else follows in slow start.
fn only_for_experiments(config: &TcpConfig) -> Option<String> {
    let (key, instead) = match config {
        TcpConfig { timeout_policy: TimeoutPolicy::GoBackNAtOnce, .. } => (
            "timeout_policy = go-back-n-at-once".to_owned(),
            "use the term `gbn`, which resends all that is outstanding in slow start",
        ),
        TcpConfig { loss_window: window @ 2.., .. } => (format!("loss_window = {window}"), "leave it at 1"),
        _ => return None,
    };
    Some(format!(
        "{key} is only for experiments: RFC 5681 §3.1 allows one segment after a timeout; {instead}"
    ))
}
