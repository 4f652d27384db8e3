//! Filters that outlive the process that attached them: pinned in the BPF file system, in a folder for each interface.

use super::clsact::Clsact;
use super::hooks::{Hold, Hooks};
use super::{Attached, FilterError, FlowRecord, Parameters, Totals, attach, maps};
use crate::loading::{self, Lock, bpffs, missing_capabilities};
use crate::namespace::NamespaceId;
use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Link, MapHandle};
use nix::net::if_::{if_indextoname, if_nametoindex};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/sys/fs/bpf/airtcp/filter";
const LOCK: &str = "/run/airtcp/filter";
/// Pinned last: a folder without both was left by an airtcpd that was killed.
const LINKS: [&str; 2] = ["data", "acks"];
const MAPS: [&str; 3] = ["flows", "parameters", "totals"];
/// Marks for filters of clsact, which has no links to pin: the qdisc was there, or it is ours.
const CLSACT: [&str; 2] = ["clsact", "clsact-of-ours"];

/// A pinned filter.
pub struct Installed {
    place: Attachment,
    flows: MapHandle,
    parameters: MapHandle,
    totals: MapHandle,
}

/// Where a filter is: the network namespace's number, as the kernel's tools show it, and the interface's number
/// there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Attachment {
    namespace: u64,
    interface: u32,
}

/// Attaches a filter that stays until it is [uninstalled](uninstall), its interface disappears, or the host
/// reboots.
///
/// # Errors
/// As [`attach`], or there is one already. Nothing is left behind.
pub fn install(interface: &str, parameters: &Parameters, hooks: Hooks) -> Result<Installed, FilterError> {
    let _lock = lock()?;
    bpffs::mount()?;
    clean()?;
    let place = Attachment::of(interface)?;
    if place.folder().exists() {
        return Err(FilterError::Attached(interface.to_owned()));
    }
    let attached = attach(interface, parameters, hooks)?;
    pin(attached, &place).inspect_err(|_| {
        // Report the first error.
        let _ = place.remove();
    })?;
    place.open()
}

/// All pinned filters.
///
/// # Errors
/// They cannot be read.
pub fn installed() -> Result<Vec<Installed>, FilterError> {
    let mut places: Vec<_> = folders()?.iter().filter_map(|folder| Attachment::from_folder(folder)).collect();
    places.sort_by_key(|place| (place.namespace, place.interface));
    places.into_iter().filter(Attachment::is_alive).map(|place| place.open()).collect()
}

/// The filter on `interface` of this thread's network namespace.
///
/// # Errors
/// There is none.
pub fn on(interface: &str) -> Result<Installed, FilterError> {
    let place = Attachment::of(interface)?;
    match place.is_alive() {
        true => place.open(),
        false => Err(FilterError::NotAttached(interface.to_owned())),
    }
}

/// Removes the filter on `interface` of this thread's network namespace.
///
/// # Errors
/// There is none, or it cannot be removed.
pub fn uninstall(interface: &str) -> Result<(), FilterError> {
    let _lock = lock()?;
    clean()?;
    let place = Attachment::of(interface)?;
    match place.folder().exists() || Clsact::attached(place.interface) > 0 {
        true => place.remove(),
        false => Err(FilterError::NotAttached(interface.to_owned())),
    }
}

impl Installed {
    /// The interface's name, or its number if it is in another network namespace.
    #[must_use]
    pub fn interface(&self) -> String {
        let Attachment { namespace, interface } = self.place;
        let is_here = NamespaceId::current().is_ok_and(|current| current.inode() == namespace);
        let name =
            if_indextoname(interface).ok().filter(|_| is_here).and_then(|name| name.into_string().ok());
        name.unwrap_or_else(|| format!("interface {interface} of network namespace {namespace}"))
    }

    /// Removes this filter from its interface, wherever that is.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn uninstall(self) -> Result<(), FilterError> {
        let _lock = lock()?;
        self.place.remove()
    }

    /// # Errors
    /// What the kernel refuses.
    pub fn parameters(&self) -> Result<Parameters, FilterError> {
        maps::parameters(&self.parameters, &self.flows)
    }

    /// Changes the parameters, also for known flows, except `max_flows`.
    ///
    /// # Errors
    /// They are not possible; nothing is changed.
    pub fn set(&self, parameters: &Parameters) -> Result<(), FilterError> {
        parameters.check()?;
        maps::set(&self.parameters, parameters)
    }

    /// # Errors
    /// What the kernel refuses.
    pub fn totals(&self) -> Result<Totals, FilterError> {
        maps::totals(&self.totals)
    }

    /// The flows that are understood, in no order.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowRecord> {
        maps::flows(&self.flows)
    }
}

impl Attachment {
    fn of(interface: &str) -> Result<Attachment, FilterError> {
        let index = if_nametoindex(interface).map_err(|_| FilterError::NoInterface(interface.to_owned()))?;
        Ok(Attachment { namespace: NamespaceId::current()?.inode(), interface: index })
    }

    fn folder(&self) -> PathBuf {
        Path::new(FOLDER).join(format!("{}-{}", self.namespace, self.interface))
    }

    fn from_folder(folder: &Path) -> Option<Attachment> {
        let (namespace, interface) = folder.file_name()?.to_str()?.split_once('-')?;
        Some(Attachment { namespace: namespace.parse().ok()?, interface: interface.parse().ok()? })
    }

    /// Returns whether both programs are still on their interface. The kernel detaches them from one that
    /// disappears, but leaves the pins.
    fn is_alive(&self) -> bool {
        let is_attached = |link: &str| {
            let info = Link::open(self.folder().join(link)).and_then(|link| link.info());
            info.is_ok_and(
                |info| matches!(info.info, LinkTypeInfo::Tcx(tcx) if tcx.ifindex == self.interface),
            )
        };
        if self.has_clsact().is_some() {
            return matches!(self.within(|| Ok(Clsact::attached(self.interface))), Ok(Some(2)));
        }
        LINKS.iter().all(|link| is_attached(link))
    }

    /// If the programs are filters of clsact, whether the qdisc is ours.
    fn has_clsact(&self) -> Option<bool> {
        let [others, ours] = CLSACT.map(|pin| self.folder().join(pin).exists());
        (others || ours).then_some(ours)
    }

    fn within<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, FilterError> + Send,
    ) -> Result<Option<T>, FilterError> {
        NamespaceId::of_inode(self.namespace)?.within(work)
    }

    /// Removes the programs first: without them, nothing happens to packets.
    fn remove(&self) -> Result<(), FilterError> {
        let is_ours = self.has_clsact().unwrap_or_default();
        self.within(|| Clsact::detach(self.interface, is_ours))?;
        if self.folder().exists() { remove(&self.folder()) } else { Ok(()) }
    }

    fn open(self) -> Result<Installed, FilterError> {
        let open = |name: &str| {
            let found = MapHandle::from_pinned_path(self.folder().join(name));
            found.map_err(FilterError::kernel(format!("open {}", self.folder().join(name).display())))
        };
        let [flows, parameters, totals] = MAPS;
        let (flows, parameters, totals) = (open(flows)?, open(parameters)?, open(totals)?);
        Ok(Installed { place: self, flows, parameters, totals })
    }
}

fn pin(mut attached: Attached, place: &Attachment) -> Result<(), FilterError> {
    let folder = place.folder();
    loading::folder::make(&folder).map_err(FilterError::io(folder.display().to_string()))?;
    let maps = [&mut attached.flows, &mut attached.parameters, &mut attached.totals];
    for (map, name) in maps.into_iter().zip(MAPS) {
        map.pin(folder.join(name)).map_err(FilterError::kernel("pin a map"))?;
    }
    match attached.hold {
        Hold::Tcx(mut links) => links.iter_mut().zip(LINKS).try_for_each(|(link, name)| {
            link.pin(folder.join(name)).map_err(FilterError::kernel("pin a program"))
        }),
        Hold::Clsact(clsact) => {
            let mark = folder.join(CLSACT[usize::from(clsact.is_new())]);
            let mut totals = place.open()?.totals;
            totals.pin(mark).map_err(FilterError::kernel("pin a map"))?;
            clsact.keep();
            Ok(())
        }
    }
}

/// Removes what killed airtcpds have left, and what belonged to interfaces that are gone.
fn clean() -> Result<(), FilterError> {
    folders()?.iter().try_for_each(|folder| match Attachment::from_folder(folder) {
        Some(place) if place.is_alive() => Ok(()),
        Some(place) => place.remove(),
        None => remove(folder),
    })
}

fn folders() -> Result<Vec<PathBuf>, FilterError> {
    match fs::read_dir(FOLDER) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(FilterError::io(FOLDER)(error)),
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
    }
}

fn remove(folder: &Path) -> Result<(), FilterError> {
    for name in LINKS.into_iter().chain(MAPS).chain(CLSACT) {
        let pin = folder.join(name);
        loading::remove(&pin).map_err(FilterError::io(pin.display().to_string()))?;
    }
    fs::remove_dir(folder).map_err(FilterError::io(folder.display().to_string()))
}

/// Lets one process at a time make changes.
fn lock() -> Result<Lock, FilterError> {
    missing_capabilities().map_or(Ok(()), |missing| Err(FilterError::Capability(missing)))?;
    Lock::take("filter").map_err(FilterError::io(LOCK))
}
