//! Runs a command behind a link: in a network namespace whose only way out is a device of ours.
//!
//! The command also has a PID namespace, whose first process is ours and dies when this process does. The kernel then
//! ends everything that the command has started, and so the namespace and the devices. Nothing has to be cleaned up
//! after a kill −9.

pub(crate) mod address;
mod closing;
mod inside;
mod nat;
mod privileges;
mod terminal;

use super::forwarding::DEVICES;
use super::{Namespace, Veth, add_ipv6, leftovers};
use crate::emulate::PacketSocket;
use crate::invoker::Invoker;
use crate::signals::Signals;
use crate::warn;
use address::Block;
use airtcp_kernel::netlink::Netlink;
use anyhow::Context;
use closing::Closing;
use inside::{Inside, Order};
use nat::Nat;
use nix::net::if_::if_nametoindex;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, io, process, thread};
use terminal::Terminal;

/// Name of the device behind the link.
const NEAR: &str = "airtcp0";

/// In bytes.
const MTU: u16 = 1500;

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub struct Behind {
    /// The link's name, for the prompt.
    pub name: String,
    /// Program and arguments; empty for the user's shell.
    pub command: Vec<String>,
    /// Whether the command can reach what this namespace reaches.
    pub nat: bool,
    /// How long connections that the command leaves behind may take to close. Later, they are cut.
    pub drain: Duration,
}

/// The two ends of the link, before the path connects them.
pub struct Ends {
    /// At the command.
    pub near: PacketSocket,
    /// In the namespace of the calling thread.
    pub far: PacketSocket,
}

/// Runs a command behind a link, and an emulator in a thread of its own, until the command has ended, the connections
/// it leaves behind have closed, and the flag is set. If the emulator returns before, the command is told to end.
/// Returns the command's exit status as shells do (127: no such program; 128 + n: ended by signal n), and the
/// emulator's result.
///
/// `prepare` makes the emulator. It is called with the rights that this process was started with, and only when
/// everything that the link needs is there.
///
/// If sudo has started this process, the command runs as the user who started sudo, and so does this process once the
/// link is there. Otherwise it drops the capabilities that it does not need.
///
/// # Errors
/// What is missing, and how to get it. Nothing is left behind.
///
/// # Panics
/// If the emulator does.
pub fn run<T: Send, E: FnOnce(Ends, &AtomicBool) -> T + Send>(
    behind: &Behind,
    prepare: impl FnOnce() -> anyhow::Result<E>,
) -> anyhow::Result<(u8, T)> {
    let namespace = Namespace::new()?;
    let invoker = Invoker::find()?;
    let terminal = Terminal::open();
    let signals = Signals::block()?;
    // From here on errors end the process inside, which waits for its order.
    let mut inside = Inside::start(&namespace, invoker.as_ref(), &signals)?;
    let device = far_name();
    let _gone = Gone(&device);
    let (ends, block) = ends(&namespace, &device)?;
    let nat = behind.nat.then(|| Nat::open(&device, block.near())).transpose().context("--nat")?;
    let emulate = prepare()?;
    let mut closing = Closing::of(&namespace)?;
    privileges::give_up(invoker.as_ref(), behind.nat)?;
    let (hung_up, end_of_path) = io::pipe()?;
    let stop = AtomicBool::new(false);
    let (status, answer) = thread::scope(|scope| -> io::Result<_> {
        let path = scope.spawn(|| {
            let _end_of_path = end_of_path;
            emulate(ends, &stop)
        });
        let status = inside
            .order(&order(behind, invoker.as_ref(), block))
            .and_then(|()| signals.attend(inside.pid(), &hung_up));
        let left = closing.wait(&signals, hung_up.as_fd(), behind.drain)?;
        if left > 0 {
            warn!("airtcpd: {left} connections of the command were still open and were cut (--drain)");
        }
        stop.store(true, Ordering::Relaxed);
        let answer = path.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((status?, answer))
    })?;
    drop(nat);
    terminal.restore();
    Ok((status, answer))
}

/// Makes the two devices, with addresses and routes. Nobody else may choose addresses meanwhile.
fn ends(namespace: &Namespace, far: &str) -> anyhow::Result<(Ends, Block)> {
    let _guard = leftovers::lock(Path::new(leftovers::FOLDER))?;
    let block = Block::unused()?;
    let veth = |name, address| Veth { name, address, prefix: address::PREFIX, mtu: MTU };
    let near = veth(NEAR, block.near()).make_in(namespace)?;
    let device = far;
    namespace.run(|| Netlink::open()?.route_all(NEAR))??;
    let far = veth(device, block.far()).make_in(&Namespace::current()?)?;
    namespace.run(|| add_ipv6(NEAR, address::v6(block.near()), address::PREFIX_V6))??;
    add_ipv6(device, address::v6(block.far()), address::PREFIX_V6)?;
    Ok((Ends { near, far }, block))
}

fn far_name() -> String {
    format!("{DEVICES}{}", process::id())
}

/// Waits on drop until the device of this name is gone, which takes the kernel some 30 ms. Otherwise the next link
/// would have other addresses.
struct Gone<'a>(&'a str);

impl Drop for Gone<'_> {
    #[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
    fn drop(&mut self) {
        for _ in 0..500 {
            if if_nametoindex(self.0).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn order(behind: &Behind, invoker: Option<&Invoker>, block: Block) -> Order {
    let shell = || {
        let own = invoker.and_then(Invoker::shell).or_else(|| env::var_os("SHELL").map(PathBuf::from));
        own.unwrap_or_else(|| PathBuf::from("/bin/sh")).to_string_lossy().into_owned()
    };
    let (program, arguments) = match behind.command.split_first() {
        Some((program, arguments)) => (program.clone(), arguments.to_vec()),
        None => (shell(), Vec::new()),
    };
    let mut environment = invoker.map(Invoker::environment).unwrap_or_default();
    environment.extend(variables(&behind.name, block).map(|(name, value)| (name.to_owned(), value)));
    Order { program, arguments, environment }
}

/// Replaces whatever a shell might expand in a prompt.
fn plain(name: &str) -> String {
    let means_nothing = |sign: char| sign.is_alphanumeric() || " .,:+-_/=@".contains(sign);
    name.chars().map(|sign| if means_nothing(sign) { sign } else { '?' }).collect()
}

/// Environment variables that tell the command where it is. The prompt shows links within links, the innermost last.
fn variables(name: &str, block: Block) -> [(&'static str, String); 9] {
    let around = env::var("AIRTCP_LINK_PROMPT").unwrap_or_default();
    let prompt = format!("{around}[{}] ", plain(name));
    // bash's own prompt comes from files that it reads before it runs this.
    let prompter = r#"case $PS1 in "$AIRTCP_LINK_PROMPT"*) ;; *) PS1=$AIRTCP_LINK_PROMPT$PS1 ;; esac"#;
    [
        ("AIRTCP_LINK_NEAR", block.near().to_string()),
        ("AIRTCP_LINK_FAR", block.far().to_string()),
        ("AIRTCP_LINK_NEAR6", address::v6(block.near()).to_string()),
        ("AIRTCP_LINK_FAR6", address::v6(block.far()).to_string()),
        ("AIRTCP_LINK_DEVICE", NEAR.to_owned()),
        ("AIRTCP_LINK_NAME", name.to_owned()),
        ("PS1", format!("{prompt}\\$ ")),
        ("PROMPT_COMMAND", prompter.to_owned()),
        ("AIRTCP_LINK_PROMPT", prompt),
    ]
}
