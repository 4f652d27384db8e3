//! Per-hop compression of header packets (paper 000 §10), as in `circuit/compression.rs`, by a link for its own hop.
//!
//! The compressor sits between the queue and the transmitter, as RFC 1144's does in the driver of a serial line: what the queue drops
//! costs no context, and packets wait at their full length. Both ends keep a context for each control TCP. Of a packet that was lost
//! on an earlier link the compressor knows nothing; it sends the next one uncompressed.

use crate::circuit::Compression;
use crate::circuit::compression::{Compressor, Decompressor};
use crate::queue::Item;
use airtcp_wire::{Ecn, Segment};
use std::collections::BTreeMap;

/// What a link must know of a header packet to compress it.
#[derive(Clone, Copy, Debug)]
pub struct Compressible {
    pub segment: Segment,
    /// Bytes by which the packet becomes shorter. 0: its circuit has compressed it already.
    pub saving: u32,
}

/// A connection's number is one byte.
const MOST_CONTEXTS: usize = 256;

pub(super) struct HopCompression {
    kind: Compression,
    /// Header packets that have been announced, by their ids. A driver that uses an id for another one announces it anew.
    announced: BTreeMap<u32, Compressible>,
    /// The one used last comes first.
    contexts: Vec<Context>,
}

/// What both ends of the link remember of a control TCP.
struct Context {
    /// [`Item::flow`] of its packets.
    connection: u32,
    /// Of the packet sent last.
    ecn: Ecn,
    compressor: Compressor,
    decompressor: Decompressor,
}

impl HopCompression {
    /// `None` if nothing is compressed.
    pub fn new(kind: Compression) -> Option<HopCompression> {
        let compresses = kind != Compression::None;
        compresses.then(|| HopCompression { kind, announced: BTreeMap::new(), contexts: Vec::new() })
    }

    pub fn announce(&mut self, id: u32, header: Compressible) {
        self.announced.insert(id, header);
    }

    /// Both ends forget what they know, as those of the next base station have not seen it.
    pub fn reset(&mut self) {
        self.contexts.clear();
    }

    /// Returns the length with which the packet leaves.
    pub fn compress(&mut self, item: &Item) -> u32 {
        let Some(&Compressible { segment, saving }) = self.known(item) else { return item.bytes };
        self.use_context(item.flow, saving);
        // A packet carries its connection's number as soon as the link knows several.
        let number = u32::from(self.contexts.len() > 1);
        let Some(context) = self.contexts.first_mut() else { return item.bytes };
        // The ECN field is part of IPv4's header, which must not have changed, either.
        if context.ecn != item.ecn {
            (context.ecn, context.compressor) = (item.ecn, Compressor::saving(saving));
        }
        match context.compressor.compress(&segment, item.bytes) {
            bytes if bytes < item.bytes => bytes + number,
            bytes => bytes,
        }
    }

    /// Can the far end read the packet, which left with `bytes`? Called for each packet that it receives, in the order in which they
    /// left.
    pub fn decompress(&mut self, item: &Item, bytes: u32) -> bool {
        let Some(&Compressible { segment, .. }) = self.known(item) else { return true };
        match self.contexts.iter_mut().find(|context| context.connection == item.flow) {
            Some(context) => context.decompressor.decompress(&segment, bytes, item.bytes),
            None => bytes == item.bytes,
        }
    }

    fn known(&self, item: &Item) -> Option<&Compressible> {
        if item.is_header { self.announced.get(&item.id) } else { None }
    }

    /// Moves the connection's context to the front. A new one takes the place of the one that was not used for longest if there is no
    /// other.
    fn use_context(&mut self, connection: u32, saving: u32) {
        let place = self.contexts.iter().position(|context| context.connection == connection);
        let context = match place {
            Some(place) => self.contexts.remove(place),
            None => {
                self.contexts.truncate(MOST_CONTEXTS - 1);
                let compressor = Compressor::saving(saving);
                let decompressor = Decompressor::new(self.kind).expect("the link compresses");
                Context { connection, ecn: Ecn::default(), compressor, decompressor }
            }
        };
        self.contexts.insert(0, context);
    }
}
