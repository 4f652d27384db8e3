//! The functions that JavaScript calls: it reserves room for a request, writes it there, calls, and reads the answer.

#![allow(
    unsafe_code,
    reason = "exported names are `no_mangle`, which counts as unsafe; nothing else here is"
)]

use crate::lab::Lab;
use std::cell::RefCell;

#[derive(Default)]
struct Exchange {
    lab: Lab,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
}

/// Returns where to write the request, `bytes` long and in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn airtcp_reserve(bytes: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.request.clear();
        exchange.request.resize(bytes, 0);
        exchange.request.as_mut_ptr()
    })
}

/// Handles the request. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn airtcp_call() -> usize {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.answer = exchange.lab.handle(&exchange.request).into_bytes();
        exchange.answer.len()
    })
}

/// Returns the answer's address, valid until the next call. See [`Answer::into_bytes`](crate::Answer::into_bytes) for
/// its format.
#[unsafe(no_mangle)]
pub extern "C" fn airtcp_answer() -> *const u8 {
    EXCHANGE.with_borrow(|exchange| exchange.answer.as_ptr())
}
