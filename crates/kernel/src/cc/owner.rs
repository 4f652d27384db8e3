//! Who a congestion control of the kernel belongs to.

use super::pins;
use crate::loading::missing_capabilities;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, HasSize};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::fmt;
use std::path::Path;

/// Who has put a congestion control into the kernel.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Owner {
    /// `airtcpd cc load`.
    Airtcpd,
    /// An eBPF program. `processes` hold it, as far as this process may see; a pinned one needs none.
    Program { map_id: u32, processes: Vec<String> },
    /// A module of the kernel.
    Module { name: String },
    /// The kernel itself.
    Kernel,
    /// This process is not allowed to see.
    Unknown,
}

impl Owner {
    /// The owner of an existing congestion control.
    pub(super) fn of(name: &str) -> Owner {
        if pins::is_pinned(name) {
            return Owner::Airtcpd;
        }
        if let Some(map_id) = struct_ops_map(name) {
            return Owner::Program { map_id, processes: holders(map_id) };
        }
        let module = format!("tcp_{name}");
        // Modules that are part of the kernel's image have no such file.
        if Path::new("/sys/module").join(&module).join("initstate").exists() {
            return Owner::Module { name: module };
        }
        match missing_capabilities() {
            None => Owner::Kernel,
            Some(_) => Owner::Unknown,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Airtcpd => f.write_str("airtcpd cc load"),
            Owner::Program { map_id, processes } if processes.is_empty() => {
                write!(f, "another eBPF program (map {map_id})")
            }
            Owner::Program { map_id, processes } => {
                write!(f, "another eBPF program (map {map_id}, held by {})", processes.join(", "))
            }
            Owner::Module { name } => write!(f, "the kernel module {name}"),
            Owner::Kernel => f.write_str("the kernel"),
            Owner::Unknown => f.write_str("? (visible only to root)"),
        }
    }
}

/// The map through which an eBPF program has registered the congestion control called `name`.
fn struct_ops_map(name: &str) -> Option<u32> {
    let btf = Btf::from_vmlinux().ok()?;
    let value: Struct<'_> = btf.type_by_name("bpf_struct_ops_tcp_congestion_ops")?;
    let ops: Struct<'_> = btf.type_by_name("tcp_congestion_ops")?;
    let name_at = offset(&value, "data")? + offset(&ops, "name")?;
    let is_called = |memory: &[u8]| memory.get(name_at..).is_some_and(|rest| is_string(rest, name));
    MapInfoIter::default()
        .filter(|map| map.ty == MapType::StructOps && map.value_size as usize == value.size())
        .map(|map| map.id)
        .find(|&id| {
            let memory = MapHandle::from_map_id(id).and_then(|map| map.lookup(&[0; 4], MapFlags::ANY));
            memory.is_ok_and(|memory| memory.is_some_and(|memory| is_called(&memory)))
        })
}

/// Offset of a member in bytes.
fn offset(composite: &Struct<'_>, member: &str) -> Option<usize> {
    composite.iter().find(|found| found.name.is_some_and(|name| name == member)).and_then(|found| match found
        .attr
    {
        MemberAttr::Normal { offset } => Some(offset as usize / 8),
        MemberAttr::BitField { .. } => None,
    })
}

/// Returns whether `memory` begins with the C string `text`.
fn is_string(memory: &[u8], text: &str) -> bool {
    memory.strip_prefix(text.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
}

/// The processes that hold the map or a link to it: number and command.
fn holders(map_id: u32) -> Vec<String> {
    let line = format!("map_id:\t{map_id}");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let holds = |process: &Path| {
        let files = std::fs::read_dir(process.join("fdinfo")).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.lines().any(|found| found == line))
    };
    entries
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .filter(|entry| holds(&entry.path()))
        .map(|entry| {
            let command = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            format!("process {} {}", entry.file_name().to_string_lossy(), command.trim_end())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_their_zero() {
        assert!(is_string(b"veno\0\0", "veno"));
        assert!(!is_string(b"veno2\0", "veno"));
        assert!(!is_string(b"ven", "veno"));
    }
}
