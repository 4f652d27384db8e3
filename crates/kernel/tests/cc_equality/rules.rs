//! What the kernel leaves to its hooks: windows that survive PRR and timeouts, ECN-Echo within recovery, the
//! CWR that is owed to the receiver, and reductions that are undone.

use airtcp_kernel::cc;
use airtcp_kernel_host::{Ack, Machine};
use std::collections::BTreeMap;

const MSS: u32 = 1000;

/// A sender with a full window, over a path of 50 ms.
struct Sender {
    machine: Machine,
    ack: Ack,
}

impl Sender {
    /// In congestion avoidance, with a cwnd of 40 segments.
    fn new(scheme: &str) -> Sender {
        let controller = cc::find(scheme).unwrap();
        let params = controller.stored(&BTreeMap::new()).unwrap();
        let machine = Machine::new(controller.kernel_name, &params, MSS, 40, 0);
        let ack = Ack {
            now_us: 1_000_000,
            nxt: 40 * MSS,
            packets_out: 40,
            in_flight: 40,
            srtt_us: 50_000,
            is_cwnd_limited: true,
            ..Ack::default()
        };
        let mut sender = Sender { machine, ack };
        // No growth, but a measurement, and a first ssthresh.
        sender.ack.is_cwnd_limited = false;
        sender.acked(1);
        sender.ack.is_cwnd_limited = true;
        sender
    }

    /// Acknowledges `segments` 50 ms later, and sends as many.
    fn acked(&mut self, segments: u32) {
        self.acked_after(segments, 50_000);
    }

    fn acked_after(&mut self, segments: u32, rtt_us: i32) {
        self.ack.now_us += 50_000;
        self.ack.una += segments * MSS;
        self.ack.nxt += segments * MSS;
        (self.ack.acked, self.ack.delivered, self.ack.rtt_us) = (segments, segments, rtt_us);
        self.machine.ack(&self.ack);
    }

    /// Reports a loss by SACK, with or without ECN-Echo.
    fn loss(&mut self, is_echoed: bool) {
        self.machine.ack(&Ack {
            acked: 0,
            delivered: 1,
            rtt_us: -1,
            in_flight: 30,
            is_loss: true,
            is_echoed,
            ..self.ack
        });
    }

    /// Acknowledges the whole window.
    fn recover(&mut self) {
        self.acked(40);
    }

    fn echo(&mut self) {
        self.machine.ack(&Ack { acked: 0, delivered: 1, rtt_us: -1, is_echoed: true, ..self.ack });
    }

    fn timeout(&mut self) {
        self.ack.now_us += 1_000_000;
        self.machine.timeout(self.ack.now_us, 40);
    }

    fn cwnd(&self) -> u32 {
        self.machine.view().cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.machine.view().ssthresh
    }

    fn owes_cwr(&self) -> bool {
        self.machine.view().owes_cwr == 1
    }
}

/// TCP_INFINITE_SSTHRESH.
const NONE: u32 = 0x7fff_ffff;

#[test]
fn a_loss_that_is_not_answered_leaves_cwnd_and_ssthresh_through_prr() {
    for scheme in ["spectcp", "jersey", "new-jersey"] {
        let mut sender = Sender::new(scheme);
        sender.loss(false);
        assert!(sender.machine.view().is_lowering() && !sender.owes_cwr(), "{scheme}");
        sender.recover();
        assert_eq!((sender.cwnd(), sender.ssthresh()), (40, NONE), "{scheme}");
        let counted = sender.machine.counters();
        assert_eq!((counted.losses_corruption, counted.reductions, counted.reductions_avoided), (1, 0, 1));
    }
}

#[test]
fn ecn_echo_in_a_recovery_that_was_not_answered_reduces_once() {
    let mut sender = Sender::new("spectcp");
    sender.loss(false);
    sender.echo();
    assert!(sender.owes_cwr());
    sender.echo();
    sender.recover();
    assert_eq!((sender.cwnd(), sender.ssthresh()), (20, 20));
    let counted = sender.machine.counters();
    assert_eq!((counted.losses_corruption, counted.ecn_echoes, counted.reductions), (1, 1, 1));
}

/// With 30 in flight and one delivered, PRR would let two be sent. A window that is left alone keeps the
/// sending rate.
#[test]
fn prr_has_a_say_in_reductions_alone() {
    for (scheme, allowed) in [("spectcp", 40), ("veno", 32)] {
        let mut sender = Sender::new(scheme);
        sender.loss(false);
        assert_eq!(sender.machine.view().snd_cwnd, allowed, "{scheme}");
    }
}

/// RFC 3168 §6.1.2: once per window. The recovery in which ECN-Echo was answered ends before the CWR has
/// arrived, so that the echo goes on.
#[test]
fn an_echo_that_outlives_its_recovery_is_not_answered_again() {
    let mut sender = Sender::new("spectcp");
    sender.loss(false);
    sender.ack.nxt += 30 * MSS;
    sender.echo();
    assert_eq!(sender.cwnd(), 20);
    sender.machine.send_cwr();
    (sender.ack.una, sender.ack.is_echoed) = (sender.ack.una + 40 * MSS, true);
    sender.machine.ack(&sender.ack);
    assert_eq!((sender.machine.view().state, sender.machine.view().snd_cwnd, sender.ssthresh()), (2, 20, 20));
    assert!(!sender.owes_cwr());
    assert_eq!(sender.machine.counters().ecn_echoes, 1);
    // The whole window is acknowledged: an echo now is news.
    sender.acked(31);
    sender.acked(1);
    assert_eq!((sender.cwnd(), sender.machine.counters().ecn_echoes), (10, 2));
}

/// Nor is the echo that comes with the window's last ACK: CWR is on its way.
#[test]
fn an_echo_before_the_cwr_is_acknowledged_is_not_answered_again() {
    let mut sender = Sender::new("spectcp");
    sender.loss(true);
    sender.ack.is_echoed = true;
    sender.recover();
    assert_eq!((sender.cwnd(), sender.machine.counters().ecn_echoes), (20, 1));
}

#[test]
fn ecn_echo_with_the_loss_makes_it_congestion() {
    let mut sender = Sender::new("spectcp");
    sender.loss(true);
    sender.recover();
    assert_eq!((sender.cwnd(), sender.ssthresh()), (20, 20));
}

/// Paper 002 §II: a timeout "without receiving any ECN-ECHO packet" is corruption. RFC 5681 §3.1: one that is not leaves one
/// segment.
#[test]
fn spectcps_window_survives_a_timeout_unless_congestion_was_told() {
    let mut sender = Sender::new("spectcp");
    sender.timeout();
    assert_eq!((sender.cwnd(), sender.ssthresh()), (40, NONE));
    // The kernel owes a CWR after any timeout; the next ACK withdraws it.
    sender.acked(1);
    assert!(!sender.owes_cwr());
}

#[test]
fn a_timeout_after_ecn_echo_is_congestion() {
    let mut sender = Sender::new("spectcp");
    sender.echo();
    sender.timeout();
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1, 10));
    assert_eq!(sender.machine.counters().timeouts, 1);
}

/// A timer that expires within an unanswered recovery asks again, with the window of the loss.
#[test]
fn a_timeout_in_an_unanswered_recovery_is_answered() {
    let mut sender = Sender::new("veno");
    sender.loss(false);
    assert_eq!(sender.cwnd(), 32);
    sender.timeout();
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1, 20));
    let counted = sender.machine.counters();
    assert_eq!((counted.losses(), counted.timeouts, counted.reductions), (1, 1, 2));
}

#[test]
fn a_cwr_that_was_owed_before_stays() {
    let mut sender = Sender::new("spectcp");
    sender.echo();
    assert!(sender.owes_cwr());
    sender.recover();
    // The window that follows has ended, and CWR with it; the receiver has not been told yet.
    sender.acked(1);
    sender.loss(false);
    assert!(sender.owes_cwr());
    sender.machine.send_cwr();
    sender.recover();
    sender.loss(false);
    assert!(!sender.owes_cwr());
}

/// Eq. (2) with BaseRTT 50 ms and 40 segments: 14 are in queues at an RTT of 76.9 ms, 16 at 83.3 ms.
#[test]
fn westwood_vt_judges_by_what_is_queued() {
    for (rtt_ms, corruption, undecided, congestion) in [(75, 1, 0, 0), (80, 0, 1, 0), (90, 0, 0, 1)] {
        let mut sender = Sender::new("westwood-vt");
        // Out of slow start, in which it does not judge.
        sender.echo();
        sender.recover();
        sender.acked(1);
        while sender.cwnd() < 40 {
            sender.acked(sender.cwnd());
        }
        let before = sender.machine.counters();
        sender.acked_after(1, rtt_ms * 1000);
        sender.loss(false);
        let counted = sender.machine.counters();
        let judged = (counted.losses_corruption, counted.losses_undecided, counted.losses_congestion);
        assert_eq!(judged, (corruption, undecided, congestion), "{rtt_ms} ms");
        assert_eq!(counted.reductions - before.reductions, congestion);
    }
}

#[test]
fn a_reduction_in_vain_is_taken_back() {
    for scheme in ["veno", "vegas", "hybla", "westwood-nr", "spectcp"] {
        for is_timeout in [false, true] {
            let mut sender = Sender::new(scheme);
            if is_timeout {
                sender.timeout()
            } else {
                sender.loss(false)
            }
            sender.machine.undo();
            assert_eq!((sender.cwnd(), sender.ssthresh()), (40, NONE), "{scheme}");
        }
    }
}

/// A timeout in slow start divides by a larger factor each time. A spurious event, reduced for or not, does not
/// change that.
#[test]
fn a_loss_in_vain_leaves_westwoods_factor() {
    let ssthresh_after = |scheme: &str, is_loss_in_vain: bool| {
        let mut sender = Sender::new(scheme);
        // 50 segments in 50 ms.
        for _ in 0..1000 {
            sender.ack.now_us += 1000;
            sender.ack.una += MSS;
            (sender.ack.acked, sender.ack.delivered, sender.ack.rtt_us) = (1, 1, 50_000);
            sender.machine.ack(&Ack { is_cwnd_limited: false, ..sender.ack });
        }
        sender.ack.nxt = sender.ack.una + 40 * MSS;
        sender.acked(1);
        sender.timeout();
        assert_eq!(sender.ssthresh(), 38, "{scheme}");
        sender.recover();
        sender.recover();
        if is_loss_in_vain {
            sender.loss(false);
            sender.machine.undo();
        }
        sender.machine.restart(10);
        sender.timeout();
        sender.ssthresh()
    };
    for scheme in ["westwood-nr", "westwood-vt"] {
        assert_eq!(ssthresh_after(scheme, true), ssthresh_after(scheme, false), "{scheme}");
    }
}

/// `airtcpd cc set` applies to existing sockets, too: slow start on a path of 50 ms grows by 2^2 - 1 segments
/// per ACK, or by one.
#[test]
fn hybla_grows_by_its_parameters_as_they_are() {
    let mut sender = Sender::new("hybla");
    sender.acked(1);
    assert_eq!(sender.cwnd(), 43);
    let reference = BTreeMap::from([("rtt0_ms".to_owned(), 50.0)]);
    sender.machine.set_params(&cc::find("hybla").unwrap().stored(&reference).unwrap());
    sender.acked(1);
    assert_eq!(sender.cwnd(), 44);
}

/// A loss without a reduction is counted: PRR has no effect, and the receiver does not hear of it. ECN-Echo is
/// answered once.
#[test]
fn concord_reduces_for_ecn_echo_in_a_recovery_and_not_for_the_loss() {
    let mut sender = Sender::new("concord");
    sender.loss(false);
    let view = sender.machine.view();
    assert!(view.is_lowering() && view.snd_cwnd >= 40 && view.owes_cwr == 0, "{view:?}");
    let before = sender.cwnd();
    sender.echo();
    assert!(sender.cwnd().abs_diff(before * 7 / 10) <= 1, "{} of {before}", sender.cwnd());
    assert!(sender.owes_cwr());
    let answered = sender.cwnd();
    sender.echo();
    assert_eq!((sender.cwnd(), sender.machine.counters().ecn_echoes), (answered, 1));
    sender.recover();
    assert_eq!(sender.ssthresh(), NONE);
}

/// The last event is what proves spurious: a timeout, or a loss after it for which nothing was reduced.
#[test]
fn a_timeout_in_vain_leaves_concords_window_until_a_loss() {
    let mut sender = Sender::new("concord");
    sender.timeout();
    assert_eq!(sender.cwnd(), 1);
    sender.machine.undo();
    assert_eq!(sender.cwnd(), 40);
    sender.timeout();
    sender.recover();
    sender.acked(1);
    sender.loss(false);
    let after = sender.cwnd();
    sender.machine.undo();
    assert_eq!(sender.cwnd(), after);
    assert_ne!(after, 40);
}

/// RFC 2861 §3.1, by CA_EVENT_TX_START.
#[test]
fn idleness_leaves_concord_the_restart_window() {
    let mut sender = Sender::new("concord");
    sender.ack.packets_out = 0;
    sender.acked(1);
    assert!(sender.cwnd() >= 40);
    sender.machine.restart(10);
    assert_eq!(sender.cwnd(), 10);
}

#[test]
fn what_has_not_begun_does_not_end() {
    for scheme in ["veno", "concord"] {
        let mut sender = Sender::new(scheme);
        let mut opened_and_closed = || {
            sender.machine.disconnect();
            let counted = sender.machine.counters();
            (counted.sockets_opened, counted.sockets_closed)
        };
        assert_eq!(opened_and_closed(), (1, 1));
        assert_eq!(opened_and_closed(), (1, 1));
    }
}
