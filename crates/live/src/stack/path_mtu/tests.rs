use super::*;
use proptest::prelude::*;

const USEFUL: u32 = 1500;

fn at(seconds: u64) -> Time {
    Time::ZERO + Dur::from_secs(seconds)
}

/// Sends a trial, if one is due, over a path that carries packets of up to `passes` bytes. Returns its size.
fn attempt(path: &mut PathMtu, now: Time, passes: u32) -> Option<u32> {
    let size = path.poll_trial(now, USEFUL)?;
    path.begin_trial(size, 1000..2000);
    assert_eq!((path.longest_from(1500), path.longest_from(2000)), (size, path.longest()));
    match size <= passes {
        true => _ = path.handle_ack(now, 2000),
        false => path.handle_resent(now, 1000),
    }
    Some(size)
}

/// The sizes that are tried until the search rests or ends.
fn search(path: &mut PathMtu, mut now: Time, passes: u32) -> (Vec<u32>, Time) {
    let mut sizes = Vec::new();
    for _ in 0..1000 {
        match attempt(path, now, passes) {
            Some(size) => sizes.push(size),
            None if now < path.try_at && path.try_at < now + AGE => now = path.try_at,
            None => break,
        }
    }
    (sizes, now)
}

/// RFC 1191 §6.3.
#[test]
fn a_routers_word_is_believed_for_ten_minutes() {
    let mut path = PathMtu::new(1500, true);
    assert!(path.handle_too_big(at(0), 7, 1400) && !path.handle_too_big(at(1), 7, 1400));
    assert_eq!((path.longest(), path.poll_trial(at(599), USEFUL)), (1400, None));
    assert_eq!(search(&mut path, at(600), 1500).0, [1500]);
    assert_eq!((path.longest(), path.poll_trial(at(9999), USEFUL)), (1500, None));
}

/// RFC 1191 §3: the router tells again, and need not be asked for another ten minutes.
#[test]
fn a_trial_that_a_router_refuses_ends_at_once() {
    let mut path = PathMtu::new(1500, true);
    path.handle_too_big(at(0), 7, 1300);
    let size = path.poll_trial(at(600), USEFUL).unwrap();
    path.begin_trial(size, 1000..2000);
    assert!(!path.handle_too_big(at(600), 2000, 1400), "it quotes another segment");
    assert!(path.handle_too_big(at(600), 1000, 1400));
    assert_eq!((path.longest(), path.poll_trial(at(1199), USEFUL)), (1400, None));
}

#[test]
fn no_claim_lowers_it_below_what_every_path_carries() {
    for (is_ipv4, least) in [(true, 552), (false, 1280)] {
        let mut path = PathMtu::new(1500, is_ipv4);
        path.handle_too_big(at(0), 7, 0);
        assert_eq!(path.longest(), least);
        for expiries in 0..20 {
            path.handle_expiry(at(0), expiries, USEFUL);
        }
        assert_eq!(path.longest(), least);
    }
}

/// RFC 4821 §7.7.
#[test]
fn timeouts_of_long_packets_shorten_them() {
    let mut path = PathMtu::new(1500, true);
    assert!(!path.handle_expiry(at(0), 3, 1500), "a link may be out for a moment");
    assert!(!path.handle_expiry(at(0), 4, 500), "short ones do not get through, either");
    assert!(path.handle_expiry(at(0), 4, 1500));
    assert_eq!(path.longest(), 1024);
    assert!(path.handle_expiry(at(1), 5, 1500));
    assert!(!path.handle_expiry(at(1), 6, 1500));
    assert_eq!((path.longest(), path.poll_trial(at(60), USEFUL)), (552, None));
    assert_eq!(search(&mut path, at(61), 1500).0, [1500], "it was an outage");
}

#[test]
fn the_first_link_counts_at_once() {
    let mut path = PathMtu::new(1500, true);
    path.handle_link(at(0), 1280);
    assert_eq!(path.longest(), 1280);
    path.handle_link(at(1), 1500);
    assert_eq!((path.longest(), path.poll_trial(at(1), USEFUL)), (1500, None));
    // What lies beyond may have been lowered together with it, and raised.
    path.handle_too_big(at(2), 7, 1280);
    path.handle_link(at(2), 1280);
    path.handle_link(at(3), 1500);
    assert_eq!(search(&mut path, at(3), 1500).0, [1500]);
}

proptest! {
    /// The search ends close to what passes, below it, after few tries; and so does the next one, if that has changed.
    #[test]
    fn a_search_finds_what_passes(passes in prop::collection::vec(552u32..1600, 1..5), is_lossy: bool) {
        let mut path = PathMtu::new(1500, true);
        path.handle_expiry(at(0), 9, 1500);
        path.handle_expiry(at(0), 9, 1500);
        let mut now = at(61);
        for passes in passes {
            while path.longest() > passes {
                path.handle_expiry(now, 9, 1500);
            }
            now = now + AGE + AGE;
            if is_lossy && path.poll_trial(now, USEFUL).is_some() {
                attempt(&mut path, now, 0);
                now += PAUSE;
            }
            let (sizes, end) = search(&mut path, now, passes);
            let found = path.longest();
            prop_assert!(found <= passes && found + 2 * CLOSE >= passes.min(1500), "{sizes:?}: {found} of {passes}");
            prop_assert!(sizes.len() <= 3 * 8, "{sizes:?}");
            now = end;
        }
    }
}
