//! The set uses everything that a scenario can have.

use crate::same::set::{folder, named_schemes, networks, random_network, with_features};
use airtcp_proto::scheme::names;
use airtcp_sim::Scenario;
use airtcp_sim::scenario::schema;
use serde_json::Value;
use std::collections::BTreeSet;

/// Keys as `Link.delay`, the words that are values as `TrafficKind=udp`.
type Names = BTreeSet<String>;

#[test]
fn every_key_of_a_scenario_is_in_the_set() {
    let (schema, mut used) = (schema(), Names::new());
    let reno = ["reno".to_owned()];
    for case in with_features(&reno).into_iter().chain(networks(&reno)) {
        case.read(&folder()).unwrap_or_else(|error| panic!("{}: {error}\n{}", case.name, case.scenario));
        let scenario: Value = toml::from_str(&case.scenario).unwrap();
        walk(&schema, &schema, "Scenario", Some(&scenario), &mut used);
    }
    let mut declared = Names::new();
    walk(&schema, &schema, "Scenario", None, &mut declared);
    for (name, part) in schema["$defs"].as_object().unwrap() {
        walk(&schema, part, name, None, &mut declared);
    }
    let unused: Vec<_> = declared.difference(&used).collect();
    assert!(unused.is_empty(), "add a line to features.txt for each of {unused:?}");
}

/// A key needs no code of its own for that.
#[test]
fn every_feature_reads_back_from_its_full_form() {
    let reno = ["reno".to_owned()];
    for case in with_features(&reno).into_iter().chain(networks(&reno)) {
        let (scenario, _) = case.read(&folder()).expect("a case of the set");
        let full = scenario.to_toml();
        let again =
            Scenario::load(&full, "", &folder(), &[]).unwrap_or_else(|error| panic!("{error}\n{full}"));
        assert_eq!(again, scenario, "{}\n{full}", case.name);
    }
}

#[test]
fn every_scheme_meets_every_feature() {
    let cases = with_features(&named_schemes());
    let lines: BTreeSet<_> =
        with_features(&["reno".to_owned()]).into_iter().map(|case| case.scenario).collect();
    for name in names() {
        let met: BTreeSet<_> =
            cases.iter().filter(|case| case.scheme == name).map(|case| &case.scenario).collect();
        assert_eq!(met.len(), lines.len(), "{name}");
    }
}

#[test]
fn random_networks_have_what_only_networks_have() {
    let named = named_schemes();
    let texts: Vec<_> = (0..100).map(|number| random_network(number, &named, &named).scenario).collect();
    for part in ["[[circuit]]", "\nvia = ", "\nreturn_via = ", "\naccess = ", "n3\""] {
        let has = texts.iter().filter(|text| text.contains(part)).count();
        assert!((2..99).contains(&has), "{part}: {has} of 100");
    }
}

/// Collects the names in this part of the schema: all that it declares itself, or those that occur in `value`.
fn walk(root: &Value, part: &Value, name: &str, value: Option<&Value>, names: &mut Names) {
    if let Some(pointer) = part["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        if value.is_some() {
            let name = pointer.rsplit('/').next().unwrap_or(name);
            walk(root, root.pointer(pointer).unwrap(), name, value, names);
        }
        return;
    }
    for (key, property) in part["properties"].as_object().into_iter().flatten() {
        match value.map(|value| value.get(key)) {
            Some(None) => continue,
            Some(Some(inner)) => walk(root, property, &format!("{name}.{key}"), Some(inner), names),
            None => walk(root, property, &format!("{name}.{key}"), None, names),
        }
        names.insert(format!("{name}.{key}"));
    }
    let words = part["enum"].as_array().into_iter().flatten().chain(part.get("const"));
    let words = words.filter(|word| value.is_none_or(|value| value == *word)).filter_map(Value::as_str);
    names.extend(words.map(|word| format!("{name}={word}")));
    for kind in ["anyOf", "oneOf"] {
        for option in part[kind].as_array().into_iter().flatten() {
            walk(root, option, name, value, names);
        }
    }
    for item in value.and_then(Value::as_array).into_iter().flatten() {
        walk(root, &part["items"], name, Some(item), names);
    }
}
