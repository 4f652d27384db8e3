use super::*;
use std::path::Path;

#[test]
fn try_out() {
    for text in [
        "duration = 10\nlinks = 1\n[[link]]\nrat = \"10Mbit/s\"\n[link.queue]\ndiscipline = \"codl\"\n",
        "[[link]]\nrate = \"10Mbt/s\"\nloss = { ber = 2 }\n",
        "[[link]]\nrate = \"10Mbit/s\"\nloss.ber = \"2e-6\"\n[link.queue]\nweight=0.1\n[[flow]]\nenter='link'\nleave='x'\n",
        "[[link]]\nrate = \"0Mbit/s\"\ntrace='x'\nname='a'\n[[link]]\nname='a'\n[[link]]\nrate='1Mbit/s'\njitter={distribution='normal', low='1s'}\nspikes = {length=''}",
        "[link]\nrate = \"0Mbit/s\"\n",
        "a = = 3\nb = \"",
        "[[link]]\ntrace = \"moda.rs\"\n",
        "",
    ] {
        println!("--\n{text}=>");
        println!("{}", Scenario::load(text, "lossy.toml", Path::new("src/scenario"), &[]).unwrap_err());
    }
    println!("{}", Scenario::built_in(&[]).unwrap().to_toml());
    println!("{:#}", schema());
}
