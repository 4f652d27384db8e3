//! Runs the programs in the kernel, on packets that were never on a wire. Needs root; skipped elsewhere.

use airtcp_kernel::filter::{ETHERNET_LEN, Parameters, Programs, Verdict};
use airtcp_wire::ip::Addresses;
use airtcp_wire::packet::{Endpoints, decode_tcp, encode_tcp};
use airtcp_wire::tcp::Ports;
use airtcp_wire::{Ecn, Flags, SackBlocks, Segment, Seq, Timestamps};
use std::cell::RefCell;
use std::mem::MaybeUninit;

const MSS: u32 = 1000;
const MOBILE_PORT: u16 = 40_000;
const FIXED_PORT: u16 = 80;
const HARDWARE: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

/// A fixed host, a mobile host, and the programs between them.
struct Station {
    programs: Programs<'static>,
    addresses: Addresses,
    timestamps: Option<Timestamps>,
    /// The last output, behind the Ethernet header.
    out: RefCell<Vec<u8>>,
}

impl Station {
    /// `None`, with a message, if this process may not load programs.
    fn new(parameters: &Parameters) -> Option<Station> {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let programs = match Programs::load(object, ETHERNET_LEN, parameters) {
            Ok(programs) => programs,
            Err(error) if !nix::unistd::geteuid().is_root() => {
                eprintln!("skipped: {error}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 1, 0, 2].into() };
        Some(Station { programs, addresses, timestamps: None, out: RefCell::default() })
    }

    fn data(&self, position: u32, len: u32) -> Vec<u8> {
        let segment = Segment { seq: Seq(1 + position), len, ..self.plain(1) };
        self.frame(self.forward(), Ecn::NotEct, &segment)
    }

    fn ack(&self, position: u32) -> Vec<u8> {
        self.frame(self.forward().reversed(), Ecn::NotEct, &self.plain(1 + position))
    }

    fn plain(&self, ack: u32) -> Segment {
        let timestamps = self.timestamps;
        Segment {
            seq: Seq(1),
            ack: Seq(ack),
            flags: Flags::ACK,
            window: 1000,
            timestamps,
            ..Segment::default()
        }
    }

    fn forward(&self) -> Endpoints {
        let ports = Ports { source: FIXED_PORT, destination: MOBILE_PORT };
        Endpoints { addresses: self.addresses, ports }
    }

    fn frame(&self, endpoints: Endpoints, ecn: Ecn, segment: &Segment) -> Vec<u8> {
        let mut packet = vec![0; 2000];
        let payload = vec![7; segment.len as usize];
        let len = encode_tcp(&endpoints, ecn, segment, &payload, &mut packet).unwrap();
        let ether_type: [u8; 2] = match self.addresses {
            Addresses::V4 { .. } => [0x08, 0x00],
            Addresses::V6 { .. } => [0x86, 0xdd],
        };
        [&HARDWARE, &ether_type[..], &packet[..len]].concat()
    }

    /// From the fixed host.
    fn goes(&self, frame: &[u8]) -> Verdict {
        let run = self.programs.data(frame).unwrap();
        *self.out.borrow_mut() = run.frame;
        run.verdict
    }

    /// From the mobile host.
    fn comes(&self, frame: &[u8]) -> Verdict {
        self.programs.acks(frame).unwrap().verdict
    }

    /// Sends five segments, of which the first three are acknowledged.
    fn under_way(self) -> Station {
        for index in 0..5 {
            assert_eq!(self.goes(&self.data(index * MSS, MSS)), Verdict::Pass);
        }
        assert_eq!(self.comes(&self.ack(3 * MSS)), Verdict::Pass);
        self
    }
}

#[test]
fn every_second_copy_is_answered_with_the_mobile_hosts_last_ack() {
    let v6 = Addresses::V6 {
        source: [1, 0, 0, 0, 0, 0, 0, 9].into(),
        destination: [1, 0, 0, 0, 0, 0, 0, 8].into(),
    };
    let stamps = Some(Timestamps { value: 77, echo: 55 });
    for (addresses, timestamps) in [(None, None), (None, stamps), (Some(v6), None), (Some(v6), stamps)] {
        let Some(mut station) = Station::new(&Parameters::default()) else { return };
        station.addresses = addresses.unwrap_or(station.addresses);
        station.timestamps = timestamps;
        let station = station.under_way();
        let mut duplicate = station.plain(1 + 3 * MSS);
        duplicate.sack.push(Seq(1 + 4 * MSS), Seq(1 + 5 * MSS));
        let back = station.forward().reversed();
        station.comes(&station.frame(back, Ecn::NotEct, &duplicate));
        for _ in 0..3 {
            let copy = station.data(MSS, MSS);
            assert_eq!(station.goes(&copy), Verdict::Drop);
            assert_eq!(station.goes(&copy), Verdict::Answer);
            let out = station.out.borrow();
            assert_eq!(out[..12], [&HARDWARE[6..], &HARDWARE[..6]].concat());
            // This checks both checksums.
            let answer = decode_tcp(&out[14..]).unwrap();
            assert_eq!(answer.endpoints, back);
            let expected = Segment { len: 0, ..duplicate };
            assert_eq!(answer.segment, expected);
        }
        let totals = station.programs.totals().unwrap();
        assert_eq!((totals.data_dropped, totals.data_answered, totals.answers_failed), (6, 3, 0));
        assert_eq!(totals.flows_understood, 1);
    }
}

#[test]
fn duplicate_acks_are_held_back_up_to_the_threshold() {
    for (threshold, passing) in
        [(3, vec![1, 2, 3, 4, 5, 6]), (6, vec![2, 4, 6]), (9, vec![3, 6]), (12, vec![4])]
    {
        let Some(station) = Station::new(&Parameters { threshold, ..Parameters::default() }) else { return };
        let station = station.under_way();
        let passed = (1..=6).filter(|_| station.comes(&station.ack(3 * MSS)) == Verdict::Pass);
        assert_eq!(passed.collect::<Vec<_>>(), passing, "{threshold}");
        assert_eq!(station.comes(&station.ack(2 * MSS)), Verdict::Drop, "an old one");
        assert_eq!(station.comes(&station.ack(4 * MSS)), Verdict::Pass);
    }
}

/// The filter ignores whatever is not a plain TCP packet.
#[test]
fn other_packets_pass_untouched() {
    let Some(station) = Station::new(&Parameters::default()) else { return };
    let station = station.under_way();
    let copy = station.data(0, MSS);
    let changed = |at: usize, byte: u8| {
        let mut frame = copy.clone();
        frame[at] = byte;
        frame
    };
    let cases = [
        ("IPv4 options", changed(14, 0x46)),
        ("more fragments", changed(20, 0x20)),
        ("a later fragment", changed(21, 1)),
        ("UDP", changed(23, 17)),
        ("a length beyond the frame", changed(16, 0x7f)),
        ("a length within the headers", changed(17, 30)),
        ("a data offset below 5", changed(46, 0x40)),
        ("a data offset beyond the packet", station.data(0, 1)[..].to_vec().tap(|f| f[46] = 0xf0)),
        ("ARP", changed(13, 6)),
        ("a tag", changed(12, 0x81)),
        ("cut short", copy[..40].to_vec()),
    ];
    let before = station.programs.totals().unwrap();
    for (what, frame) in cases {
        assert_eq!(station.goes(&frame), Verdict::Pass, "{what}");
        assert_eq!(*station.out.borrow(), frame, "{what}");
        station.comes(&frame);
    }
    assert_eq!(station.programs.totals().unwrap().data_dropped, before.data_dropped);
    assert_eq!(station.goes(&copy), Verdict::Drop);
}

/// An ACK with options in no known layout is ignored.
#[test]
fn options_that_are_not_understood_are_let_alone() {
    let Some(mut station) = Station::new(&Parameters::default()) else { return };
    station.timestamps = Some(Timestamps { value: 1, echo: 1 });
    let station = station.under_way();
    let mut odd = station.ack(3 * MSS);
    odd[54] = 3;
    for _ in 0..6 {
        assert_eq!(station.comes(&odd), Verdict::Pass);
    }
    assert_eq!(station.programs.totals().unwrap().acks_held, 0);
}

#[test]
fn a_flow_ends_with_syn_rst_fins_and_idleness() {
    let Some(station) = Station::new(&Parameters::default()) else { return };
    let mut station = station.under_way();
    for flags in [Flags::SYN, Flags::RST] {
        let end = Segment { flags, ..station.plain(1) };
        assert_eq!(station.goes(&station.frame(station.forward(), Ecn::NotEct, &end)), Verdict::Pass);
        assert_eq!(
            station.goes(&station.data(0, MSS)),
            Verdict::Pass,
            "{flags:?}: nothing is known any more"
        );
        station = station.under_way();
    }
    let fin =
        |ack: u32, seq: u32| Segment { seq: Seq(seq), flags: Flags::ACK | Flags::FIN, ..station.plain(ack) };
    let there = station.frame(station.forward(), Ecn::NotEct, &fin(1, 1 + 5 * MSS));
    let back = station.frame(station.forward().reversed(), Ecn::NotEct, &fin(2 + 5 * MSS, 1));
    let last = Segment { seq: Seq(2 + 5 * MSS), ..station.plain(2) };
    assert_eq!(station.goes(&there), Verdict::Pass);
    assert_eq!(station.comes(&back), Verdict::Pass);
    assert_eq!(station.programs.flows().unwrap().len(), 1);
    assert_eq!(station.goes(&station.frame(station.forward(), Ecn::NotEct, &last)), Verdict::Pass);
    assert_eq!(station.programs.flows().unwrap().len(), 0);
}

/// Forged flows displace none that is understood, and get no ACK.
#[test]
fn a_flood_of_strangers_crowds_out_nobody() {
    let parameters = Parameters { max_flows: 64, ..Parameters::default() };
    let Some(station) = Station::new(&parameters) else { return };
    let station = station.under_way();
    let mut strange = station.data(0, MSS);
    for number in 0..100_000u32 {
        // An address and a port of its own, and an ACK of what nobody has sent.
        strange[26..30].copy_from_slice(&(0x0b00_0000 + number / 50_000).to_be_bytes());
        strange[34..36].copy_from_slice(&((number % 50_000) as u16).to_be_bytes());
        assert_eq!(station.programs.data(&strange).unwrap().verdict, Verdict::Pass);
    }
    assert_eq!(station.programs.flows().unwrap().len(), 1);
    assert_eq!(station.goes(&station.data(0, MSS)), Verdict::Drop);
    assert_eq!(station.goes(&station.data(0, MSS)), Verdict::Answer);
}

trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Tap for Vec<u8> {}

/// The cost of a packet. `cargo test --release -p airtcp-kernel --test filter cost -- --ignored --nocapture` prints it.
#[test]
#[ignore = "a measurement"]
fn cost() {
    let Some(mut station) = Station::new(&Parameters::default()) else { return };
    station.timestamps = Some(Timestamps { value: 77, echo: 55 });
    let station = station.under_way();
    let mut sack = SackBlocks::default();
    sack.push(Seq(1 + 4 * MSS), Seq(1 + 5 * MSS));
    let duplicate = Segment { sack, ..station.plain(1 + 3 * MSS) };
    let back = station.forward().reversed();
    let stranger = Endpoints { ports: Ports { source: 1, destination: 2 }, ..station.forward() };
    for (what, is_data, frame) in [
        ("new data", true, station.data(4 * MSS, MSS)),
        ("a copy that is dropped or answered", true, station.data(0, MSS)),
        ("an old ACK", false, station.ack(2 * MSS)),
        ("a duplicate with SACK", false, station.frame(back, Ecn::NotEct, &duplicate)),
        (
            "a stranger's SYN",
            true,
            station.frame(stranger, Ecn::NotEct, &Segment { flags: Flags::SYN, ..station.plain(1) }),
        ),
    ] {
        println!("{what}: {:?}", station.programs.cost(is_data, &frame, 1_000_000).unwrap());
    }
}
