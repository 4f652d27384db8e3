//! What all relays share.

use super::own::{Flow, FlowKey, Stack};
use super::pipe::Pipes;
use crate::emulate::Clock;

/// Bytes moved at a time from or to a connection of our own.
const BUFFER_BYTES: usize = 64 << 10;

pub struct Tools {
    pub pipes: Pipes,
    /// If the wireless side is our own.
    pub stack: Option<Stack>,
    pub clock: Clock,
    pub buffer: Box<[u8]>,
}

impl Tools {
    pub fn new(stack: Option<Stack>, clock: Clock) -> Tools {
        Tools { pipes: Pipes::default(), stack, clock, buffer: vec![0; BUFFER_BYTES].into_boxed_slice() }
    }

    pub fn flow(&self, key: FlowKey) -> Option<&Flow> {
        self.stack.as_ref()?.get(key)
    }

    /// Sends the first bytes of the buffer; there must be room for them.
    pub fn write(&mut self, key: FlowKey, len: usize) {
        let Some(stack) = &mut self.stack else { return };
        if let Some(flow) = stack.get_mut(key) {
            flow.stream.write(&self.buffer[..len]);
        }
        stack.flush(self.clock.now(), key);
    }

    /// Reads into the buffer, and answers how much.
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

    pub fn release(&mut self, key: FlowKey) {
        if let Some(stack) = &mut self.stack {
            stack.release(self.clock.now(), key);
        }
    }
}
