//! Compiles the eBPF programs of `src/bpf` with clang, and makes a skeleton of each that has the object inside.

use anyhow::Context;
use libbpf_cargo::SkeletonBuilder;
use std::path::{Path, PathBuf};

const FOLDER: &str = "src/bpf";

/// Debian keeps the headers that differ between machines apart.
fn machine_headers() -> Option<PathBuf> {
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").ok()?;
    let folder = PathBuf::from(format!("/usr/include/{arch}-linux-gnu"));
    folder.is_dir().then_some(folder)
}

fn main() -> anyhow::Result<()> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").context("OUT_DIR")?);
    let headers = machine_headers().map(|folder| format!("-I{}", folder.display()));
    for entry in std::fs::read_dir(FOLDER)? {
        let source = entry?.path();
        if let Some(name) = source.to_string_lossy().strip_suffix(".bpf.c") {
            let name = Path::new(name).file_name().context("a name")?.to_string_lossy().into_owned();
            SkeletonBuilder::new()
                .source(&source)
                .clang_args(["-I", FOLDER, "-Wall", "-Werror"].into_iter().chain(headers.as_deref()))
                .build_and_generate(out.join(format!("{name}.skel.rs")))
                .with_context(|| format!("{}: is clang installed? `make field` does it", source.display()))?;
        }
    }
    Ok(())
}
