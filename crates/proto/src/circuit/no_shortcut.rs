//! What stands in for `shortcut` in a build without it: nothing leaves in bursts.

use super::outlet::Outlet;
use airtcp_wire::Time;

pub fn transmit(_: Time, _: &mut impl Outlet) -> bool {
    false
}
