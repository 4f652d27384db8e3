//! The kernel's `struct tcp_congestion_ops`, as its type information has it: what a controller's hooks are fitted to.

use super::requirements::KERNEL_TYPES;
use libbpf_rs::btf::types::{FuncProto, MemberAttr, Struct};
use libbpf_rs::btf::{Btf, BtfType, TypeId};
use libbpf_rs::{MapType, OpenMapMut, OpenObject, Result};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const OPS: &str = "tcp_congestion_ops";
/// The name of a controller's map, and of the one for kernels that call cong_control with two arguments.
const MAP: &str = "controller";
const MAP_FOR_TWO: &str = "controller_two";
/// Bytes of a pointer to a program.
const POINTER: usize = 8;

/// The kernel's hooks.
#[derive(Clone)]
pub(super) struct Ops {
    /// Number of arguments, by name.
    pub hooks: BTreeMap<String, usize>,
    /// Whether a map is registered by a link (Linux 6.4). Otherwise an update of the map registers it for good.
    pub has_links: bool,
}

impl Ops {
    /// This kernel's; none at all if it has no type information.
    pub fn of_kernel() -> &'static Ops {
        static OPS: OnceLock<Ops> = OnceLock::new();
        OPS.get_or_init(|| {
            Btf::from_path(KERNEL_TYPES)
                .map_or(Ops { hooks: BTreeMap::new(), has_links: true }, |btf| Ops::of(&btf))
        })
    }

    fn of(btf: &Btf<'_>) -> Ops {
        let hooks = hooks(btf).into_iter().map(|hook| (hook.name, hook.arguments)).collect();
        Ops { hooks, has_links: btf.type_by_name::<Struct<'_>>("bpf_struct_ops_link").is_some() }
    }

    /// Makes an object's hooks what the kernel has, and returns the map to register.
    pub fn fit(&self, open: &mut OpenObject, hooks: &[Hook]) -> Result<&'static str> {
        let has_two = self.hooks.get("cong_control") == Some(&2);
        let is_for_two = has_two && open.maps().any(|map| map.name() == MAP_FOR_TWO);
        let wanted = if is_for_two { MAP_FOR_TWO } else { MAP };
        for mut map in open.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            match map.name() == wanted {
                true => self.fit_map(&mut map, hooks)?,
                false => map.set_autocreate(false)?,
            }
        }
        Ok(wanted)
    }

    fn fit_map(&self, map: &mut OpenMapMut<'_>, hooks: &[Hook]) -> Result<()> {
        if !self.has_links {
            map.set_map_flags(0)?;
        }
        let lacking = hooks.iter().filter(|hook| !self.hooks.contains_key(&hook.name));
        if let Some(memory) = map.initial_value_mut() {
            lacking.for_each(|hook| memory[hook.at..][..POINTER].fill(0));
        }
        Ok(())
    }
}

/// Makes a map without optional hooks one that this kernel registers.
pub(crate) fn fit(map: &mut OpenMapMut<'_>) -> Result<()> {
    Ops::of_kernel().fit_map(map, &[])
}

/// A member of `tcp_congestion_ops` that is a function.
pub(super) struct Hook {
    pub name: String,
    /// Offset in bytes.
    pub at: usize,
    pub arguments: usize,
}

/// Those of an object or a kernel.
pub(super) fn hooks(btf: &Btf<'_>) -> Vec<Hook> {
    let Some(ops) = btf.type_by_name::<Struct<'_>>(OPS) else { return Vec::new() };
    let hook = |name: &str, ty, attr| {
        let arguments = prototype(btf, ty)?.len();
        Some(Hook { name: name.to_owned(), at: offset(attr), arguments })
    };
    ops.iter().filter_map(|member| hook(member.name?.to_str()?, member.ty, member.attr)).collect()
}

/// In bytes.
pub(super) fn offset(attr: MemberAttr) -> usize {
    match attr {
        MemberAttr::Normal { offset } | MemberAttr::BitField { offset, .. } => offset as usize / 8,
    }
}

fn prototype<'a>(btf: &'a Btf<'_>, ty: TypeId) -> Option<FuncProto<'a>> {
    let pointed = btf.type_by_id::<BtfType<'_>>(ty)?.skip_mods_and_typedefs().next_type()?;
    FuncProto::try_from(pointed.skip_mods_and_typedefs()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::controllers;
    use super::*;
    use libbpf_rs::ObjectBuilder;
    use proptest::prelude::*;

    /// The map that a kernel with these hooks gets, and its content before and after it was fitted.
    fn fitted(at: usize, kernel: &Ops) -> (&'static str, Vec<u8>, Vec<u8>) {
        let controller = &controllers()[at];
        let mut open = ObjectBuilder::default().open_memory(controller.object).unwrap();
        let content = |open: &mut OpenObject, name: &str| {
            let mut map = open.maps_mut().find(|map| map.name() == name).unwrap();
            map.initial_value_mut().unwrap().to_vec()
        };
        let before = [MAP, MAP_FOR_TWO].map(|name| {
            let is_there = open.maps().any(|map| map.name() == name);
            is_there.then(|| content(&mut open, name))
        });
        let map = kernel.fit(&mut open, &controller.hooks).unwrap();
        let [one, two] = before;
        (map, if map == MAP { one } else { two }.unwrap(), content(&mut open, map))
    }

    proptest! {
        /// Whatever hooks a kernel has, a program is left for each of these alone, and called as the kernel calls it.
        #[test]
        fn any_kernel_gets_the_hooks_that_it_has(at in 0..controllers().len(), has: u32, two: bool, has_links: bool) {
            let all = &controllers()[at].hooks;
            let arguments = |hook: &Hook| if two && hook.name == "cong_control" { 2 } else { hook.arguments };
            let had = all.iter().enumerate().filter(|(bit, _)| has >> bit & 1 == 1);
            let hooks = had.map(|(_, hook)| (hook.name.clone(), arguments(hook))).collect();
            let kernel = Ops { hooks, has_links };
            let (map, before, after) = fitted(at, &kernel);
            let calls_with_two = kernel.hooks.get("cong_control") == Some(&2);
            let has_both = controllers()[at].scheme() == "concord";
            prop_assert_eq!(map == MAP_FOR_TWO, calls_with_two && has_both);
            for hook in all {
                let (was, is) = (&before[hook.at..][..POINTER], &after[hook.at..][..POINTER]);
                prop_assert_eq!(is, if kernel.hooks.contains_key(&hook.name) { was } else { &[0; POINTER] }, "{}", hook.name);
            }
        }
    }

    #[test]
    fn this_kernels_hooks_are_read() {
        let kernel = Ops::of_kernel();
        if kernel.hooks.is_empty() {
            return eprintln!("skipped: no type information here");
        }
        assert_eq!((kernel.hooks.get("init"), kernel.hooks.get("cong_avoid")), (Some(&1), Some(&3)));
    }
}
