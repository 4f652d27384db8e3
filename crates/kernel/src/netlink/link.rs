//! A network interface, and a queue discipline on one.

use super::Attributes;
use super::message::{Message, kind};
use netlink_packet_route::link::{LinkFlags, LinkLayerType};

/// Attributes of links (linux/if_link.h).
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
/// Offsets of fields in struct ifinfomsg.
const TYPE: usize = 2;
const FLAGS: usize = 8;
/// Attributes of queue disciplines (linux/rtnetlink.h, linux/pkt_sched.h).
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STAB: u16 = 8;
const TCA_TBF_PARMS: u16 = 1;
/// Offsets of fields in struct tcmsg.
const TC_INDEX: usize = 4;
const TC_HANDLE: usize = 8;
const TC_PARENT: usize = 12;
/// Offset of the limit in struct tc_tbf_qopt. Struct tc_fifo_qopt begins with it.
const TBF_LIMIT: usize = 24;

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

    #[must_use]
    pub fn handle(&self) -> u32 {
        self.0.word(TC_HANDLE)
    }

    /// Handle of what it is attached to.
    #[must_use]
    pub fn parent(&self) -> u32 {
        self.0.word(TC_PARENT)
    }

    #[must_use]
    pub fn kind(&self) -> Option<String> {
        self.0.attributes.text(TCA_KIND)
    }

    /// Returns whether it takes packets for longer or shorter than they are.
    #[must_use]
    pub fn has_size_table(&self) -> bool {
        self.0.attributes.get(TCA_STAB).is_some()
    }

    /// How much may wait in it: in packets in a `pfifo`, in bytes in a `bfifo` or a `tbf`. `None` for other kinds.
    #[must_use]
    pub fn limit(&self) -> Option<u32> {
        let options = self.0.attributes.get(TCA_OPTIONS)?;
        let word = |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk().map(|it| u32::from_ne_bytes(*it));
        match self.kind()?.as_str() {
            "pfifo" | "bfifo" => word(options, 0),
            "tbf" => word(Attributes::new(options.to_vec()).get(TCA_TBF_PARMS)?, TBF_LIMIT),
            _ => None,
        }
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
        fn any_queue_discipline_can_be_read(
            mut message in odd(kind::NEWQDISC),
            name in prop_oneof!["[a-z]{1,15}", Just("pfifo".to_owned()), Just("tbf".to_owned())],
            options in prop::collection::vec(any::<u8>(), 0..80),
            limit in any::<u32>(),
        ) {
            message.attributes.set(TCA_KIND, &[name.as_bytes(), &[0]].concat());
            message.attributes.set(TCA_OPTIONS, &options);
            let qdisc = Qdisc::of(message.clone()).unwrap();
            let _ = (qdisc.index(), qdisc.handle(), qdisc.parent(), qdisc.has_size_table(), qdisc.limit());
            prop_assert_eq!(qdisc.kind(), Some(name));
            let mut parms = Attributes::default();
            parms.set(TCA_TBF_PARMS, &[&[0; TBF_LIMIT][..], &limit.to_ne_bytes(), &[0; 8]].concat());
            for (name, options) in [("tbf", parms.as_bytes()), ("bfifo", &limit.to_ne_bytes()[..])] {
                message.attributes.set(TCA_KIND, name.as_bytes());
                message.attributes.set(TCA_OPTIONS, options);
                prop_assert_eq!(Qdisc::of(message.clone()).unwrap().limit(), Some(limit));
            }
        }
    }
}
