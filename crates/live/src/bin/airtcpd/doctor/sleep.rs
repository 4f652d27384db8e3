//! How late the kernel wakes a process.

use airtcp_live::emulate::Clock;
use airtcp_wire::Dur;

const SLEEPS: usize = 300;
const ASKED: Dur = Dur::from_millis(1);

pub struct Lateness {
    pub median: Dur,
    /// The 99th percentile.
    pub p99: Dur,
}

/// Sleeps a few hundred times for 1 ms, with the emulator's timer slack.
pub fn lateness() -> Lateness {
    let thread = std::thread::spawn(|| {
        let _ = nix::sys::prctl::set_timerslack(1);
        let clock = Clock::start();
        let mut late: Vec<Dur> = (0..SLEEPS).map(|_| overslept(&clock)).collect();
        late.sort_unstable();
        Lateness { median: late[SLEEPS / 2], p99: late[SLEEPS - 1 - SLEEPS / 100] }
    });
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[allow(clippy::disallowed_methods, reason = "sleeping is what is measured")]
fn overslept(clock: &Clock) -> Dur {
    let before = clock.now();
    std::thread::sleep(std::time::Duration::from_nanos(ASKED.0));
    clock.now().since(before).saturating_sub(ASKED)
}
