//! A recipe that is read again.

use super::{fixtures, pairs};
use crate::scenario::Recipe;
use std::path::Path;

const TEXT: &str = "[[link]]\nname = \"air\"\ntrace = \"steady.trace\"\ndelay = \"25ms\"\n\
    jitter = { distribution = \"series\", file = \"ping.txt\" }\nreverse.log = \"log.json\"\n";

fn read(recipe: &mut Recipe) -> crate::Scenario {
    recipe.read().unwrap_or_else(|error| panic!("{error}"))
}

/// What it has read goes with it: serialised, it needs none of the files that it names.
#[test]
fn a_recipe_carries_its_files() {
    let folder = fixtures();
    let folder = folder.strip_prefix(std::env::current_dir().expect("a folder")).expect("below this one");
    let mut recipe = Recipe::new(TEXT, "air.toml", folder, &pairs(&[("seeds", "7")]));
    let scenario = read(&mut recipe);
    let carried = serde_json::to_string(&recipe).expect("text").replace("src/scenario", "no/such/place");
    let mut restored: Recipe = serde_json::from_str(&carried).expect("a recipe");
    assert_eq!(restored.folder, Path::new("no/such/place/tests/fixtures"));
    assert_eq!(read(&mut restored), scenario);
}

/// Queue room follows the rate when a recipe is read again, as if the file had been edited.
#[test]
fn defaults_are_derived_anew() {
    let text = |rate| format!("[[link]]\nname = \"air\"\nrate = \"{rate}\"\ndelay = \"25ms\"\n");
    let mut recipe = Recipe::new(&text("10Mbit/s"), "air.toml", Path::new(""), &[]);
    let before = read(&mut recipe);
    recipe.overrides.push(("air.rate".to_owned(), "100Mbit/s".to_owned()));
    let after = read(&mut recipe);
    assert_ne!(after.links[0].forward.queue, before.links[0].forward.queue);
    assert_eq!(after, read(&mut Recipe::new(&text("100Mbit/s"), "air.toml", Path::new(""), &[])));
}

/// A generated text has no lines to point to: the key gives the place.
#[test]
fn problems_of_values_are_named_by_their_key_alone() {
    let error = Recipe::new("[[link]]\nrat = 1", "", Path::new(""), &[]).read().expect_err("a typo");
    assert!(error.to_string().starts_with("link[0].rat: unknown key; did you mean `rate`?"), "{error}");
}
