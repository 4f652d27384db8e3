//! Counters of a controller.

/// Declares [`Counters`], whose fields are those of `struct counters` in `bpf/intf.h`, in the same order.
macro_rules! counters {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// Counts over all sockets of a controller since it was loaded.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
        pub struct Counters {
            $($(#[$doc])+ pub $name: u64,)+
        }

        impl Counters {
            const NAMES: &[&str] = &[$(stringify!($name)),+];

            fn fields_mut(&mut self) -> [&mut u64; Counters::NAMES.len()] {
                [$(&mut self.$name),+]
            }
        }
    };
}

counters! {
    /// Sockets that began to use it.
    sockets_opened,
    /// Those of them that were closed or changed to another controller.
    sockets_closed,
    /// Losses judged corruption.
    losses_corruption,
    /// Losses judged congestion, and those of a controller that does not judge.
    losses_congestion,
    /// Losses on which the judgement was left open.
    losses_undecided,
    /// Windows in which ECN-Echo asked for a reduction.
    ecn_echoes,
    /// Expiries of the retransmission timer, repeated ones too.
    timeouts,
    /// Losses, ECN-Echoes and first timeouts after which ssthresh was less than cwnd.
    reductions,
    /// Such events after which ssthresh was not less, although Reno would have halved the window.
    reductions_avoided,
    /// Yields of Concord: times that it gave up its part of a queue, to see whose the queue is.
    yields,
    /// Yields that found a rival's queue.
    rivals,
}

impl Counters {
    /// Sockets that use it now.
    pub fn sockets(&self) -> u64 {
        self.sockets_opened.saturating_sub(self.sockets_closed)
    }

    /// Bytes of one CPU's record.
    pub(super) const SIZE: usize = 8 * Counters::NAMES.len();

    /// Sums up the CPUs' records.
    pub(super) fn sum(cpus: &[Vec<u8>]) -> Counters {
        let mut sum = Counters::default();
        for cpu in cpus {
            for (total, count) in sum.fields_mut().into_iter().zip(cpu.chunks_exact(8)) {
                *total += u64::from_ne_bytes(count.try_into().expect("eight bytes"));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::controllers;
    use libbpf_rs::btf::Btf;
    use libbpf_rs::btf::types::Struct;

    #[test]
    fn the_programs_count_the_same_in_the_same_order() {
        for controller in controllers() {
            let btf = Btf::from_raw(controller.kernel_name, controller.object).unwrap().unwrap();
            let members: Struct<'_> = btf.type_by_name("counters").unwrap();
            let names: Vec<_> = members.iter().map(|member| member.name.unwrap().to_str().unwrap()).collect();
            assert_eq!(names, Counters::NAMES);
        }
    }
}
