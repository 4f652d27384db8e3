//! The programs in the kernel, not yet on an interface.

use super::{FilterError, FlowRecord, Parameters, Totals, maps};
use crate::loading::listening;
use crate::skeleton::filter::{FilterSkel, FilterSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapHandle, OpenObject, ProgramAttachType, ProgramInput, ProgramMut};
use std::mem::MaybeUninit;
use std::time::Duration;

/// linux/pkt_cls.h, and the result of `bpf_redirect`.
const NEXT: u32 = u32::MAX;
const SHOT: u32 = 2;
const REDIRECTED: u32 = 7;

/// Longer than any frame that is run through the programs.
const FRAME_MAX: usize = 1 << 16;

/// Bytes of an Ethernet header.
pub const ETHERNET_LEN: u32 = 14;

/// Loaded programs with maps of their own, which vanish with them.
pub struct Programs<'a> {
    pub(super) skeleton: FilterSkel<'a>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Pass,
    Drop,
    /// The packet was turned into an ACK, which goes back.
    Answer,
}

/// What a program has made of a frame.
pub struct Ran {
    pub verdict: Verdict,
    pub frame: Vec<u8>,
}

impl<'a> Programs<'a> {
    /// `link_len` is the number of bytes before a packet's IP header.
    ///
    /// # Errors
    /// The parameters are not possible, or the kernel or missing rights prevent it.
    pub fn load(
        object: &'a mut MaybeUninit<OpenObject>,
        link_len: u32,
        parameters: &Parameters,
    ) -> Result<Programs<'a>, FilterError> {
        parameters.check()?;
        let skeleton = listening(|| load(object, link_len, parameters.max_flows))?;
        let programs = Programs { skeleton };
        maps::set(&programs.settings()?, parameters)?;
        Ok(programs)
    }

    /// Runs a frame through the program for packets from the fixed hosts (`BPF_PROG_TEST_RUN`).
    ///
    /// # Errors
    /// What the kernel refuses, such as a frame without a whole Ethernet header.
    pub fn data(&self, frame: &[u8]) -> Result<Ran, FilterError> {
        run(&self.skeleton.progs.data, frame, 1).map(|(ran, _)| ran)
    }

    /// Runs a frame through the program for packets to the fixed hosts.
    ///
    /// # Errors
    /// As [`Programs::data`].
    pub fn acks(&self, frame: &[u8]) -> Result<Ran, FilterError> {
        run(&self.skeleton.progs.acks, frame, 1).map(|(ran, _)| ran)
    }

    /// Mean time that a frame takes in one of the programs, over `times` runs.
    ///
    /// # Errors
    /// As [`Programs::data`].
    pub fn cost(&self, is_data: bool, frame: &[u8], times: u32) -> Result<Duration, FilterError> {
        let programs = &self.skeleton.progs;
        let program = if is_data { &programs.data } else { &programs.acks };
        run(program, frame, times).map(|(_, cost)| cost)
    }

    /// # Errors
    /// What the kernel refuses.
    pub fn totals(&self) -> Result<Totals, FilterError> {
        maps::totals(&handle(&self.skeleton.maps.totals)?)
    }

    /// The flows that are understood, in no order.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn flows(&self) -> Result<Vec<FlowRecord>, FilterError> {
        Ok(maps::flows(&handle(&self.skeleton.maps.flows)?))
    }

    fn settings(&self) -> Result<MapHandle, FilterError> {
        handle(&self.skeleton.maps.parameters)
    }
}

pub fn handle(map: &libbpf_rs::MapMut<'_>) -> Result<MapHandle, FilterError> {
    MapHandle::try_from(map).map_err(FilterError::kernel("hold a map"))
}

fn load(
    object: &mut MaybeUninit<OpenObject>,
    link_len: u32,
    max_flows: u32,
) -> libbpf_rs::Result<FilterSkel<'_>> {
    let mut skeleton = FilterSkelBuilder::default().open(object)?;
    if let Some(constants) = skeleton.maps.rodata_data.as_deref_mut() {
        constants.link_len = link_len;
    }
    skeleton.maps.flows.set_max_entries(max_flows)?;
    skeleton.progs.data.set_attach_type(ProgramAttachType::TcxIngress);
    skeleton.progs.acks.set_attach_type(ProgramAttachType::TcxEgress);
    skeleton.load()
}

fn run(program: &ProgramMut<'_>, frame: &[u8], times: u32) -> Result<(Ran, Duration), FilterError> {
    let mut out = vec![0; FRAME_MAX];
    let input = ProgramInput {
        data_in: Some(frame),
        data_out: Some(&mut out),
        repeat: times,
        ..ProgramInput::default()
    };
    let ran = program.test_run(input).map_err(FilterError::kernel("run the program"))?;
    let verdict = match ran.return_value {
        SHOT => Verdict::Drop,
        REDIRECTED => Verdict::Answer,
        NEXT => Verdict::Pass,
        other => unreachable!("the programs do not answer {other}"),
    };
    let (frame, cost) = (ran.data.unwrap_or_default().to_vec(), ran.duration);
    Ok((Ran { verdict, frame }, cost))
}
