//! Defaults, inheritance, and overrides.

use super::{good, load, pairs};
use crate::scenario::file::ScenarioFile;
use crate::scenario::model::{
    self, Capacity, Cell, Discipline, Distribution, Loss, Outages, Room, Traffic, Unlimited,
};
use crate::scenario::{Scenario, schema};
use airtcp_proto::Chances;
use airtcp_proto::circuit::Compression;
use airtcp_proto::path::loss::burst::Interval;
use airtcp_proto::queue::{codel, header_first, token_bucket};
use airtcp_wire::{Bytes, Dur, Rate, Time};
use serde_json::Value;
use std::path::Path;

const LINK: &str = "[[link]]\nname = \"wireless\"\nrate = \"10Mbit/s\"\ndelay = \"25ms\"\n";

#[test]
fn a_link_is_all_that_a_scenario_needs() {
    let scenario = good("[[link]]\nrate = \"10Mbit/s\"\n");
    let defaults = ScenarioFile::default();
    assert_eq!((scenario.duration, scenario.seeds), (defaults.duration, defaults.seeds));
    assert_eq!(scenario.name, "test");
    assert_eq!(scenario.links[0].name, "link0");
    assert_eq!(scenario.flows.len(), 1);
    assert_eq!(
        (scenario.flows[0].name.as_str(), &scenario.flows[0].traffic),
        ("main", &Traffic::Unlimited(Unlimited {}))
    );
}

#[test]
fn the_default_queue_holds_one_bandwidth_delay_product_but_at_least_50_packets() {
    let room = |text: &str| {
        let link = good(text).links.remove(0);
        (link.forward.queue.room.packets, link.reverse.queue.room.packets)
    };
    assert_eq!(room("[[link]]\nrate = \"10Mbit/s\"\ndelay = \"5ms\""), (Some(50), Some(50)));
    // 20 Mbit/s · 520 ms = 1.3 MB, and a tenth of it back.
    let satellite = "[[link]]\nrate = \"20Mbit/s\"\ndelay = \"260ms\"\nreverse.rate = \"2Mbit/s\"";
    assert_eq!(room(satellite), (Some(867), Some(87)));
    // The delay of the whole path counts.
    let two = format!("{satellite}\n[[link]]\nrate = \"1Gbit/s\"\ndelay = \"40ms\"");
    assert_eq!(room(&two), (Some(1000), Some(100)));
    assert_eq!(room(&format!("{satellite}\nqueue.bytes = \"90kB\"")), (None, None));
}

#[test]
fn each_discipline_has_its_own_defaults() {
    let queue = |keys: &str| good(&format!("{LINK}queue = {{ {keys} }}")).links.remove(0).forward.queue;
    let codel = queue("discipline = \"codel\", ecn = true");
    assert_eq!(codel.room, Room { packets: Some(1000), bytes: None });
    assert_eq!(codel.discipline, Discipline::Codel(codel::Config { ecn: true, ..Default::default() }));
    let fq_codel = queue("discipline = \"fq-codel\"");
    assert_eq!(fq_codel.room, Room { packets: Some(10240), bytes: None });
    let Discipline::FqCodel(keys) = fq_codel.discipline else { panic!() };
    assert_eq!((keys.flows, keys.quantum), (1024, Bytes(1514)));
    assert_eq!((keys.target, keys.interval), (Dur::from_millis(5), Dur::from_millis(100)));
    let red = queue("discipline = \"red\", min_threshold = 7, max_threshold = 21");
    let Discipline::Red(keys) = red.discipline else { panic!() };
    assert_eq!((keys.min_threshold.get(), keys.max_threshold.get(), keys.gentle), (7.0, 21.0, true));
    let header_first = queue("discipline = \"header-first\", max_headers = 12").discipline;
    assert_eq!(header_first, Discipline::HeaderFirst(header_first::Config { max_headers: 12 }));
    let warning = queue("discipline = \"congestion-warning\", threshold = 10").discipline;
    let Discipline::CongestionWarning(keys) = warning else { panic!() };
    assert_eq!((keys.threshold.get(), keys.weight.get()), (10.0, 0.2));
    let policer = queue("discipline = \"token-bucket\", rate = \"5Mbit/s\", burst = \"32kB\"");
    assert_eq!(policer.room, Room { packets: Some(0), bytes: None });
    let shaper =
        queue("discipline = \"token-bucket\", rate = \"5Mbit/s\", burst = \"32kB\", bytes = \"1MB\"");
    assert_eq!(shaper.room, Room { packets: None, bytes: Some(Bytes(1_000_000)) });
    let keys = token_bucket::Config { rate: Rate(5_000_000), burst: Bytes(32_000) };
    assert_eq!(
        [policer.discipline, shaper.discipline],
        [Discipline::TokenBucket(keys), Discipline::TokenBucket(keys)]
    );
}

#[test]
fn the_way_back_is_as_the_way_there_but_for_what_it_says() {
    let forward = "loss = { ber = \"2e-6\", packets = [3, 1], at = [\"1s\"] }\n\
        jitter = { distribution = \"constant\", mean = \"1ms\" }\n\
        spikes = { at = [\"5s\"], length = \"1s\", extra = \"6s\" }\n";
    let link = good(&format!("{LINK}{forward}")).links.remove(0);
    assert_eq!(link.forward.loss.packets, vec![3, 1].into());
    // Bit errors strike both ways, but packets are lost by number and spikes happen only where they are written.
    assert_eq!(link.reverse.loss, Loss { ber: 2e-6.into(), ..Loss::default() });
    assert_eq!(
        (&link.reverse.jitter, &link.reverse.capacity),
        (&link.forward.jitter, &link.forward.capacity)
    );
    assert_eq!((link.forward.spikes.is_some(), link.reverse.spikes), (true, None));

    let way_back = "reverse = { loss = {}, rate = \"1Mbit/s\", delay = \"1ms\", queue.packets = 7 }\n";
    let link = good(&format!("{LINK}{forward}{way_back}")).links.remove(0);
    assert_eq!(link.reverse.loss, Loss::default());
    assert_eq!(link.reverse.capacity, Capacity::Fixed(Rate(1_000_000)));
    assert_eq!((link.reverse.delay, link.reverse.queue.room.packets), (Dur::from_millis(1), Some(7)));
}

/// The time of 1500 bytes at the link's rate, also on a slower way back: the medium is the same. Where the way back has
/// bursts of its own, its own rate counts.
#[test]
fn bursts_end_with_time_unless_they_are_to_end_with_packets() {
    let chain = |more: &str| format!("loss.burst = {{ to_bad = 0.01, to_good = 0.5{more} }}\n");
    let intervals = |text: String| {
        let link = good(&text).links.remove(0);
        [link.forward, link.reverse].map(|side| side.loss.burst.and_then(|burst| burst.interval))
    };
    let time = |us| Some(Interval::Time(Dur::from_micros(us)));
    let bursts = chain("");
    assert_eq!(intervals(format!("{LINK}{bursts}")), [time(1200); 2]);
    assert_eq!(intervals(format!("{LINK}{bursts}reverse.rate = \"1Mbit/s\"\n")), [time(1200); 2]);
    let own = format!("{LINK}{bursts}[link.reverse]\nrate = \"1Mbit/s\"\n{bursts}");
    assert_eq!(intervals(own), [time(1200), time(12_000)]);
    assert_eq!(intervals(format!("{LINK}{}", chain(", interval = \"1s\""))), [time(1_000_000); 2]);
    assert_eq!(intervals(format!("{LINK}{}", chain(", interval = \"packet\""))), [Some(Interval::Packet); 2]);
    // A trace has a mean rate: here 1500 bytes in 5 ms.
    assert_eq!(intervals(format!("[[link]]\ntrace = \"steady.trace\"\n{bursts}"))[0], time(5000));
    let by_packet = good(&format!("{LINK}{}", chain(", interval = \"packet\"")));
    assert_eq!(good(&by_packet.to_toml()), by_packet);
}

#[test]
fn a_logs_latency_counts_where_no_delay_is_given() {
    let latency = |text: &str| {
        let link = good(text).links.remove(0);
        [link.forward, link.reverse].map(|side| match side.capacity {
            Capacity::Log(file) => Some(file.latency),
            _ => None,
        })
    };
    assert_eq!(latency("[[link]]\nlog = \"log.json\""), [Some(true), Some(true)]);
    assert_eq!(latency("[[link]]\nlog = \"log.json\"\ndelay = \"5ms\""), [Some(false), Some(false)]);
    assert_eq!(latency("[[link]]\nlog = \"log.json\"\nreverse.delay = \"5ms\""), [Some(true), Some(false)]);
    assert_eq!(latency("[[link]]\nlog = \"log.json\"\nreverse.rate = \"1Mbit/s\""), [Some(true), None]);
}

#[test]
fn a_series_of_round_trips_is_halved() {
    let link =
        good(&format!("{LINK}jitter = {{ distribution = \"series\", file = \"ping.txt\" }}")).links.remove(0);
    let Some(Distribution::Series(series)) = link.forward.jitter.map(|jitter| jitter.distribution) else {
        panic!()
    };
    assert_eq!(*series.delays, [Dur::from_millis(40), Dur::from_micros(60_250)]);
}

#[test]
fn a_series_may_be_a_column_and_belong_to_one_direction() {
    let keys = "distribution = \"series\", file = \"rtt.csv\", column = \"downlink\", share = \"100%\"";
    let link = good(&format!(
        "{LINK}jitter = {{ {keys} }}\nreverse.jitter = {{ distribution = \"constant\", mean = \"1ms\" }}"
    ))
    .links
    .remove(0);
    let Some(Distribution::Series(series)) = link.forward.jitter.map(|jitter| jitter.distribution) else {
        panic!()
    };
    assert_eq!(*series.delays, [Dur::from_millis(210), Dur::from_millis(190)]);
}

#[test]
fn protection_has_its_defaults_is_inherited_and_can_be_switched_off() {
    let both =
        good(&format!("{LINK}fec = {{ only = \"header-packets\" }}\narq = {{}}\nreverse.delay = \"5ms\"\n"));
    let model::Link { forward, reverse, .. } = &both.links[0];
    let fec = forward.fec.expect("given");
    assert_eq!((fec.symbol_bits, fec.data_symbols, fec.parity_symbols), (8, 223, 32));
    let arq = forward.arq.expect("given");
    assert_eq!((arq.retries, arq.round_trip, arq.in_order), (3, Dur::from_millis(30), true));
    assert_eq!((reverse.fec, reverse.arq), (forward.fec, forward.arq));
    assert_eq!(good(&both.to_toml()), both);
    let off = good(&format!("{LINK}arq = {{ retries = 2 }}\nreverse.arq = {{ retries = 0 }}\n"));
    assert!(off.links[0].forward.arq.is_some() && off.links[0].reverse.arq.is_none());
    assert_eq!(good(&off.to_toml()), off);
}

/// Paper 000 §10. A decompressor needs packets in the order in which they were compressed.
#[test]
fn compression_is_inherited_and_can_be_switched_off() {
    let of = |text: &str| {
        let scenario = good(&format!("{LINK}{text}"));
        assert_eq!(good(&scenario.to_toml()), scenario);
        let model::Link { forward, reverse, .. } = &scenario.links[0];
        [forward.compression, reverse.compression]
    };
    assert_eq!(of(""), [Compression::None; 2]);
    assert_eq!(of("compression = \"twice\"\n"), [Compression::Twice; 2]);
    let one_way = "compression = \"rfc1144\"\nreverse.compression = \"none\"\n";
    assert_eq!(of(one_way), [Compression::Rfc1144, Compression::None]);
    for (text, cure) in [
        ("jitter = { distribution = \"constant\", mean = \"1ms\" }\n", "jitter.overtaking = false"),
        ("arq = { in_order = false }\n", "arq.in_order = true"),
    ] {
        let error = load(&format!("{LINK}compression = \"twice\"\n{text}"), &[]).unwrap_err().to_string();
        assert!(error.contains("compression") && error.contains(cure), "{error}");
        assert_eq!(error.matches("stay in order").count(), 1, "{error}");
    }
}

/// ns-2's `lossmodel`. As all of `loss`, it holds in both directions unless the reverse one says otherwise.
#[test]
fn losses_may_come_before_the_queue() {
    let both = good(&format!("{LINK}loss = {{ packet = 0.01, before_queue = true }}\n"));
    assert!(both.links[0].forward.loss.before_queue && both.links[0].reverse.loss.before_queue);
    assert_eq!(good(&both.to_toml()), both);
    let one = good(&format!("{LINK}loss = {{ packet = 0.01, before_queue = true }}\nreverse.loss = {{}}\n"));
    assert!(!one.links[0].reverse.loss.before_queue);
}

/// Paper 003 §III: base station A forwards what waits to B.
#[test]
fn a_handoff_may_forward() {
    let text = format!(
        "{LINK}outages = {{ every = \"60s\", length = \"300ms\", handoff = true, forward = \"1s\" }}\n"
    );
    let scenario = good(&text);
    let outages = scenario.links[0].outages.as_ref().expect("given");
    assert_eq!((outages.handoff, outages.forward), (true, Some(Dur::from_secs(1))));
    assert_eq!(good(&scenario.to_toml()), scenario);
}

/// Paper 003, trace B: the cell is the link's transmitter, in any scenario, and reads back with every key.
#[test]
fn a_channel_is_a_capacity() {
    let scenario = good("[[link]]\nchannel = { users = 3, speed_kmh = 30.0 }\nreverse.rate = \"1Mbit/s\"\n");
    let Capacity::Channel(Cell { config, mean_rate }) = &scenario.links[0].forward.capacity else { panic!() };
    assert_eq!((config.users, config.speed_kmh, config.carrier_mhz), (3, 30.0, 1900.0));
    assert!(mean_rate.0 > 10_000);
    assert_eq!(good(&scenario.to_toml()), scenario);
    let error = load("[[link]]\nchannel = { users = 0 }\n", &[]).unwrap_err().to_string();
    assert!(error.contains("must be from 1 to 1000"), "{error}");
    let error = load("[[link]]\nchannel = { user = 1 }\n", &[]).unwrap_err().to_string();
    assert!(error.contains("users"), "{error}");
}

#[test]
fn regular_and_given_times_may_be_mixed() {
    let link =
        good(&format!("{LINK}outages = {{ at = [\"7s\", \"2s\"], period = \"15s\", length = \"30ms\" }}"))
            .links
            .remove(0);
    let Outages { at, every, period, length, .. } = link.outages.expect("given");
    assert_eq!(at, [Dur::from_secs(2), Dur::from_secs(7)]);
    assert_eq!((every, period, length), (None, Some(Dur::from_secs(15)), Dur::from_millis(30)));
}

#[test]
fn flows_enter_and_leave_by_name_and_udp_is_not_measured() {
    let scenario = good(
        "[[link]]\nname = \"a\"\nrate = \"1Mbit/s\"\n[[link]]\nname = \"b\"\nrate = \"1Mbit/s\"\n\
         [[flow]]\nenter = \"b\"\n[[flow]]\nleave = \"a\"\ntraffic = { kind = \"udp\", rate = \"1kbit/s\" }\n",
    );
    let [first, second] = &scenario.flows[..] else { panic!() };
    let over = |enter, leave| vec![model::Route::of_chain(model::Direction::Forward, enter, leave)];
    assert_eq!((&first.routes, first.measure), (&over(1, 1), true));
    assert_eq!((&second.routes, second.measure), (&over(0, 0), false));
}

/// A flow of which nothing is said begins within a round trip of the links that it crosses.
#[test]
fn starts_vary_within_a_round_trip_unless_they_are_given() {
    let within = |text: &str| good(&format!("{LINK}{text}")).flows[0].start_within;
    assert_eq!(within(""), Dur::from_millis(50));
    assert_eq!(within("[[flow]]\ncount = 3\n"), Dur::from_millis(50));
    for said in ["start = \"0s\"", "start = \"2s\"", "count = 2\nstagger = \"1s\""] {
        assert_eq!(within(&format!("[[flow]]\n{said}\n")), Dur::ZERO, "{said}");
    }
    let own = "[[flow]]\nstart = \"2s\"\nstart_within = \"1s\"\n";
    assert_eq!(within(own), Dur::from_secs(1));
    let far = "[[link]]\nname = \"far\"\nrate = \"1Mbit/s\"\ndelay = \"1s\"\n[[flow]]\n";
    assert_eq!(within(far), Dur::from_millis(2050));
    assert_eq!(within(&format!("{far}enter = \"far\"\n")), Dur::from_secs(2));
    // Most of a short run is left.
    assert_eq!(good(&format!("duration = \"60ms\"\n{LINK}")).flows[0].start_within, Dur::from_millis(30));
    let late = load(&format!("duration = \"2s\"\n{LINK}{own}"), &[]).unwrap_err().to_string();
    assert!(
        late.contains("start_within: the last one starts at 3s, after the end of the run at 2s"),
        "{late}"
    );
}

/// Whatever the scheme and the other flows.
#[test]
fn a_seed_has_its_starts() {
    let flows = |count| good(&format!("{LINK}[[flow]]\nname = \"a\"\ncount = {count}\n")).flows;
    let of = |seed, count, instance| flows(count)[0].start_of(instance, &Chances::new(seed));
    let some: std::collections::BTreeSet<Time> =
        (1..20).flat_map(|seed| [of(seed, 5, 0), of(seed, 5, 4)]).collect();
    assert_eq!(some.len(), 38);
    assert!(some.iter().all(|&start| start < Time::ZERO + Dur::from_millis(50)));
    assert!(*some.last().unwrap() > Time::ZERO + Dur::from_millis(40));
    assert!((1..20).all(|seed| of(seed, 5, 0) == of(seed, 1, 0)));
}

/// Each pair: overrides, and the file as somebody would have edited it.
#[test]
fn overrides_are_like_editing_the_file() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("duration", "10s")], &format!("duration = \"10s\"\n{LINK}")),
        (&[("link.wireless.loss.ber", "1e-6")], &format!("{LINK}loss = {{ ber = 1e-6 }}")),
        (&[("wireless.loss.ber", "1e-6")], &format!("{LINK}loss = {{ ber = 1e-6 }}")),
        (&[("wireless.loss", "{ber = 1e-6}")], &format!("{LINK}loss = {{ ber = 1e-6 }}")),
        (&[("wireless.loss.packet", "1%")], &format!("{LINK}loss = {{ packet = 0.01 }}")),
        (&[("link.0.rate", "5Mbit/s")], &LINK.replace("10Mbit", "5Mbit")),
        (&[("link[0].rate", " 5 Mbit/s")], &LINK.replace("10Mbit", "5Mbit")),
        (
            &[("wireless.trace", "src/scenario/tests/fixtures/steady.trace")],
            "[[link]]\nname = \"wireless\"\n\
          trace = \"src/scenario/tests/fixtures/steady.trace\"\ndelay = \"25ms\"",
        ),
        (&[("flow.main.count", "3")], &format!("{LINK}[[flow]]\nname = \"main\"\ncount = 3")),
        (&[("flow.0.name", "7up")], &format!("{LINK}[[flow]]\nname = \"7up\"")),
        (
            &[("schemes", "[\"reno\"]"), ("name", "2e3")],
            &format!("schemes = [\"reno\"]\nname = \"2e3\"\n{LINK}"),
        ),
        (&[("seeds", "9"), ("seeds", "2")], &format!("seeds = 2\n{LINK}")),
    ];
    for (overrides, edited) in cases {
        let overridden = load(LINK, overrides).unwrap_or_else(|error| panic!("{error}"));
        // Files in overrides are looked for in the current directory.
        let edited = Scenario::load(edited, "test.toml", Path::new(""), &pairs(&[]));
        assert_eq!(overridden, edited.unwrap_or_else(|error| panic!("{error}")), "{overrides:?}");
    }
}

/// Every key in the schema is explained, and is required, has a default, or says what its absence means.
#[test]
fn every_key_is_documented_with_its_default() {
    let schema = schema();
    let tables = schema["$defs"].as_object().expect("definitions").values().chain([&schema]);
    for table in tables {
        let required = table["required"].as_array().cloned().unwrap_or_default();
        for (key, property) in table["properties"].as_object().into_iter().flatten() {
            let says = |word: &str| property["description"].as_str().is_some_and(|text| text.contains(word));
            let defaults = property.get("default").is_some() || says("Default:") || says("bsent");
            assert!(defaults || required.contains(&Value::from(key.as_str())), "{key} has no default");
            assert!(
                property.get("description").is_some() || property.get("$ref").is_some(),
                "{key} has no description"
            );
        }
    }
}

#[test]
#[cfg(unix)]
fn a_trace_is_a_file_of_bounded_length_and_is_not_quoted() {
    for (named, problem) in
        [("/dev/zero", "devices and pipes cannot be read"), ("/etc/passwd", "line 1 is not a whole number")]
    {
        let text = format!("[[link]]\ntrace = \"{named}\"\ndelay = \"5ms\"\n");
        let refused = Scenario::load(&text, "test.toml", Path::new(""), &[]).unwrap_err().to_string();
        assert!(refused.contains(problem) && !refused.contains("root"), "{refused}");
    }
}
