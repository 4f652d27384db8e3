//! What all relays share.

use super::own::{FlowKey, Stack, StackFlow};
use super::pipe::Pipes;
use crate::circuit::{Sending, SendingCounters};
use crate::emulate::Clock;
use std::sync::Arc;

/// Bytes moved at a time from or to a connection of our own.
const BUFFER_BYTES: usize = 64 << 10;

pub struct Tools {
    pub pipes: Pipes,
    /// Present if the wireless side is our own.
    pub stack: Option<Stack>,
    /// The circuit for our own connections, if they use one.
    pub circuit: Option<Arc<SendingCounters>>,
    pub clock: Clock,
    pub buffer: Box<[u8]>,
}

impl Tools {
    pub fn new(stack: Option<Stack>, circuit: Option<Arc<SendingCounters>>, clock: Clock) -> Tools {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Tools { pipes: Pipes::default(), stack, circuit, clock, buffer }
    }

    /// Our own stack, if it can carry a new connection. A data TCP without a circuit would wait.
    pub fn stack_for_new(&mut self) -> Option<&mut Stack> {
        let has_way = self.has_way();
        self.stack.as_mut().filter(|_| has_way)
    }

    /// Returns whether there is a circuit, if connections of our own need one.
    pub fn has_way(&self) -> bool {
        self.circuit.as_ref().is_none_or(|circuit| circuit.get(Sending::Open) == 1)
    }

    pub fn flow(&self, key: FlowKey) -> Option<&StackFlow> {
        self.stack.as_ref()?.get(key)
    }

    /// Sends the first `len` bytes of the buffer, as far as there is room. Returns their number.
    pub fn write(&mut self, key: FlowKey, len: usize) -> usize {
        let Some(stack) = &mut self.stack else { return 0 };
        let taken = stack.get_mut(key).map_or(0, |flow| flow.stream.write(&self.buffer[..len]));
        stack.flush(self.clock.now(), key);
        taken
    }

    /// Reads into the buffer, and returns the number of bytes.
    pub fn read(&mut self, key: FlowKey) -> usize {
        let Some(stack) = &mut self.stack else { return 0 };
        let len = stack.get_mut(key).map_or(0, |flow| flow.stream.read(&mut self.buffer));
        // The window has opened.
        stack.flush(self.clock.now(), key);
        len
    }

    pub fn shut(&mut self, key: FlowKey) {
        let Some(stack) = &mut self.stack else { return };
        if let Some(flow) = stack.get_mut(key) {
            flow.stream.shutdown();
        }
        stack.flush(self.clock.now(), key);
    }

    /// Limits each buffer of a connection of our own.
    pub fn limit(&mut self, key: FlowKey, bytes: usize) {
        if let Some(flow) = self.stack.as_mut().and_then(|stack| stack.get_mut(key)) {
            flow.stream.limit(bytes);
        }
    }

    /// Keeps the sizes of a connection's buffers, or lets them grow again.
    pub fn keep(&mut self, key: FlowKey, kept: bool) {
        if let Some(flow) = self.stack.as_mut().and_then(|stack| stack.get_mut(key)) {
            flow.stream.keep(kept);
        }
    }

    pub fn release(&mut self, key: FlowKey) {
        if let Some(stack) = &mut self.stack {
            stack.release(self.clock.now(), key);
        }
    }
}
