//! The link in front of which the base station stands.

use super::good;

const WIRE: &str = "[[link]]\nname = \"wire\"\nrate = \"1Gbit/s\"\n";

/// The name of the link that stands for the wireless one.
fn wireless(text: &str) -> String {
    let mut scenario = good(text);
    scenario.links.swap_remove(scenario.base_station).name
}

/// Each behaviour is on a link beside two plain ones that are as fast and stand before and after it.
#[test]
fn the_wireless_link_is_the_one_that_behaves_so() {
    let behaviours = [
        "rate = \"1Gbit/s\"\nloss.packet = 1e-6",
        "rate = \"1Gbit/s\"\nloss.ber = 1e-9",
        "rate = \"1Gbit/s\"\nloss.burst = { to_bad = 0.001, to_good = 0.1 }",
        "rate = \"1Gbit/s\"\nloss.packets = [3]",
        "rate = \"1Gbit/s\"\nreverse = { loss = { packet = \"1%\" } }",
        "rate = \"1Gbit/s\"\noutages = { period = \"15s\", length = \"30ms\" }",
        "rate = \"1Gbit/s\"\nsteps = { period = \"15s\", high = \"10ms\" }",
        "trace = \"steady.trace\"",
        "channel = {}",
        "rate = \"999Mbit/s\"",
    ];
    for behaviour in behaviours {
        let odd = format!("[[link]]\nname = \"air\"\n{behaviour}\n");
        let other = WIRE.replace("wire", "other");
        for text in [format!("{odd}{WIRE}"), format!("{WIRE}{odd}"), format!("{other}{odd}{WIRE}")] {
            assert_eq!(wireless(&text), "air", "{text}");
        }
    }
}

#[test]
fn of_several_that_lose_it_is_the_one_that_loses_most_and_of_equals_the_last() {
    let link = |name: &str, loss: &str, rate: &str| {
        format!("[[link]]\nname = \"{name}\"\nrate = \"{rate}\"\nloss.packet = {loss}\n")
    };
    let (near, far) = (link("near", "0.02", "9Mbit/s"), link("far", "0.01", "1Mbit/s"));
    assert_eq!(wireless(&format!("{near}{far}")), "near");
    let (one, two) = (link("one", "0.01", "1Mbit/s"), link("two", "0.01", "1Mbit/s"));
    assert_eq!(wireless(&format!("{one}{two}")), "two");
}

#[test]
fn what_is_named_is_taken() {
    let text = format!("base_station = \"wire\"\n{WIRE}[[link]]\nrate = \"1Mbit/s\"\nloss.packet = 0.1\n");
    assert_eq!(wireless(&text), "wire");
}
