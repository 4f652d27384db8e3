//! What a controller needs from the network namespace whose connections use it.

use super::{CcError, Controller};
use std::fs;

/// A sysctl that has to be set where connections are opened.
#[derive(Debug, PartialEq, Eq)]
pub struct Need {
    /// As in [`ControllerSpec::changes`](airtcp_proto::cc::registry::ControllerSpec::changes).
    change: (&'static str, &'static str),
    sysctl: &'static str,
    /// Any of these will do; the first is the one to set.
    values: &'static [&'static str],
    /// What happens otherwise.
    pub without: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        change: ("ecn", "true"),
        sysctl: "net.ipv4.tcp_ecn",
        values: &["1"],
        without: "no ECN is negotiated, and it treats every loss as corruption",
    },
    Need {
        change: ("timestamps", "true"),
        sysctl: "net.ipv4.tcp_timestamps",
        values: &["1", "2"],
        without: "it cannot measure by the receiver's clock",
    },
];

impl Controller {
    /// Its needs, in the order of
    /// [`ControllerSpec::changes`](airtcp_proto::cc::registry::ControllerSpec::changes).
    pub fn needs(&self) -> Vec<&'static Need> {
        let need = |change: &_| NEEDS.iter().find(|need| need.change == *change).expect("a sysctl for it");
        self.spec.changes.iter().map(need).collect()
    }
}

impl Need {
    /// The setting, as `sysctl -w` takes it.
    pub fn setting(&self) -> String {
        format!("{}={}", self.sysctl, self.values[0])
    }

    /// The setting of the calling thread's namespace; `None` if the need is met.
    ///
    /// # Errors
    /// The sysctl cannot be read.
    pub fn unmet(&self) -> Result<Option<String>, CcError> {
        let path = format!("/proc/sys/{}", self.sysctl.replace('.', "/"));
        let text = fs::read_to_string(&path).map_err(CcError::io(format!("read {path}")))?;
        let value = text.trim_end();
        Ok((!self.values.contains(&value)).then(|| format!("{}={value}", self.sysctl)))
    }
}

#[cfg(test)]
mod tests {
    use crate::cc::{controllers, find};

    #[test]
    fn whatever_a_controller_changes_is_a_sysctl() {
        for controller in controllers() {
            assert_eq!(controller.needs().len(), controller.spec.changes.len());
        }
        let settings: Vec<_> =
            find("new-jersey").unwrap().needs().iter().map(|need| need.setting()).collect();
        assert_eq!(settings, ["net.ipv4.tcp_ecn=1", "net.ipv4.tcp_timestamps=1"]);
    }
}
