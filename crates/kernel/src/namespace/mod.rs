//! Network namespaces: made, entered, and gone with the process that made them.
//!
//! Namespaces made here have no name, so that only a process, a descriptor or a device's owner keeps them.
//! Whatever kills the process, the kernel removes its namespaces with the devices, addresses, routes and
//! sysctls in them.

mod id;
pub mod sysctl;

use crate::netlink::{self, Netlink};
pub use id::{NamespaceError, NamespaceId, all};
use netlink_packet_route::link::LinkFlags;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic;
use std::thread;

/// The calling thread's namespace.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace, held by a descriptor. When the last holder is gone, so is the namespace.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Makes an empty namespace with loopback up. The calling thread stays where it is.
    ///
    /// # Errors
    /// The kernel's: without CAP_SYS_ADMIN, permission denied.
    pub fn new() -> io::Result<Namespace> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)
                .map_err(|error| with_context(error.into(), "a network namespace"))?;
            Netlink::open()?.set(netlink::LOOPBACK, LinkFlags::Up)?;
            Namespace::current()
        })
    }

    /// [`new`](Namespace::new) for tests: `None`, with a message, if this process may not make one.
    ///
    /// # Panics
    /// On any other error.
    #[doc(hidden)]
    pub fn if_permitted() -> Option<Namespace> {
        match Namespace::new() {
            Ok(namespace) => Some(namespace),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The calling thread's namespace.
    ///
    /// # Errors
    /// The kernel's: where /proc is not mounted, not found.
    pub fn current() -> io::Result<Namespace> {
        File::open(OWN).map(Namespace)
    }

    /// Moves the calling thread into this namespace. Threads and processes that it starts from then on are in
    /// it, too. Sockets and devices stay in the namespace in which they were made.
    ///
    /// # Errors
    /// The kernel's: without CAP_SYS_ADMIN, permission denied.
    pub fn enter_thread(&self) -> io::Result<()> {
        setns(&self.0, CloneFlags::CLONE_NEWNET)
            .map_err(|error| with_context(error.into(), "entering a network namespace"))
    }

    /// Runs `work` in a thread inside, and returns its result. A panic inside goes on outside.
    ///
    /// # Errors
    /// Those of [`Namespace::enter_thread`].
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_thread(|| self.enter_thread().map(|()| work()))
    }

    /// Sets a sysctl of this namespace, e.g. `net.ipv4.tcp_ecn` to `1`.
    ///
    /// # Errors
    /// Those of [`sysctl::set`].
    pub fn sysctl(&self, name: &str, value: &str) -> io::Result<()> {
        self.run(|| sysctl::set(name, value))?
    }

    /// The value of a sysctl of this namespace.
    ///
    /// # Errors
    /// As [`Namespace::sysctl`].
    pub fn sysctl_value(&self, name: &str) -> io::Result<String> {
        self.run(|| sysctl::get(name))?
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Runs `work` in a thread of its own, because a namespace belongs to a thread, and no thread that others use
/// may change it.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let done = thread::scope(|scope| scope.spawn(work).join());
    done.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

/// Adds to an error what it is about, and the cure if there is one.
#[must_use]
pub fn with_context(error: io::Error, what: &str) -> io::Error {
    let cure = match error.kind() {
        io::ErrorKind::PermissionDenied => "; needs CAP_NET_ADMIN and CAP_SYS_ADMIN: run it with sudo",
        _ => "",
    };
    io::Error::new(error.kind(), format!("{what}: {error}{cure}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn loopback_is_up_and_of_the_namespace_alone() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let listener = namespace.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        assert!(namespace.run(|| TcpStream::connect(address)).unwrap().is_ok());
        assert!(TcpStream::connect(address).is_err(), "reached from another namespace");
    }

    #[test]
    fn a_sysctl_is_of_the_namespace_alone() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let outside = Namespace::current().unwrap();
        let name = "net.ipv4.tcp_reordering";
        let before = outside.sysctl_value(name).unwrap();
        namespace.sysctl(name, "17").unwrap();
        assert_eq!(namespace.sysctl_value(name).unwrap(), "17");
        assert_eq!(outside.sysctl_value(name).unwrap(), before);
    }

    #[test]
    fn sysctls_of_the_host_are_refused() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        for name in ["kernel.panic", "net/../kernel.panic", "net..ipv4", "net.//.kernel.panic"] {
            let refused = namespace.sysctl(name, "0").unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        let unknown = namespace.sysctl("net.ipv4.tcp_nonsense", "1").unwrap_err().to_string();
        assert!(unknown.contains("net.ipv4.tcp_nonsense=1"), "{unknown}");
    }

    #[test]
    fn a_panic_inside_goes_on_outside() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let ran = panic::catch_unwind(panic::AssertUnwindSafe(|| namespace.run(|| panic!("inside"))));
        assert_eq!(*ran.unwrap_err().downcast::<&str>().unwrap(), "inside");
    }
}
