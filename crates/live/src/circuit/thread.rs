//! A gateway on a thread of its own, beside the source of its data.

use super::serve::{Gateway, serve};
use crate::daemon::{Stop, Stopper};
use crate::emulate::Clock;
use crate::rights::keep_only;
use crate::warn;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Serves until this value is dropped.
pub struct GatewayThread {
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl GatewayThread {
    /// Starts the thread in the network namespace of the calling thread, without capabilities.
    ///
    /// # Errors
    /// The kernel's: too many open files.
    pub fn begin<G>(mut gateway: G, clock: Clock, counters: Arc<G::Counters>) -> io::Result<GatewayThread>
    where
        G: Gateway + Send + 'static,
        G::Counters: Send + Sync,
    {
        let (stop, stopper): (Stop, Stopper) = Stop::new()?;
        let work = move || {
            if let Err(error) = keep_only(&[]).and_then(|()| serve(&mut gateway, &clock, stop, &counters)) {
                warn!("airtcpd: a gateway: {error}");
            }
        };
        Ok(GatewayThread { stopper, thread: Some(thread::spawn(work)) })
    }
}

impl Drop for GatewayThread {
    fn drop(&mut self) {
        self.stopper.stop();
        drop(self.thread.take().map(JoinHandle::join));
    }
}
