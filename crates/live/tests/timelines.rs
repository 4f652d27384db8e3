//! Every timeline that holds for the kernel, played to its TCP through a TUN device: in real time, each in a network
//! namespace of its own, many at once.

#[path = "timelines/host.rs"]
mod host;
#[path = "timelines/kernel.rs"]
mod kernel;
#[path = "timelines/socket.rs"]
mod socket;

use airtcp_live::emulate::be_on_time;
use airtcp_timeline::{Backend, EARLY, Shelved, chosen, judge, play, shelf, transcript};
use airtcp_wire::Dur;
use host::Host;
use kernel::Kernel;
use nix::sched::{CloneFlags, unshare};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many are played at once. They sleep most of the time.
const AT_ONCE: usize = 24;

/// A play in which this process itself was late is void, and repeated so often at most.
const ATTEMPTS: usize = 8;

/// What this process may be late by. Where it was later than [`EARLY`], a sample of the round trip may be too short: then
/// only what holds counts.
const LATE: Dur = Dur::from_millis(3);

#[test]
fn timelines_hold_for_the_kernel() {
    if !is_permitted() {
        return;
    }
    let shelf = shelf().unwrap_or_else(|wrong| panic!("{wrong}"));
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(shelved) = shelf.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failure = failure(shelved);
                    failed.lock().unwrap().extend(failure);
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort();
    assert!(failed.is_empty(), "{} of {} fail\n\n{}", failed.len(), shelf.len(), failed.join("\n"));
}

/// May this process make network namespaces and TUN devices?
fn is_permitted() -> bool {
    let attempt = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        Host::new(&airtcp_timeline::Setup::default()).map(|_| ())
    });
    match attempt.join().expect("nothing there panics") {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            eprintln!("SKIPPED: no network namespace with a TUN device here (needs root): {error}");
            false
        }
        tried => tried.is_ok() || panic!("{tried:?}"),
    }
}

fn failure(shelved: &Shelved) -> Option<String> {
    let Shelved { name, timeline } = shelved;
    let verdict = (0..ATTEMPTS).find_map(|_| attempt(shelved));
    match (timeline.holds_for(Backend::Kernel), verdict) {
        (_, None) => Some(format!("{name}: this host was too late in each of {ATTEMPTS} attempts\n")),
        (true, Some(Err(report))) => Some(format!("{name}: {report}")),
        (false, Some(Ok(()))) => Some(format!("{name}: it holds for the kernel, too, and must say so\n")),
        _ => None,
    }
}

/// The verdict; `None` where the attempt is void.
fn attempt(shelved: &Shelved) -> Option<Result<(), String>> {
    let Shelved { name, timeline } = shelved;
    let work = || {
        unshare(CloneFlags::CLONE_NEWNET).expect("permitted a moment ago");
        let host = Host::new(&timeline.setup).unwrap_or_else(|error| panic!("{name}: {error}"));
        be_on_time();
        let mut kernel = Kernel::new(host);
        let played = play(timeline, &mut kernel);
        if chosen().is_some() {
            eprintln!("{name}\n{}", transcript(&played));
        }
        let verdict = judge(timeline, &played);
        let may_be_late = if verdict.is_ok() { LATE } else { EARLY };
        (kernel.lateness() <= may_be_late).then_some(verdict)
    };
    thread::scope(|scope| scope.spawn(work).join()).expect("a play does not panic")
}
