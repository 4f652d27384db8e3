//! Urgent data is passed on as ordinary data (RFC 6093 §6), wherever it stands in the stream.

use crate::decouple::{TO_MOBILE, pair, started, with_receiver};
use crate::rig::{MOBILE, Rig, Running, SERVER, eventually, listen};
use airtcp_live::proxy::{Counter, Limits};
use nix::sys::socket::{MsgFlags, send};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::thread;

/// What one of the two ends does.
#[derive(Clone, Debug)]
enum Act {
    Write(usize),
    /// The last of these bytes is urgent.
    Urge(usize),
    Finish,
    /// Waits until all that it has sent has come, so that a mark stands where nothing else waits.
    Settle,
}

/// Index of the end, and what it does.
type Play = Vec<(usize, Act)>;

fn play() -> impl Strategy<Value = Play> {
    let act = prop_oneof![
        4 => (1usize..5_000).prop_map(Act::Write),
        4 => (1usize..4).prop_map(Act::Urge),
        2 => Just(Act::Settle),
        1 => Just(Act::Finish),
    ];
    prop::collection::vec((0usize..2, act), 1..24)
}

/// In the first segment, twice in a row, in front of more, and with the FIN.
fn everywhere() -> Play {
    let one_end = |end| {
        use Act::{Finish, Settle, Urge, Write};
        let acts = [
            Urge(1),
            Write(2),
            Settle,
            Urge(1),
            Settle,
            Write(30),
            Settle,
            Urge(1),
            Urge(1),
            Urge(3),
            Finish,
        ];
        acts.map(|act| (end, act))
    };
    [one_end(0), one_end(1)].concat()
}

/// Plays, and finishes both ends. Each must get what the other one has sent.
fn perform(ends: [&TcpStream; 2], play: &Play) {
    let received = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];
    let mut sent = [Vec::new(), Vec::new()];
    let mut has_finished = [false; 2];
    let has_come = |from: usize, sent: &[u8]| received[1 - from].lock().unwrap().len() >= sent.len();
    thread::scope(|scope| {
        let readers = [0, 1].map(|end| {
            let received = &received[end];
            scope.spawn(move || {
                let mut bytes = [0; 4096];
                loop {
                    match (&mut &*ends[end]).read(&mut bytes).unwrap() {
                        0 => break,
                        len => received.lock().unwrap().extend_from_slice(&bytes[..len]),
                    }
                }
            })
        });
        for (end, act) in play.iter().cloned().chain([(0, Act::Finish), (1, Act::Finish)]) {
            let at = sent[end].len();
            let bytes = |len| (at..at + len).map(|at| (at * 7 + end) as u8).collect::<Vec<_>>();
            match act {
                _ if has_finished[end] => continue,
                Act::Write(len) => {
                    (&mut &*ends[end]).write_all(&bytes(len)).unwrap();
                    sent[end].extend(bytes(len));
                }
                Act::Urge(len) => {
                    let all = send(ends[end].as_raw_fd(), &bytes(len), MsgFlags::MSG_OOB).unwrap();
                    assert_eq!(all, len);
                    sent[end].extend(bytes(len));
                }
                Act::Settle => eventually(|| has_come(end, &sent[end]), &format!("all has come: {play:?}")),
                Act::Finish => {
                    ends[end].shutdown(Shutdown::Write).unwrap();
                    has_finished[end] = true;
                }
            }
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    for from in [0, 1] {
        assert!(*received[1 - from].lock().unwrap() == sent[from], "each gets all that was sent: {play:?}");
    }
}

/// Plays what is known to be hard, and then anything.
fn perform_many(perform: impl Fn(&Play)) {
    perform(&everywhere());
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    let performed = TestRunner::new(config).run(&play(), |play| {
        perform(&play);
        Ok(())
    });
    performed.unwrap();
}

fn through(rig: &Rig, proxy: Running) {
    perform_many(|play| {
        let (client, server) = rig.connect(&rig.mobile, &rig.server, SERVER);
        perform([&client, &server], play);
    });
    assert_eq!(proxy.get(Counter::Accepted), 13, "none goes by");
    proxy.awaits(Counter::Completed, 13);
    assert_eq!(proxy.get(Counter::Truncated), 0);
}

#[test]
fn between_two_sockets_of_the_kernel() {
    let Some(rig) = Rig::new(None) else { return };
    through(&rig, rig.proxy(Limits::default()));
}

#[test]
fn between_our_own_stack_and_a_socket() {
    let Some(rig) = Rig::new(None) else { return };
    through(&rig, rig.own("rto-m:m=10+gbn", Limits::default()));
}

#[test]
fn through_a_decoupling_socket() {
    with_receiver(None, |rig, _| {
        let daemon = started(rig, TO_MOBILE);
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        perform_many(|play| {
            let (near, far) = pair(&rig.base, &listener);
            perform([&near, &far], play);
        });
        eventually(|| daemon.count("completed_total") == 13, "all have closed");
        assert_eq!((daemon.count("accepted_total"), daemon.count("truncated_total")), (13, 0));
    });
}
