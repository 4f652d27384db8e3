//! The two programs as filters of an interface's clsact qdisc, which stay after the process that attached them ends.

use super::FilterError;
use crate::namespace::NamespaceId;
use crate::netlink::{Netlink, Qdisc};
use libbpf_rs::{ProgramMut, TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook, TcHookBuilder};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcHandle, TcMessage};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Handle and priority of our filters.
const HANDLE: u32 = 0x6174;
const PRIORITY: u32 = 0x6174;

const NOTHING: &str = "/dev/null";

const POINTS: [TcAttachPoint; 2] = [TC_INGRESS, TC_EGRESS];
/// Parents of each point's filters (`TC_H_MIN_INGRESS`, `TC_H_MIN_EGRESS`).
const PARENTS: [TcHandle; 2] =
    [TcHandle { major: 0xffff, minor: 0xfff2 }, TcHandle { major: 0xffff, minor: 0xfff3 }];

/// Filters on the interface with this index. Dropping this removes them, unless they are [kept](Clsact::keep).
pub struct Clsact {
    namespace: NamespaceId,
    index: u32,
    /// Whether the qdisc was added with them.
    is_new: bool,
    is_kept: bool,
}

impl Clsact {
    /// Attaches behind the existing filters of others.
    pub fn attach(index: u32, data: &ProgramMut<'_>, acks: &ProgramMut<'_>) -> Result<Clsact, FilterError> {
        let is_new = !has_qdisc(index).map_err(FilterError::io("the qdiscs"))?;
        hook(data.as_fd(), index, TC_INGRESS | TC_EGRESS)
            .create()
            .map_err(|error| FilterError::OldKernel(io::Error::other(error)))?;
        let clsact = Clsact { namespace: NamespaceId::current()?, index, is_new, is_kept: false };
        for (program, point) in [data, acks].into_iter().zip(POINTS) {
            // Replaces a filter that a killed process has left.
            let attached = hook(program.as_fd(), index, point).replace(true).attach();
            attached.map_err(FilterError::kernel("attach a program to clsact"))?;
        }
        Ok(clsact)
    }

    /// Returns whether the qdisc goes with the filters, unless others have come to use it.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Keeps the filters from now on.
    pub fn keep(mut self) {
        self.is_kept = true;
    }

    /// Returns how many of the two are on the interface with this index, in this thread's network namespace.
    pub fn attached(index: u32) -> usize {
        // libbpf complains on stderr about a query of a hook that is not there.
        let (Ok(none), Ok(true)) = (nothing(), has_qdisc(index)) else { return 0 };
        POINTS.into_iter().filter(|point| hook(none.as_fd(), index, *point).query().is_ok()).count()
    }

    /// Removes the filters, and the qdisc if it came with them and nobody else uses it.
    pub fn detach(index: u32, is_new: bool) -> Result<(), FilterError> {
        let none = nothing().map_err(FilterError::io(NOTHING))?;
        if !has_qdisc(index).map_err(FilterError::io("the clsact qdisc"))? {
            return Ok(());
        }
        // The interface has taken them along.
        for mut hook in POINTS.map(|point| hook(none.as_fd(), index, point)) {
            if hook.query().is_ok() {
                hook.detach().map_err(FilterError::kernel("detach a program from clsact"))?;
            }
        }
        let is_idle = || has_qdisc(index).and_then(|has_qdisc| Ok(has_qdisc && !has_filters(index)?));
        if is_new && is_idle().map_err(FilterError::io("the clsact qdisc"))? {
            hook(none.as_fd(), index, TC_INGRESS | TC_EGRESS)
                .destroy()
                .map_err(FilterError::kernel("remove the clsact qdisc"))?;
        }
        Ok(())
    }
}

impl Drop for Clsact {
    fn drop(&mut self) {
        if !self.is_kept {
            // If the interface or the namespace is gone, so are they.
            let _ = self.namespace.within(|| Clsact::detach(self.index, self.is_new));
        }
    }
}

/// A hook needs a descriptor even where no program is meant.
fn nothing() -> io::Result<File> {
    File::open(NOTHING)
}

fn hook(program: BorrowedFd<'_>, index: u32, point: TcAttachPoint) -> TcHook {
    TcHookBuilder::new(program).ifindex(index.cast_signed()).handle(HANDLE).priority(PRIORITY).hook(point)
}

fn has_qdisc(index: u32) -> io::Result<bool> {
    let message = TcMessage::with_index(index.cast_signed());
    let qdiscs = Netlink::open()?.dump(RouteNetlinkMessage::GetQueueDiscipline(message))?;
    let is_it = |qdisc: &Qdisc| qdisc.index() == index && qdisc.parent() == u32::from(TcHandle::CLSACT);
    Ok(qdiscs.into_iter().filter_map(Qdisc::of).any(|qdisc| is_it(&qdisc)))
}

fn has_filters(index: u32) -> io::Result<bool> {
    let netlink = Netlink::open()?;
    for parent in PARENTS {
        let mut message = TcMessage::with_index(index.cast_signed());
        message.header.parent = parent;
        if !netlink.dump(RouteNetlinkMessage::GetTrafficFilter(message))?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
