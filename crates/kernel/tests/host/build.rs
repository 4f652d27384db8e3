//! Compiles the programs of `bpf/cc` unchanged, with `stub.h` in place of `kernel.h`, and the model of the
//! kernel that calls them.

use anyhow::Context;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BPF: &str = "../../src/bpf";

fn main() -> anyhow::Result<()> {
    println!("cargo:rerun-if-changed={BPF}");
    println!("cargo:rerun-if-changed=c");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").context("OUT_DIR")?);
    let names = controllers()?;
    for name in &names {
        // All programs use the same names inside, and become one library.
        compiler()
            .define("controller", &*format!("{name}_ops"))
            .define("params", &*format!("{name}_parameters"))
            .define("counters", &*format!("{name}_counters"))
            .define("may_pace", &*format!("{name}_may_pace"))
            .define("LICENSE", &*format!("{name}_license"))
            .file(Path::new(BPF).join(format!("cc/{name}.bpf.c")))
            .try_compile(name)?;
    }
    std::fs::write(out.join("controllers.inc"), table(&names)?)?;
    compiler().include(out).file("c/machine.c").try_compile("machine")?;
    for name in ["filter", "header_first"] {
        cc::Build::new().include(BPF).file(format!("c/{name}.c")).try_compile(name)?;
    }
    Ok(())
}

fn controllers() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(Path::new(BPF).join("cc"))? {
        let name = entry?.file_name().into_string().ok().context("a name")?;
        names.extend(name.strip_suffix(".bpf.c").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(BPF)
        .flag("-include")
        .flag("c/stub.h")
        .flag_if_supported("-Wno-unknown-pragmas")
        .warnings(false);
    build
}

/// A controller without parameters has no `NAME_parameters`: the weak symbol is then null.
fn table(names: &[String]) -> anyhow::Result<String> {
    let mut text = String::new();
    for name in names {
        writeln!(text, "extern struct tcp_congestion_ops {name}_ops;")?;
        writeln!(text, "extern __u32 {name}_parameters[] __attribute__((weak));")?;
    }
    writeln!(text, "static const struct controller controllers[] = {{")?;
    for name in names {
        writeln!(text, "\t{{ \"{name}\", &{name}_ops, {name}_parameters }},")?;
    }
    Ok(text + "};\n")
}
