//! Loss models: which packets arrive unreadable.

use super::{BlockCode, Cover, LossModel};
use crate::queue::Item;
use crate::rng::Stream;
use airtcp_wire::{Dur, Time};

/// A probability as a threshold: an event happens when a random number falls below it. Off by less than 2⁻⁵³.
#[derive(Clone, Copy, Debug)]
struct Threshold(u64);

impl Threshold {
    fn new(probability: f64) -> Threshold {
        Threshold((probability * 2.0 * (1u64 << 63) as f64) as u64)
    }

    /// Draws only where chance decides.
    #[inline]
    fn happens(self, stream: &mut Stream) -> bool {
        match self.0 {
            0 => false,
            u64::MAX => true,
            threshold => stream.u64() < threshold,
        }
    }
}

/// How a bit error rate becomes a packet's probability of loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BerForm {
    /// 1 − (1 − BER)^bits: every bit must survive, independently of the others.
    Exact,
    /// min(1, BER · bits), as papers often have it.
    FirstOrder,
}

impl BerForm {
    /// Probability that a packet of `bytes` is lost.
    pub fn packet_loss(self, ber: f64, bytes: u32) -> f64 {
        let bits = f64::from(bytes) * 8.0;
        match self {
            BerForm::Exact => -libm::expm1(bits * libm::log1p(-ber)),
            BerForm::FirstOrder => (ber * bits).min(1.0),
        }
    }
}

const REMEMBERED_SIZES: usize = 8;

/// Bit errors: the larger a packet, the likelier it is lost.
#[derive(Clone, Debug)]
pub struct BitErrors {
    ber: f64,
    form: BerForm,
    code: Option<(BlockCode, Cover)>,
    stream: Stream,
    /// The thresholds of the sizes seen last: twice the size, and one more for a header packet. A sender uses few: full
    /// segments, ACKs with up to four SACK blocks, each of which adds 8 bytes and so has a place of its own.
    memo: [(u32, Threshold); REMEMBERED_SIZES],
}

impl BitErrors {
    pub fn new(ber: f64, form: BerForm, stream: Stream) -> BitErrors {
        BitErrors { ber, form, code: None, stream, memo: [(0, Threshold(0)); REMEMBERED_SIZES] }
    }

    /// What `cover` says travels with the parity of `code`.
    pub fn with_code(self, code: BlockCode, cover: Cover) -> BitErrors {
        BitErrors { code: Some((code, cover)), ..self }
    }

    #[cold]
    fn threshold(&self, item: &Item) -> Threshold {
        Threshold::new(match self.code {
            Some((code, cover)) if cover.covers(item) => code.packet_loss(self.ber, item.bytes),
            _ => self.form.packet_loss(self.ber, item.bytes),
        })
    }
}

impl LossModel for BitErrors {
    #[inline]
    fn is_lost(&mut self, _now: Time, item: &Item) -> bool {
        let place = (item.bytes as usize / 8 + usize::from(item.is_header)) % REMEMBERED_SIZES;
        let key = (item.bytes << 1) | u32::from(item.is_header);
        if self.memo[place].0 != key {
            self.memo[place] = (key, self.threshold(item));
        }
        self.memo[place].1.happens(&mut self.stream)
    }
}

/// Every packet is lost with the same probability, whatever its size.
#[derive(Clone, Debug)]
pub struct PacketLoss {
    threshold: Threshold,
    stream: Stream,
}

impl PacketLoss {
    pub fn new(probability: f64, stream: Stream) -> PacketLoss {
        PacketLoss { threshold: Threshold::new(probability), stream }
    }
}

impl LossModel for PacketLoss {
    fn is_lost(&mut self, _now: Time, _item: &Item) -> bool {
        self.threshold.happens(&mut self.stream)
    }
}

/// Probabilities of a [`GilbertElliott`] channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliottConfig {
    /// Of finding the bad state after the good one, a packet or an `interval` later.
    pub to_bad: f64,
    /// The other way round. The mean stay in the bad state is 1/`to_good` packets.
    pub to_good: f64,
    pub good_loss: f64,
    pub bad_loss: f64,
    /// `None`: the state changes from packet to packet. Otherwise with time, and `to_bad + to_good` is at most 1.
    pub interval: Option<Dur>,
}

impl GilbertElliottConfig {
    /// The share of packets that are lost in the long run.
    pub fn mean_loss(&self) -> f64 {
        let bad = if self.to_bad > 0.0 { self.to_bad / (self.to_bad + self.to_good) } else { 0.0 };
        bad * self.bad_loss + (1.0 - bad) * self.good_loss
    }
}

/// A channel with a good and a bad state (Gilbert 1960, Elliott 1963). It starts in the good one; each packet meets
/// the state it finds. Then the state may change, or, with an `interval`, as time passes: packets that are an interval
/// apart see the chain of the configuration, and others the continuous one behind it.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    /// Loss in the good state and in the bad one.
    loss: [Threshold; 2],
    /// Leaving the good state and the bad one.
    leave: [Threshold; 2],
    bad: bool,
    clock: Option<Clock>,
    stream: Stream,
}

/// What makes states change with time.
#[derive(Clone, Copy, Debug)]
struct Clock {
    interval: Dur,
    /// What of a difference from the long run is left after an interval: the chain's second eigenvalue.
    memory: f64,
    /// Share of the time in the good state and in the bad one.
    share: [f64; 2],
    last: Time,
}

impl Clock {
    fn new(config: &GilbertElliottConfig, interval: Dur) -> Clock {
        let rate = config.to_bad + config.to_good;
        let bad = if config.to_bad > 0.0 { config.to_bad / rate } else { 0.0 };
        Clock { interval, memory: (1.0 - rate).max(0.0), share: [1.0 - bad, bad], last: Time::ZERO }
    }

    /// Probability that the state is another one now.
    fn leave(&mut self, now: Time, bad: bool) -> f64 {
        let passed = now.since(self.last).as_secs_f64() / self.interval.as_secs_f64();
        self.last = now;
        self.share[usize::from(!bad)] * (1.0 - libm::pow(self.memory, passed))
    }
}

impl GilbertElliott {
    pub fn new(config: GilbertElliottConfig, stream: Stream) -> GilbertElliott {
        GilbertElliott {
            loss: [config.good_loss, config.bad_loss].map(Threshold::new),
            leave: [config.to_bad, config.to_good].map(Threshold::new),
            bad: false,
            clock: config.interval.map(|interval| Clock::new(&config, interval)),
            stream,
        }
    }
}

impl LossModel for GilbertElliott {
    fn is_lost(&mut self, now: Time, _item: &Item) -> bool {
        if let Some(clock) = &mut self.clock {
            let leave = Threshold::new(clock.leave(now, self.bad));
            self.bad ^= leave.happens(&mut self.stream);
            return self.loss[usize::from(self.bad)].happens(&mut self.stream);
        }
        let state = usize::from(self.bad);
        let lost = self.loss[state].happens(&mut self.stream);
        self.bad ^= self.leave[state].happens(&mut self.stream);
        lost
    }
}

/// Loses the packets with the given numbers, counted from 1 in order of departure.
#[derive(Clone, Debug)]
pub struct NumberedLoss {
    /// Ascending.
    numbers: Vec<u64>,
    done: usize,
    departed: u64,
}

impl NumberedLoss {
    pub fn new(mut numbers: Vec<u64>) -> NumberedLoss {
        numbers.sort_unstable();
        numbers.dedup();
        NumberedLoss { numbers, done: 0, departed: 0 }
    }
}

impl LossModel for NumberedLoss {
    fn is_lost(&mut self, _now: Time, _item: &Item) -> bool {
        self.departed += 1;
        let lost = self.numbers.get(self.done) == Some(&self.departed);
        self.done += usize::from(lost);
        lost
    }
}

/// Loses, for each of the given times, the first packet that departs then or later.
#[derive(Clone, Debug)]
pub struct TimedLoss {
    /// Ascending.
    times: Vec<Time>,
    done: usize,
}

impl TimedLoss {
    pub fn new(mut times: Vec<Time>) -> TimedLoss {
        times.sort_unstable();
        TimedLoss { times, done: 0 }
    }
}

impl LossModel for TimedLoss {
    fn is_lost(&mut self, now: Time, _item: &Item) -> bool {
        let before = self.done;
        while self.times.get(self.done).is_some_and(|&time| time <= now) {
            self.done += 1;
        }
        self.done > before
    }
}

/// No loss before `start`; from then on as the model inside has it.
pub struct LossFrom {
    pub start: Time,
    pub model: Box<dyn LossModel>,
}

impl LossModel for LossFrom {
    fn is_lost(&mut self, now: Time, item: &Item) -> bool {
        now >= self.start && self.model.is_lost(now, item)
    }
}

/// A packet is lost if any of the models loses it. Each of them sees every packet.
pub struct AnyLoss(pub Vec<Box<dyn LossModel>>);

impl LossModel for AnyLoss {
    fn is_lost(&mut self, now: Time, item: &Item) -> bool {
        self.0.iter_mut().fold(false, |lost, model| model.is_lost(now, item) | lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    fn stream(name: &str) -> Stream {
        Streams::new(1).stream(name)
    }

    fn packet(bytes: u32) -> Item {
        Item { bytes, ..Item::default() }
    }

    fn share_lost(model: &mut dyn LossModel, bytes: u32, packets: u32) -> f64 {
        let lost = (0..packets).filter(|_| model.is_lost(Time::ZERO, &packet(bytes))).count();
        lost as f64 / f64::from(packets)
    }

    /// Which of the packets, one a millisecond from 1 ms on, are lost.
    fn lost_of(model: &mut dyn LossModel, packets: u64) -> Vec<u64> {
        (1..=packets).filter(|&ms| model.is_lost(Time(ms * 1_000_000), &packet(100))).collect()
    }

    #[test]
    fn bit_errors_spare_small_packets_where_large_ones_are_lost() {
        // BER 1e-4: 1 − 0.9999^12000 = 0.6988, 1 − 0.9999^416 = 0.0407.
        let mut model = BitErrors::new(1e-4, BerForm::Exact, stream("ber"));
        let n = 100_000;
        for (bytes, expected) in [(1500, 0.698_8), (52, 0.040_75)] {
            let share = share_lost(&mut model, bytes, n);
            // Five standard deviations of a binomial share.
            let bound = 5.0 * f64::sqrt(expected * (1.0 - expected) / f64::from(n));
            assert!((share - expected).abs() < bound, "{bytes} bytes: {share} is not {expected} ± {bound}");
        }
    }

    #[test]
    fn first_order_overshoots_at_high_ber() {
        // The figures that ns-2's users met: 1.2e-4 × 1040 bytes.
        assert!((BerForm::FirstOrder.packet_loss(1.2e-4, 1040) - 0.998_4).abs() < 1e-9);
        assert!((BerForm::Exact.packet_loss(1.2e-4, 1040) - 0.631_5).abs() < 1e-3);
        assert_eq!(BerForm::FirstOrder.packet_loss(1e-3, 1500), 1.0);
        assert_eq!(BerForm::Exact.packet_loss(0.0, 1500), 0.0);
        assert_eq!(BerForm::Exact.packet_loss(1.0, 1), 1.0);
    }

    /// A code on header packets alone leaves data as exposed as it was, whatever order they come in.
    #[test]
    fn a_code_protects_what_it_covers() {
        let code = BlockCode { symbol_bits: 8, data_symbols: 223, parity_symbols: 32 };
        let new = || BitErrors::new(1e-3, BerForm::Exact, stream("ber"));
        assert_eq!(share_lost(&mut new().with_code(code, Cover::All), 1500, 10_000), 0.0);
        let mut model = new().with_code(code, Cover::HeaderPackets);
        let lost = |model: &mut BitErrors, is_header| {
            let item = Item { is_header, ..packet(52) };
            (0..10_000).filter(|_| model.is_lost(Time::ZERO, &item)).count()
        };
        assert!(lost(&mut model, false) > 3000);
        assert_eq!(lost(&mut model, true), 0);
        assert!(lost(&mut model, false) > 3000);
    }

    #[test]
    fn certainty_is_certain() {
        assert_eq!(share_lost(&mut PacketLoss::new(0.0, stream("a")), 1, 1000), 0.0);
        assert_eq!(share_lost(&mut PacketLoss::new(1.0, stream("a")), 1, 1000), 1.0);
        let third = share_lost(&mut PacketLoss::new(1.0 / 3.0, stream("a")), 1, 100_000);
        assert!((third - 1.0 / 3.0).abs() < 5.0 * 0.0015, "{third}");
    }

    #[test]
    fn gilbert_elliott_has_its_loss_rate_and_burst_length() {
        let config = GilbertElliottConfig {
            to_bad: 0.01,
            to_good: 0.2,
            good_loss: 0.0,
            bad_loss: 1.0,
            interval: None,
        };
        let mut model = GilbertElliott::new(config, stream("ge"));
        let n = 1_000_000;
        let (mut lost, mut bursts, mut in_burst) = (0, 0, false);
        for _ in 0..n {
            let now_lost = model.is_lost(Time::ZERO, &packet(1500));
            bursts += u32::from(now_lost && !in_burst);
            lost += u32::from(now_lost);
            in_burst = now_lost;
        }
        let (rate, length) = (f64::from(lost) / f64::from(n), f64::from(lost) / f64::from(bursts));
        // Some 9 500 bursts of 5 ± 4.5: the mean is good to 1 %, the rate to 1.5 %; three times that is allowed.
        assert!((rate / config.mean_loss() - 1.0).abs() < 0.045, "{rate}");
        assert!((length / 5.0 - 1.0).abs() < 0.03, "{length}");
    }

    /// With an interval, packets that far apart see the chain asked for, and bursts last as long when more packets
    /// cross.
    #[test]
    fn with_an_interval_bursts_last_a_time_and_not_a_number_of_packets() {
        let interval = Some(Dur::from_secs(1));
        let config =
            GilbertElliottConfig { to_bad: 0.01, to_good: 0.2, good_loss: 0.0, bad_loss: 1.0, interval };
        for packets_a_second in [1, 20] {
            let mut model = GilbertElliott::new(config, stream("ge"));
            let mut lost = Vec::new();
            for i in 0..1_000_000 * packets_a_second {
                let at = Time(i * 1_000_000_000 / packets_a_second);
                let is_lost = model.is_lost(at, &packet(1500));
                if i % packets_a_second == 0 {
                    lost.push(is_lost);
                }
            }
            let losses = lost.iter().filter(|&&lost| lost).count() as f64;
            let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            let rate = losses / lost.len() as f64;
            // As many bursts as in the test above, and its bounds.
            assert!((rate / config.mean_loss() - 1.0).abs() < 0.045, "{packets_a_second}: {rate}");
            assert!((losses / bursts / 5.0 - 1.0).abs() < 0.03, "{packets_a_second}: {}", losses / bursts);
        }
    }

    #[test]
    fn given_packets_and_times_are_lost() {
        assert_eq!(lost_of(&mut NumberedLoss::new(vec![7, 2, 3, 2]), 10), [2, 3, 7]);
        let times = [0, 4_500_000, 4_600_000, 6_000_000].map(Time).to_vec();
        assert_eq!(lost_of(&mut TimedLoss::new(times), 10), [1, 5, 6]);
    }

    #[test]
    fn models_combine_and_start_late() {
        let late = LossFrom { start: Time(8_000_000), model: Box::new(PacketLoss::new(1.0, stream("a"))) };
        let mut any = AnyLoss(vec![Box::new(late), Box::new(NumberedLoss::new(vec![1, 9]))]);
        assert_eq!(lost_of(&mut any, 10), [1, 8, 9, 10]);
    }
}
