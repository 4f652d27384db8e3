//! "The version of control TCP [...] can be any other version" (§4.1).

use crate::cc::declared::Declared;
use crate::circuit::world::{Link, World, ms};
use airtcp_proto::cc::controllers;
use airtcp_proto::circuit::Config;
use airtcp_proto::tcp::{TcpConfig, profile};
use airtcp_wire::{Bytes, Dur, Rate};

const RATE: Rate = Rate(4_000_000);
const ROOM: Dur = Dur::from_millis(60);

/// Share of the link that data and header packets take in the last three quarters of 20 s.
fn utilisation(config: &Config, tcp: &TcpConfig) -> f64 {
    let mut world = World::new(config, tcp);
    world.backlog = Some(Box::new(|| 1500));
    world.link = Some(Link::new(RATE, ROOM));
    world.run(ms(5_000));
    let before = world.link.as_ref().unwrap().crossed;
    world.run(ms(20_000));
    let crossed = world.link.as_ref().unwrap().crossed - before;
    crossed as f64 / RATE.bytes_in(Dur::from_secs(15)) as f64
}

fn on_linux(controller: &str) -> f64 {
    let tcp = TcpConfig { congestion_control: controller.to_owned(), ..profile::linux() };
    utilisation(&Config::default(), &tcp)
}

/// A delay-based controller may leave much of this short path empty, as one packet that waits, or one delayed ACK, lengthens
/// its RTT by far.
#[test]
fn every_controller_fills_a_link() {
    for spec in controllers() {
        let least = if Declared(spec.exemptions).is_delay_based() { 0.1 } else { 0.9 };
        let share = on_linux(spec.name);
        assert!(share > least, "{} fills {share:.2} of a circuit's link, not {least}", spec.name);
    }
}

#[test]
fn vegas_fills_a_link() {
    assert!(on_linux("vegas") > 0.9);
}

#[test]
fn every_profile_fills_a_link() {
    for profile in profile::PROFILES {
        let tcp = TcpConfig { congestion_control: "reno".to_owned(), ..(profile.config)() };
        let share = utilisation(&Config::default(), &tcp);
        assert!(share > 0.9, "{}: {share}", profile.name);
    }
}

#[test]
fn any_vmss_fills_it() {
    for vmss in [300, 1500, 3000, 9000] {
        // Of 9000 B, the path and its queue hold four: too few for fast retransmit, and to halve for data besides.
        let config = Config { vmss: Bytes(vmss), loss_reports: vmss < 9000, ..Config::default() };
        let share = utilisation(&config, &profile::rfc());
        assert!(share > 0.8, "{vmss}: {share}");
    }
}
