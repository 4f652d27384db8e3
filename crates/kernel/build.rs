//! Compiles the eBPF programs of `src/bpf` with clang. Those of `cc/` are all loaded in the same way
//! (`src/cc`), and are embedded as they are, by name. Each of the others gets a skeleton with the object
//! inside.

use anyhow::Context;
use libbpf_cargo::SkeletonBuilder;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const FOLDER: &str = "src/bpf";

fn main() -> anyhow::Result<()> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").context("OUT_DIR")?);
    for (name, source) in sources(Path::new(FOLDER))? {
        let skeleton = out.join(format!("{name}.skel.rs"));
        compiler(&source).build_and_generate(skeleton).with_context(|| failed(&source))?;
    }
    let mut table = "&[\n".to_owned();
    for (name, source) in sources(&Path::new(FOLDER).join("cc"))? {
        let object = out.join(format!("{name}.bpf.o"));
        compiler(&source).obj(&object).build().with_context(|| failed(&source))?;
        writeln!(table, "({name:?}, include_bytes!({object:?})),")?;
    }
    std::fs::write(out.join("controllers.rs"), table + "]\n")?;
    Ok(())
}

/// The programs in a folder, in alphabetical order of their names.
fn sources(folder: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".bpf.c"));
        if let Some(name) = name {
            found.push((name.to_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

fn compiler(source: &Path) -> SkeletonBuilder {
    let headers = machine_headers().map(|folder| format!("-I{}", folder.display()));
    let mut builder = SkeletonBuilder::new();
    builder
        .source(source)
        .clang_args(["-I", FOLDER, "-Wall", "-Werror"].into_iter().chain(headers.as_deref()));
    builder
}

/// Debian keeps machine-specific headers apart, and those of its cross compilers elsewhere.
fn machine_headers() -> Option<PathBuf> {
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").ok()?;
    let folders = [format!("/usr/include/{arch}-linux-gnu"), format!("/usr/{arch}-linux-gnu/include")];
    folders.into_iter().map(PathBuf::from).find(|folder| folder.is_dir())
}

fn failed(source: &Path) -> String {
    format!("{}: is clang installed? `make field` does it", source.display())
}
