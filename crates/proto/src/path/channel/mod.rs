//! A 3G downlink cell: fading channels to several users, and a proportional-fair scheduler that gives each slot to one of them (paper 003
//! §V, Trace B).
//!
//! Paper 003 names the parts (distance path loss, shadowing, Rician fading by Jakes, proportional fairness, first come first served per
//! user) but not their values. The values here are those of a CDMA2000 1xEV-DO sector, the kind of network that the paper describes. Each
//! key says where its default comes from.

mod scheduler;

use super::Transmitter;
use crate::rng::{Chance, Chances};
use airtcp_wire::{Dur, Rate, Time};
use scheduler::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell with a proportional-fair scheduler. The link's own user competes, while it has something to receive, with
/// users who always do. Packets of the link are served in order, so nothing overtakes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelConfig {
    /// Users in the cell, the link's own one included; at least 1. Default: 8, "multiple users" of paper 003.
    pub users: u32,
    /// Time for which one user is served. Default: 5/3 ms, 1xEV-DO's slot.
    pub slot: Dur,
    /// The scheduler's memory: each user's average rate is smoothed over so many slots. Default: 1000 (Jalali, Padovani
    /// and Pankaj 2000).
    pub memory_slots: f64,
    /// Radius of the cell in m. Default: 1000. The other users stand anywhere between a tenth of it and the edge,
    /// each area as likely as any other of its size.
    pub radius_m: f64,
    /// Distance of the link's own user from the base station in m. Default: 707, farther out than half of the area.
    pub distance_m: f64,
    /// Mean ratio of signal to interference and noise at the edge, in dB, without shadowing. Default: 0: a neighbouring
    /// base station on the same carrier is as loud there.
    pub edge_snr_db: f64,
    /// Path loss grows with this power of the distance. Default: 3.76 (3GPP TR 25.942, macro cell).
    pub path_loss_exponent: f64,
    /// Standard deviation of log-normal shadowing in dB. Default: 8 (Gudmundson 1991; 3GPP says 8 to 10).
    pub shadowing_db: f64,
    /// Distance in m over which shadowing's correlation falls to 1/e. Default: 50.
    pub shadowing_distance_m: f64,
    /// Rician factor in dB: power of the direct path over that of the scattered ones. Default: 3, between none at all
    /// (Rayleigh) and the 10 dB of an open view.
    pub rician_k_db: f64,
    /// Speed of all users in km/h. Default: 3, on foot: the distance stays as it is during a transfer.
    pub speed_kmh: f64,
    /// Carrier frequency in MHz. Default: 1900, North America's band for CDMA2000.
    pub carrier_mhz: f64,
    /// The cell is a trace, as in paper 003 §V: each packet takes the next scheduling delay of a user who always has data, however long
    /// the link was idle in between, and "the sum of the scheduling delay and a fixed ACK delay on the uplink is treated as the service
    /// time for a packet". Absent: the cell lives in the time of the run, and serves the next packet at once.
    pub ack_delay: Option<Dur>,
}

impl Default for ChannelConfig {
    fn default() -> ChannelConfig {
        ChannelConfig {
            users: 8,
            slot: Dur(1_666_667),
            memory_slots: 1000.0,
            radius_m: 1000.0,
            distance_m: 707.0,
            edge_snr_db: 0.0,
            path_loss_exponent: 3.76,
            shadowing_db: 8.0,
            shadowing_distance_m: 50.0,
            rician_k_db: 3.0,
            speed_kmh: 3.0,
            carrier_mhz: 1900.0,
            ack_delay: None,
        }
    }
}

/// The time over which [`ChannelConfig::mean_rate`] averages.
const GLIMPSE: Dur = Dur::from_secs(60);
/// The size of the packets of [`ChannelConfig::mean_rate`].
const PACKET_BYTES: u32 = 1500;
/// A user who has not been served for this time counts as never served.
const PATIENCE: Dur = Dur::from_secs(3600);

impl ChannelConfig {
    /// The first key with an invalid value, and what the value must be.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let is_positive = |value: f64| value > 0.0 && value.is_finite();
        let is_level = |value: f64| (-100.0..=100.0).contains(&value);
        [
            ("users", (1..=1000).contains(&self.users), "must be from 1 to 1000"),
            ("slot", self.slot >= Dur::from_micros(100), "must be at least 100us"),
            ("memory_slots", self.memory_slots >= 1.0 && self.memory_slots.is_finite(), "must be at least 1"),
            ("radius_m", is_positive(self.radius_m), "must be above zero"),
            ("distance_m", is_positive(self.distance_m), "must be above zero"),
            ("edge_snr_db", is_level(self.edge_snr_db), "must be from -100 to 100"),
            ("path_loss_exponent", (0.0..=10.0).contains(&self.path_loss_exponent), "must be from 0 to 10"),
            ("shadowing_db", (0.0..=50.0).contains(&self.shadowing_db), "must be from 0 to 50"),
            ("shadowing_distance_m", is_positive(self.shadowing_distance_m), "must be above zero"),
            ("rician_k_db", is_level(self.rician_k_db), "must be from -100 to 100"),
            ("speed_kmh", (0.0..=1000.0).contains(&self.speed_kmh), "must be from 0 to 1000"),
            ("carrier_mhz", is_positive(self.carrier_mhz), "must be above zero"),
        ]
        .into_iter()
        .find_map(|(key, holds, message)| (!holds).then_some((key, message)))
    }

    /// The mean rate that one such cell gives a user who always has data, over a minute; with an ACK delay, in packets of 1500 bytes. A
    /// rough figure, since cells differ.
    pub fn mean_rate(&self) -> Rate {
        let mut channel = Channel::new(self, Chances::new(0).chance("channel"));
        Rate::of(channel.saturated_bytes(Time::ZERO, Time::ZERO + GLIMPSE, PACKET_BYTES), GLIMPSE)
    }
}

/// The transmitter of one user of the cell.
pub struct Channel {
    cell: Cell,
    slot_ns: u64,
    /// Slots that have begun.
    slots: u64,
    /// The rate at which the current slot serves the link's user.
    current: Rate,
    /// Until when the user's packets have used the slots.
    used_until: Time,
    ack_delay: Option<Dur>,
}

impl Channel {
    pub fn new(config: &ChannelConfig, chance: Chance) -> Channel {
        Channel {
            cell: Cell::new(config, chance),
            slot_ns: config.slot.0,
            slots: 0,
            current: Rate(0),
            used_until: Time::ZERO,
            ack_delay: config.ack_delay,
        }
    }

    /// Bytes that a user who always has data receives from `from` to `until`, in whole slots; with an ACK delay, in packets of
    /// `packet_bytes`.
    pub fn saturated_bytes(&mut self, from: Time, until: Time, packet_bytes: u32) -> u64 {
        if self.ack_delay.is_some() {
            return self.acknowledged_bytes(from, until, packet_bytes);
        }
        let mut bits = 0;
        while self.slots * self.slot_ns < until.0 {
            let start = self.slots * self.slot_ns;
            self.next_slot(true);
            bits += if start < from.0 { 0 } else { u128::from(self.current.0) * u128::from(self.slot_ns) };
        }
        (bits / 8_000_000_000) as u64
    }

    fn acknowledged_bytes(&mut self, from: Time, until: Time, packet_bytes: u32) -> u64 {
        let (mut at, mut bytes) = (Time::ZERO, 0);
        loop {
            at = self.departure(at, packet_bytes);
            if at > until {
                return bytes;
            }
            bytes += if at > from { u64::from(packet_bytes) } else { 0 };
        }
    }

    fn next_slot(&mut self, has_data: bool) {
        self.current = self.cell.next_slot(has_data);
        self.slots += 1;
    }
}

impl Transmitter for Channel {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        match self.ack_delay {
            _ if start.is_never() => start,
            None => self.served(start, bytes),
            Some(ack_delay) => {
                let before = self.used_until;
                match self.served(before, bytes) {
                    Time::NEVER => Time::NEVER,
                    after => start + after.since(before) + ack_delay,
                }
            }
        }
    }
}

impl Channel {
    /// When the last bit of a packet has been sent that may be sent from `start` on.
    fn served(&mut self, start: Time, bytes: u32) -> Time {
        let mut missing = u128::from(bytes) * 8_000_000_000;
        let mut now = start.0;
        if start != self.used_until {
            // If the queue runs empty, the rest of the slot is lost. A packet that comes in mid-slot waits for the next one.
            while self.slots * self.slot_ns < start.0 {
                self.next_slot(false);
            }
            now = self.slots * self.slot_ns;
        }
        let given_up = start.0.saturating_add(PATIENCE.0);
        loop {
            if now == self.slots * self.slot_ns {
                if now > given_up {
                    return Time::NEVER;
                }
                self.next_slot(true);
            }
            let end = self.slots * self.slot_ns;
            let here = u128::from(self.current.0) * u128::from(end - now);
            if missing <= here {
                now += missing.div_ceil(u128::from(self.current.0).max(1)) as u64;
                self.used_until = Time(now);
                return self.used_until;
            }
            missing -= here;
            now = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::service_times;

    fn channel(config: &ChannelConfig) -> Channel {
        Channel::new(config, Chances::new(1).chance("channel"))
    }

    /// A lone user close to the base station: every slot is his, at the highest rate.
    fn best() -> ChannelConfig {
        ChannelConfig { users: 1, distance_m: 1.0, ..ChannelConfig::default() }
    }

    #[test]
    fn a_lone_user_close_by_gets_every_slot_at_the_highest_rate() {
        let mut channel = channel(&best());
        let bits_a_slot: f64 = 2_457_600.0 * 1.666_667e-3;
        let first = channel.departure(Time::ZERO, 512);
        assert!((first.as_secs_f64() - 4096.0 / 2_457_600.0).abs() < 1e-8, "exactly one slot: {first:?}");
        assert!((bits_a_slot - 4096.0).abs() < 0.01);
        let small = channel.departure(Time(10_000_000), 64);
        // Slot 6 begins at 10.000002 ms; the next packet shares it, one that comes later does not.
        assert_eq!(small.0, 10_000_002 + 208_334);
        assert_eq!(channel.departure(small, 64).0, 10_000_002 + 2 * 208_334);
        assert_eq!(channel.departure(Time(10_600_000), 64).0, 11_666_669 + 208_334);
    }

    #[test]
    fn the_same_stream_gives_the_same_cell() {
        let times = || service_times(&mut channel(&ChannelConfig::default()), 500, 200);
        assert_eq!(times(), times());
        let other = service_times(
            &mut Channel::new(&ChannelConfig::default(), Chances::new(2).chance("channel")),
            500,
            200,
        );
        assert_ne!(times(), other);
    }

    /// Paper 003 §V: service is first come first served, so a packet that comes later leaves later.
    #[test]
    fn packets_leave_in_order_and_idle_time_gives_nothing() {
        let mut channel = channel(&ChannelConfig::default());
        let mut last = Time::ZERO;
        for at_ms in [0, 0, 3, 500, 500, 501, 4000] {
            let start = last.max(Time(at_ms * 1_000_000));
            let departure = channel.departure(start, 500);
            assert!(departure > start);
            last = departure;
        }
    }

    /// Paper 003 §V: "the sum of the scheduling delay and a fixed ACK delay on the uplink is treated as the service time".
    #[test]
    fn an_ack_delay_is_part_of_every_packets_service_time() {
        let ack_delay = Dur::from_millis(100);
        let with_delay = |config| ChannelConfig { ack_delay: Some(ack_delay), ..config };
        let config = ChannelConfig::default();
        let scheduling = service_times(&mut channel(&config), 500, 50);
        let expected: Vec<_> = scheduling.iter().map(|&time| time + ack_delay).collect();
        assert_eq!(service_times(&mut channel(&with_delay(config)), 500, 50), expected);
        // So it is if the link is idle in between.
        let (mut trace, mut start) = (channel(&with_delay(config)), Time::ZERO);
        for time in expected {
            start += Dur::from_secs(7);
            assert_eq!(trace.departure(start, 500).since(start), time);
        }
        // A packet of 1500 bytes takes less than four slots at the highest rate.
        let rate = with_delay(best()).mean_rate();
        assert!(rate >= Rate::of(1500, ack_delay + Dur(4 * 1_666_667)), "{rate:?}");
        assert!(rate <= Rate::of(1500, ack_delay), "{rate:?}");
    }

    #[test]
    fn where_no_signal_comes_nothing_is_ever_served() {
        let config =
            ChannelConfig { edge_snr_db: -100.0, users: 1, speed_kmh: 0.0, ..ChannelConfig::default() };
        assert!(channel(&config).departure(Time::ZERO, 500).is_never());
    }

    #[test]
    fn saturated_bytes_are_what_service_times_add_up_to() {
        let config = ChannelConfig::default();
        let times = service_times(&mut channel(&config), 500, 2000);
        let total = times.iter().fold(Dur::ZERO, |sum, &time| sum + time);
        let bytes = channel(&config).saturated_bytes(Time::ZERO, Time::ZERO + total, 500);
        assert!(bytes.abs_diff(1_000_000) < 600, "{bytes}");
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(ChannelConfig::default().problem(), None);
        assert_eq!(ChannelConfig { users: 0, ..best() }.problem().unwrap().0, "users");
        assert_eq!(ChannelConfig { speed_kmh: f64::NAN, ..best() }.problem().unwrap().0, "speed_kmh");
    }
}
