//! A network interface, and a queue discipline on one.

use super::message::{Message, kind};
use netlink_packet_route::link::{LinkFlags, LinkLayerType};

/// Attributes of links (linux/if_link.h).
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
/// Offsets of fields in struct ifinfomsg.
const TYPE: usize = 2;
const FLAGS: usize = 8;
/// Offsets of fields in struct tcmsg.
const TC_INDEX: usize = 4;
const TC_PARENT: usize = 12;

/// A link as the kernel describes it.
pub struct Link(pub(super) Message);

impl Link {
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.0.attributes.text(IFLA_IFNAME)
    }

    /// In bytes.
    #[must_use]
    pub fn mtu(&self) -> Option<u32> {
        self.0.attributes.number(IFLA_MTU)
    }

    #[must_use]
    pub fn flags(&self) -> LinkFlags {
        LinkFlags::from_bits_retain(self.0.word(FLAGS))
    }

    #[must_use]
    pub fn layer(&self) -> LinkLayerType {
        u16::from_ne_bytes([self.0.header[TYPE], self.0.header[TYPE + 1]]).into()
    }
}

/// A queue discipline as the kernel describes it.
pub struct Qdisc(Message);

impl Qdisc {
    /// `None` for another kind of answer.
    #[must_use]
    pub fn of(answer: Message) -> Option<Qdisc> {
        (answer.kind == kind::NEWQDISC).then_some(Qdisc(answer))
    }

    /// Index of its link.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.0.word(TC_INDEX)
    }

    /// Handle of what it is attached to.
    #[must_use]
    pub fn parent(&self) -> u32 {
        self.0.word(TC_PARENT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::tests::odd;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_link_can_be_read(mut message in odd(kind::NEWLINK), name in "[a-z0-9.-]{1,15}", mtu in any::<u32>()) {
            let _ = (Link(message.clone()).name(), Link(message.clone()).mtu());
            message.attributes.set(IFLA_IFNAME, &[name.as_bytes(), &[0]].concat());
            message.attributes.set(IFLA_MTU, &mtu.to_ne_bytes());
            let link = Link(message);
            prop_assert_eq!((link.name(), link.mtu()), (Some(name), Some(mtu)));
            let _ = (link.flags(), link.layer());
        }

        #[test]
        fn any_queue_discipline_can_be_read(message in odd(kind::NEWQDISC)) {
            let qdisc = Qdisc::of(message).unwrap();
            let _ = (qdisc.index(), qdisc.parent());
        }
    }
}
