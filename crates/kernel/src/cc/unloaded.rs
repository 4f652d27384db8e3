//! What became of a controller.

/// What [`unload`](super::unload) has done.
#[derive(Clone, Debug, Default)]
pub struct Unloaded {
    /// Its name in the kernel.
    pub name: String,
    /// Sockets that still use it. The kernel keeps the program for them until they close. `None` if unknown.
    pub sockets: Option<u64>,
    /// What was undone, in words.
    pub undone: Vec<String>,
    /// What could not be undone, in words.
    pub left: Vec<String>,
    /// Whether it is still the default of the calling thread's network namespace, because somebody else has set
    /// that.
    pub is_default: bool,
}
