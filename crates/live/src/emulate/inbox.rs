//! Packets that wait at the devices, in order of arrival.

use super::clock::Look;
use crate::tun::PacketDevice;
use airtcp_wire::Time;
use std::io;

const MAX_FRAME: usize = (1 << 16) + 64;

/// Takes packets from several devices in the order in which the kernel received them, however late the driver fetches
/// them. The first packet of each device is fetched and dated before any is handed out.
///
/// The date is the kernel's, if it reports one. But it is no later than the driver's last look at the clock, and no
/// earlier than what was settled before, because the path has passed that time.
pub struct Inbox {
    heads: Vec<Head>,
    settled: Time,
    end: Time,
}

/// The first packet that waits at a device.
struct Head {
    buffer: Box<[u8]>,
    len: usize,
    /// When it arrived; `None` if none is known to wait.
    at: Option<Time>,
    /// Nothing was waiting when the device was asked last, in this turn.
    is_dry: bool,
}

/// A packet that came in by `port`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival<'a> {
    pub at: Time,
    pub port: usize,
    pub bytes: &'a [u8],
}

impl Inbox {
    /// For this many devices. Packets that came before `begin` or after `end` count as arriving then.
    pub fn new(devices: usize, begin: Time, end: Time) -> Inbox {
        let head = || Head { buffer: vec![0; MAX_FRAME].into(), len: 0, at: None, is_dry: true };
        Inbox { heads: (0..devices).map(|_| head()).collect(), settled: begin.min(end), end }
    }

    /// Begins a turn: each device may have packets again.
    pub fn begin_turn(&mut self) {
        self.heads.iter_mut().for_each(|head| head.is_dry = false);
    }

    /// Stops asking the devices, until the next turn begins. What was fetched is handed out.
    pub fn end(&mut self) {
        self.heads.iter_mut().for_each(|head| head.is_dry = true);
    }

    /// Returns the waiting packet that arrived first.
    ///
    /// # Errors
    /// A device's.
    pub fn next(
        &mut self,
        devices: &mut [impl PacketDevice],
        look: &Look,
    ) -> io::Result<Option<Arrival<'_>>> {
        for (head, device) in self.heads.iter_mut().zip(devices) {
            head.fill(device, look)?;
        }
        let waiting = self.heads.iter().enumerate().filter_map(|(port, head)| Some((head.at?, port)));
        let Some((at, port)) = waiting.min() else { return Ok(None) };
        self.settle(at.min(look.now));
        let head = &mut self.heads[port];
        head.at = None;
        Ok(Some(Arrival { at: self.settled, port, bytes: &head.buffer[..head.len] }))
    }

    /// Returns the time until which all arrivals are known and handed out, and to which the path may advance: `now`,
    /// unless something may still wait.
    pub fn settle_until(&mut self, now: Time) -> Time {
        let known = |head: &Head| match head.at {
            Some(at) => at,
            None if head.is_dry => now,
            None => self.settled,
        };
        let until = self.heads.iter().map(known).min().unwrap_or(now);
        self.settle(until.min(now));
        self.settled
    }

    fn settle(&mut self, until: Time) {
        self.settled = self.settled.max(until.min(self.end));
    }
}

impl Head {
    fn fill(&mut self, device: &mut impl PacketDevice, look: &Look) -> io::Result<()> {
        if self.at.is_some() || self.is_dry {
            return Ok(());
        }
        match device.recv(&mut self.buffer)? {
            None => self.is_dry = true,
            Some(len) => {
                self.len = len;
                self.at = Some(device.arrived().map_or(look.now, |at| look.date(at)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Emulator;
    use super::*;
    use airtcp_sim::Scenario;
    use airtcp_wire::Dur;
    use std::collections::VecDeque;
    use std::fs::File;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    /// A device with packets of one byte, dated in µs of the wall clock, or not at all.
    struct Device {
        waiting: VecDeque<(Option<u64>, u8)>,
        arrived: Option<u64>,
        file: File,
    }

    fn device(waiting: &[(Option<u64>, u8)]) -> Device {
        let waiting = waiting.iter().copied().collect();
        Device { waiting, arrived: None, file: File::open("/dev/null").unwrap() }
    }

    fn wall(us: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000) + Duration::from_micros(us)
    }

    impl AsFd for Device {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.file.as_fd()
        }
    }

    impl PacketDevice for Device {
        fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
            let Some((arrived, byte)) = self.waiting.pop_front() else { return Ok(None) };
            (self.arrived, buffer[0]) = (arrived, byte);
            Ok(Some(1))
        }

        fn arrived(&self) -> Option<SystemTime> {
            self.arrived.map(wall)
        }

        fn send(&mut self, _packet: &[u8]) -> io::Result<()> {
            Ok(())
        }
    }

    /// The wall clock and the driver's clock show the same µs.
    fn look(us: u64) -> Look {
        Look::new(micros(us), wall(us))
    }

    fn micros(us: u64) -> Time {
        Time::ZERO + Dur::from_micros(us)
    }

    /// Makes a turn. Returns (µs, port, packet) of each arrival, and the settled time.
    fn turn(inbox: &mut Inbox, devices: &mut [Device], look: &Look) -> (Vec<(u64, usize, u8)>, u64) {
        inbox.begin_turn();
        let mut seen = Vec::new();
        while let Some(Arrival { at, port, bytes }) = inbox.next(devices, look).unwrap() {
            seen.push((at.0 / 1000, port, bytes[0]));
        }
        (seen, inbox.settle_until(look.now).0 / 1000)
    }

    #[test]
    fn in_order_of_arrival_whatever_the_device() {
        let mut devices = [
            device(&[(Some(110), 1), (Some(140), 2), (Some(150), 3)]),
            device(&[(Some(120), 4), (Some(145), 5)]),
            device(&[(None, 6)]),
        ];
        let mut inbox = Inbox::new(3, micros(100), Time::NEVER);
        let (seen, settled) = turn(&mut inbox, &mut devices, &look(200));
        assert_eq!(seen, [(110, 0, 1), (120, 1, 4), (140, 0, 2), (145, 1, 5), (150, 0, 3), (200, 2, 6)]);
        assert_eq!(settled, 200);
    }

    #[test]
    fn never_before_what_is_settled_and_never_after_now() {
        let hour = 3_600_000_000;
        let dates = [Some(50), Some(130), Some(120), Some(900), Some(hour)];
        let mut devices = [device(&dates.map(|at| (at, 0)))];
        let mut inbox = Inbox::new(1, micros(100), Time::NEVER);
        let dated = |(seen, _): (Vec<(u64, usize, u8)>, u64)| -> Vec<u64> {
            seen.into_iter().map(|(us, ..)| us).collect()
        };
        assert_eq!(dated(turn(&mut inbox, &mut devices, &look(200))), [100, 130, 130, 200, 200]);
        devices[0].waiting.extend([(Some(150), 0), (Some(250), 0)]);
        assert_eq!(dated(turn(&mut inbox, &mut devices, &look(300))), [200, 250]);
        devices[0].waiting.push_back((Some(350), 0));
        let put_on = Look::new(micros(400), wall(400 + hour));
        assert_eq!(dated(turn(&mut inbox, &mut devices, &put_on)), [300], "the wall clock was put on");
    }

    #[test]
    fn what_still_waits_holds_the_time_of_the_path() {
        let mut devices = [device(&[(Some(110), 1), (Some(140), 2)]), device(&[(Some(130), 3)])];
        let mut inbox = Inbox::new(2, micros(100), Time::NEVER);
        inbox.begin_turn();
        for settled in [110, 130] {
            assert!(inbox.next(&mut devices, &look(200)).unwrap().is_some());
            assert_eq!(inbox.settle_until(micros(200)), micros(settled), "nobody has asked what else waits");
        }
        let (seen, settled) = turn(&mut inbox, &mut devices, &look(250));
        assert_eq!((seen, settled), (vec![(140, 0, 2)], 250));
    }

    #[test]
    fn after_the_end_nothing_is_fetched_and_nothing_that_was_is_lost() {
        let mut devices = [device(&[(Some(110), 1), (Some(140), 2), (Some(150), 3)])];
        let mut inbox = Inbox::new(1, micros(100), micros(120));
        inbox.begin_turn();
        assert_eq!(inbox.next(&mut devices, &look(200)).unwrap().unwrap().at, micros(110));
        assert!(inbox.next(&mut devices, &look(200)).unwrap().is_some_and(|it| it.at == micros(120)));
        assert_eq!(inbox.settle_until(micros(200)), micros(120));
        inbox.end();
        assert_eq!(inbox.next(&mut devices, &look(200)).unwrap(), None);
        assert_eq!(devices[0].waiting.len(), 1);
    }

    /// However late the driver fetches a packet, it leaves the path as if the driver had been on time.
    #[test]
    fn the_drivers_delay_is_no_part_of_the_paths() {
        let path = "[[link]]\nname = 'air'\nrate = '8Mbit/s'\ndelay = '500us'\n";
        let scenario = Scenario::load(path, "test.toml", std::path::Path::new(""), &[]).unwrap();
        for late_us in [0, 90, 400, 20_000] {
            let mut devices = [device(&[(Some(1_000), 1), (Some(1_003), 2)]), device(&[])];
            let mut emulator = Emulator::end_to_end(&scenario, 1);
            let mut inbox = Inbox::new(2, Time::ZERO, Time::NEVER);
            inbox.begin_turn();
            let look = look(1_003 + late_us);
            while let Some(arrival) = inbox.next(&mut devices, &look).unwrap() {
                emulator.handle_packet(arrival.at, arrival.port, arrival.bytes);
            }
            let mut left = Vec::new();
            while let Some(transmit) = emulator.poll_transmit(micros(100_000)) {
                left.push((transmit.due.0 / 1000, transmit.bytes[0]));
            }
            // A byte takes 1 µs.
            assert_eq!(left, [(1_501, 1), (1_504, 2)], "{late_us} µs late");
        }
    }
}
