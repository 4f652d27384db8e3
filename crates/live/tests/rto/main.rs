//! Retransmission timers of the kernel's own connections, in namespaces. Needs root and Linux 6.15; skipped elsewhere.
#![allow(clippy::disallowed_methods, reason = "real time")]

#[path = "../emulator/attempts.rs"]
mod attempts;
mod bench;

use airtcp_kernel::rto::{self, RtoRule, Timer};
use airtcp_wire::Dur;
use attempts::one_of_a_few;
use bench::{Bench, Cgroup, ping, skipped, turn, user_timeout};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const MIN: Dur = Dur::from_secs(1);

/// A bench whose connections are under the rule.
fn under(rule: &RtoRule, cgroup: &Cgroup) -> (Bench, rto::Attached) {
    let bench = Bench::new(&rule.sysctls());
    let attached = rto::attach(&cgroup.path, rule).unwrap();
    cgroup.join();
    (bench, attached)
}

#[test]
fn the_rto_is_srtt_and_m_rttvar_where_delay_varies() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    one_of_a_few(|| {
        let (bench, attached) = under(&RtoRule::factor(10.0), &cgroup);
        let mut ends = bench.connect();
        assert_eq!(bench::rto(&ends.1), MIN, "the accepting end has it, too");
        let (mut longest, mut estimate, mut is_kept) = (Dur::ZERO, None, true);
        for delay in [20, 300, 150, 500, 40, 350, 80, 30, 30, 400] {
            bench.wire.set_delay_ms(delay);
            let before = Instant::now();
            ping(&mut ends);
            let wanted = rfc_6298(&mut estimate, before.elapsed().as_secs_f64()).max(1.0);
            let rto = bench::rto(&ends.0);
            println!("{rto}, wanted {wanted} s");
            // The program may see a round trip later than the kernel, and ten times the variation makes much of that.
            is_kept &= (rto.as_secs_f64() / wanted - 1.0).abs() < 0.05;
            longest = longest.max(rto);
        }
        assert!(longest > MIN + MIN / 2, "the delay has hardly varied: {longest}");
        let counters = attached.counters().unwrap();
        assert_eq!(counters, rto::Counters { connections: 2, ..rto::Counters::default() });
        Some(is_kept)
    });
}

/// The rule spares what bears another mark: so the two sides of a proxy differ.
#[test]
fn only_what_bears_the_mark() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    const MARK: u32 = 0x4200_0000;
    let rule = RtoRule { mark: Some(MARK), ..RtoRule::factor(10.0) };
    let bench = Bench::new(&[]);
    bench.server.run(|| rto::install(&cgroup.path, &rule)).unwrap().map(drop).unwrap();
    cgroup.join();
    let found = [0, MARK].map(|mark| bench::rto(&bench.accepted_under(mark)));
    bench.server.run(rto::uninstall).unwrap().unwrap();
    assert!(found[0] < MIN && found[1] == MIN, "{found:?}");
}

/// SRTT + 10·RTTVAR after one more sample, s (RFC 6298 §2).
fn rfc_6298(estimate: &mut Option<(f64, f64)>, sample: f64) -> f64 {
    let (srtt, rttvar) = match *estimate {
        None => (sample, sample / 2.0),
        Some((srtt, rttvar)) => {
            (srtt * 7.0 / 8.0 + sample / 8.0, rttvar * 3.0 / 4.0 + (srtt - sample).abs() / 4.0)
        }
    };
    *estimate = Some((srtt, rttvar));
    srtt + 10.0 * rttvar
}

#[test]
fn a_delay_spike_is_a_timeout_for_the_stock_timer_alone() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    let timeouts_of = |bench: Bench| {
        bench.wire.set_delay_ms(25);
        let mut ends = bench.connect();
        for _ in 0..8 {
            ping(&mut ends);
        }
        bench.wire.set_delay_ms(800);
        ping(&mut ends);
        bench.timeouts()
    };
    assert!(timeouts_of(Bench::new(&[])) > 0);
    let (bench, _attached) = under(&RtoRule::factor(10.0), &cgroup);
    assert_eq!(timeouts_of(bench), 0);
}

/// Gaps between a segment and its retransmissions in an outage, ms.
fn series(rule: &RtoRule, cgroup: &Cgroup, outage: Dur, bytes: usize) -> Vec<u64> {
    let (bench, attached) = under(rule, cgroup);
    bench.wire.set_delay_ms(10);
    let mut ends = bench.connect();
    for _ in 0..4 {
        ping(&mut ends);
    }
    ends.0.set_nonblocking(true).unwrap();
    let gaps = bench.wire.outage(outage, || {
        let _ = ends.0.write(&vec![1; bytes]).unwrap();
    });
    assert_eq!(attached.counters().unwrap().refused, 0);
    gaps
}

fn near(gap: u64, wanted: u64) -> bool {
    gap.abs_diff(wanted) <= 60
}

#[test]
fn back_off_doubles_the_rto_unless_it_is_linear() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    one_of_a_few(|| {
        let doubled = series(&RtoRule::factor(10.0), &cgroup, Dur::from_millis(3300), 1);
        println!("doubled: {doubled:?}");
        Some(matches!(doubled[..], [first, second] if near(first, 1000) && near(second, 2000)))
    });
    let linear = RtoRule { backoff: false, ..RtoRule::factor(10.0) };
    one_of_a_few(|| {
        let linear = series(&linear, &cgroup, Dur::from_millis(2300), 1);
        println!("linear: {linear:?}");
        Some(matches!(linear[..], [first, second] if near(first, 1000) && near(second, 1000)))
    });
}

/// RFC 6298 §5: a new measurement ends the back-off.
#[test]
fn once_a_round_trip_is_measured_again_the_rto_is_as_before_the_timeouts() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    one_of_a_few(|| {
        let (bench, _attached) = under(&RtoRule::factor(10.0), &cgroup);
        bench.wire.set_delay_ms(10);
        let mut ends = bench.connect();
        (0..4).for_each(|_| ping(&mut ends));
        // The last answer is to be acknowledged before the outage.
        std::thread::sleep(Duration::from_millis(300));
        let gaps = bench.wire.outage(Dur::from_millis(5500), || {
            // The kernel reports this round trip, and of no other before the whole window is acknowledged.
            bench.wire.spare(1);
            ends.0.write_all(&[1; 14_000]).unwrap();
            std::thread::sleep(Duration::from_millis(2500));
            // The head at the second expiry, whose answer sends for the rest.
            bench.wire.spare(1);
        });
        println!("a window out, its head repaired: {gaps:?}");
        let gaps: Vec<_> = gaps.into_iter().filter(|&gap| gap > 5).collect();
        Some(matches!(gaps[..], [1000..1200, 2000..2200, again, ..] if near(again, 1000)))
    });
}

#[test]
fn what_was_written_before_a_close_outlives_an_outage() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    let (bench, _attached) = under(&RtoRule::factor(10.0), &cgroup);
    let (mut client, mut server) = bench.connect();
    let data = vec![1; 10_000];
    let gaps = bench.wire.outage(Dur::from_millis(4000), || {
        client.write_all(&data).unwrap();
        drop(client);
    });
    println!("in the outage: {gaps:?}");
    server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut arrived = Vec::new();
    server.read_to_end(&mut arrived).unwrap();
    assert_eq!(arrived, data);
}

#[test]
fn a_short_longest_rto_gives_no_connection_up_early_and_shortens_no_keepalive() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    let short = RtoRule { max: MIN, ..RtoRule::factor(10.0) };
    for rule in
        [short, RtoRule { backoff: false, ..RtoRule::factor(10.0) }, RtoRule::floor(Dur::from_millis(50))]
    {
        let (bench, _attached) = under(&rule, &cgroup);
        let mut ends = bench.connect();
        ping(&mut ends);
        let before = user_timeout(&ends.0);
        let _ = bench.wire.outage(Dur::from_millis(1500), || ends.0.write_all(&[1]).unwrap());
        let meanwhile = user_timeout(&ends.0);
        ends.1.read_exact(&mut [0]).unwrap();
        (0..3).for_each(|_| ping(&mut ends));
        assert_eq!([before, meanwhile, user_timeout(&ends.0)], [0, 924_600, 0], "{rule}");
        cgroup.leave();
    }
}

#[test]
fn the_fine_timer_is_as_the_help_says() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    let rule = RtoRule::floor(Dur::from_millis(50));
    one_of_a_few(|| {
        let thin = series(&rule, &cgroup, Dur::from_millis(1500), 1);
        println!("one segment out: {thin:?}");
        let (first, rest) = thin.split_at(thin.len().min(7));
        let is_thin = first.len() == 7 && first.iter().all(|&gap| near(gap, 60));
        Some(is_thin && rest.iter().all(|&gap| gap < 1100))
    });
    one_of_a_few(|| {
        let full = series(&rule, &cgroup, Dur::from_millis(2500), 100_000);
        println!("a window out: {full:?}");
        let gaps: Vec<_> = full.iter().copied().filter(|&gap| gap > 5).collect();
        let doubles = gaps.windows(2).all(|pair| pair[1] <= 2 * pair[0] + 60);
        let ends = gaps.iter().all(|&gap| gap < 1100) && gaps.last() > Some(&300);
        Some(gaps.first().is_some_and(|&gap| near(gap, 60)) && doubles && ends)
    });
}

fn loopback(server: &TcpListener) -> (TcpStream, TcpStream) {
    let client = TcpStream::connect(server.local_addr().unwrap()).unwrap();
    (client, server.accept().unwrap().0)
}

/// A turn, and the cgroup of a rule that is to be installed; a host has one rule at a time.
fn for_an_install() -> Option<(impl Drop, Cgroup)> {
    if skipped() {
        return None;
    }
    let free = (turn(), Cgroup::new());
    if rto::installed().unwrap().is_some() {
        eprintln!("skipped: a rule is installed on this host");
        return None;
    }
    Some(free)
}

#[test]
fn others_of_the_namespace_keep_their_timer_and_off_restores_all() {
    let Some((_turn, cgroup)) = for_an_install() else { return };
    let namespace = airtcp_live::namespace::Namespace::new().unwrap();
    let work = || {
        let rtos = || {
            let (client, server) = loopback(&TcpListener::bind("127.0.0.1:0").unwrap());
            [bench::rto(&client), bench::rto(&server)]
        };
        let sysctls = || {
            ["tcp_rto_min_us", "tcp_no_metrics_save", "tcp_orphan_retries"].map(|name| {
                std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"))
                    .unwrap()
                    .trim()
                    .parse::<u64>()
                    .unwrap()
            })
        };
        let (stock, before) = (rtos(), sysctls());
        let early = TcpListener::bind("127.0.0.1:0").unwrap();
        cgroup.join();
        let old = TcpListener::bind("127.0.0.1:0").unwrap();
        cgroup.leave();
        let installed = rto::install(&cgroup.path, &RtoRule::factor(10.0)).unwrap();
        assert!(installed.is_guarded && installed.record.sysctls.len() == 3);
        assert_eq!(rtos(), stock, "outside the cgroup");
        assert_eq!(bench::rto(&loopback(&early).1), stock[0], "accepted by a listener from before");
        let again = rto::install(&cgroup.path, &RtoRule::factor(12.0)).err().unwrap().to_string();
        assert!(again.contains("; `airtcpd rto off` removes it"), "{again}");
        cgroup.join();
        assert_eq!(rtos(), [MIN, MIN], "inside");
        let old = loopback(&old);
        assert!(bench::rto(&old.1) < MIN, "accepted inside by a listener from before");
        let late = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut open = loopback(&late);
        let elsewhere = airtcp_live::namespace::Namespace::new().unwrap();
        assert_eq!(elsewhere.run(rtos).unwrap(), stock, "in another namespace");
        cgroup.leave();
        let counters = rto::installed().unwrap().unwrap().counters.unwrap();
        assert_eq!(
            counters,
            rto::Counters { connections: 5, foreign: 2, early: 1, ..rto::Counters::default() }
        );
        assert_eq!(sysctls(), [120_000_000, 1, 8]);
        assert_eq!(rto::uninstall().unwrap().unwrap().len(), 3);
        assert_eq!(sysctls(), before);
        cgroup.join();
        assert_eq!(rtos(), stock, "after off");
        let (client, server) = loopback(&late);
        let children = [client, server].map(|end| bench::rto(&end));
        assert!(
            children.iter().all(|&rto| rto < MIN),
            "listened under the rule, accepted after off: {children:?}"
        );
        assert_eq!(bench::rto(&open.1), MIN, "open at off");
        (0..30).for_each(|_| ping(&mut open));
        assert!(bench::rto(&open.1) < MIN, "and 30 round trips later");
        assert!(rto::uninstall().unwrap().is_none() && rto::installed().unwrap().is_none());
    };
    namespace.run(work).unwrap();
}

#[test]
fn off_takes_a_fine_timer_from_listeners() {
    let Some((_turn, cgroup)) = for_an_install() else { return };
    let stock = Dur::from_millis(200);
    let work = || {
        rto::install(&cgroup.path, &RtoRule::floor(Dur::from_millis(50))).unwrap();
        cgroup.join();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(bench::rto(&loopback(&listener).1) < stock);
        rto::uninstall().unwrap().unwrap();
        assert!(bench::rto(&loopback(&listener).1) >= stock, "accepted after off");
        cgroup.leave();
    };
    airtcp_live::namespace::Namespace::new().unwrap().run(work).unwrap();
}

#[test]
fn off_finds_a_namespace_that_no_process_is_in() {
    let Some((_turn, cgroup)) = for_an_install() else { return };
    let namespace = airtcp_live::namespace::Namespace::new().unwrap();
    let floor = || namespace.sysctl_value(rto::RTO_MIN_SYSCTL).unwrap();
    let before = floor();
    let install = || rto::install(&cgroup.path, &RtoRule::factor(10.0)).map(drop);
    namespace.run(install).unwrap().unwrap();
    assert_eq!(floor(), "120000000");
    let undone = rto::uninstall().unwrap().unwrap();
    assert_eq!(floor(), before, "{undone:?}");
}

#[test]
fn mistakes_change_nothing_and_name_the_cure() {
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    let refused = |path: &Path, rule: &RtoRule| rto::install(path, rule).err().unwrap().to_string();
    let rule = RtoRule::factor(10.0);
    assert!(refused(Path::new("/nowhere"), &rule).contains("/nowhere"));
    assert!(refused(Path::new("/tmp"), &rule).contains("/tmp is not a v2 cgroup"));
    if Path::new("/sys/fs/cgroup/cpu").exists() {
        assert!(refused(Path::new("/sys/fs/cgroup/cpu"), &rule).contains("but a v1 cgroup"));
    }
    let short = Timer::Factor { factor: 10.0, min: Dur::from_millis(200) };
    assert!(refused(&cgroup.path, &RtoRule { timer: short, ..rule }).contains("1s to 120s"));
    assert!(rto::installed().unwrap().is_none());
}

#[test]
fn without_rights_it_says_which() {
    use std::os::unix::process::CommandExt;
    if skipped() {
        return;
    }
    let (_turn, cgroup) = (turn(), Cgroup::new());
    let airtcpd =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_airtcpd")).args(arguments).uid(65534).output();
    let path = cgroup.path.to_str().unwrap();
    match airtcpd(&["rto", "--factor", "10", "--cgroup", path]) {
        Ok(output) => {
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success(), "{said}");
            assert!(said.contains("missing CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF: run as root"), "{said}");
        }
        Err(error) => eprintln!("skipped: {error}"),
    }
}
