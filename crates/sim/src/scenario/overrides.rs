//! `--set key=value`, applied to the document before it is typed: it does exactly what editing the file would.

use super::document::{Entry, Node, Place, Table, Value};
use super::error::{Problems, hint_and_list, unknown};
use super::link::Capacity;
use toml::de::DeValue;

/// Applies override number `index`.
///
/// A key is a dotted path in which a link or a flow goes by its name or its number from 0: `duration`,
/// `link.wireless.loss.ber`, `link.0.rate`, `flow[1].count`. In front of a link's name, `link.` may be left out:
/// `wireless.loss.ber`. A value is read as TOML; what is not TOML is text, so quotes can be left out. Setting one of a
/// link's `rate`, `trace`, `log`, `channel` and `medium` removes the others.
pub(super) fn apply(root: &mut Node, index: usize, key: &str, value: &str, problems: &mut Problems) {
    let result = steps(root, key).and_then(|steps| {
        let node = parse_value(value, index);
        insert(root, &steps, node, index)
    });
    if let Err(message) = result {
        problems.push(Place::Set(index), &[], message);
    }
}

fn parse_value(text: &str, index: usize) -> Node {
    match DeValue::parse(text) {
        Ok(value) => Node::from_override(&value, index),
        Err(_) => Node { place: Place::Set(index), value: Value::Text(text.to_owned()) },
    }
}

/// Splits a path into its words, `flow[1]` into two, and puts `link` in front of a link's name.
fn steps(root: &Node, key: &str) -> Result<Vec<String>, String> {
    let mut steps: Vec<String> = Vec::new();
    for word in key.split('.') {
        let (word, indices) = word.split_once('[').unwrap_or((word, ""));
        steps.push(word.trim().to_owned());
        for index in indices.split_terminator('[') {
            steps.push(index.strip_suffix(']').ok_or_else(|| format!("`[{index}` has no `]`"))?.to_owned());
        }
    }
    if steps.iter().any(String::is_empty) {
        return Err("part of the key is empty; write for example `link.0.rate`".to_owned());
    }
    const LISTS: [&str; 5] = ["node", "medium", "link", "flow", "circuit"];
    if steps.len() > 1 && !LISTS.contains(&steps[0].as_str()) {
        let links = names_in(root, "link");
        if !links.contains(&steps[0]) {
            let known = LISTS.into_iter().chain(links.iter().map(String::as_str));
            return Err(unknown("link", &steps[0], known));
        }
        steps.insert(0, "link".to_owned());
    }
    Ok(steps)
}

/// The names of the document's nodes, media, links, flows or circuits.
pub(super) fn names_in(root: &Node, key: &str) -> Vec<String> {
    match root.get(key).map(|node| &node.value) {
        Some(Value::List(list)) => names(key, list),
        _ => Vec::new(),
    }
}

/// The names of the elements of the list `key`: their `name`, or else the key and their number.
fn names(key: &str, list: &[Node]) -> Vec<String> {
    let name = |(index, node): (usize, &Node)| {
        let given = node.get("name").and_then(|name| name.value.as_text()).filter(|name| !name.is_empty());
        given.map_or_else(|| format!("{key}{index}"), str::to_owned)
    };
    list.iter().enumerate().map(name).collect()
}

/// Puts `node` at the end of `steps`, and creates the tables that are missing on the way.
fn insert(root: &mut Node, steps: &[String], node: Node, index: usize) -> Result<(), String> {
    let (last, parents) = steps.split_last().ok_or("the key is empty")?;
    let mut at = root;
    let mut key = "";
    for step in parents {
        at = descend(at, key, step, index)?;
        key = step;
    }
    match &mut at.value {
        Value::Table(table) => {
            let is_capacity = |key: &str| Capacity::KEYS.contains(&key);
            if is_capacity(last) && parents.first().is_some_and(|first| first == "link") {
                table.retain(|key, _| !is_capacity(key));
            }
            table.insert(last.clone(), Entry { key_place: Place::Set(index), node });
        }
        Value::List(list) => {
            let element = find(list, key, last)?;
            list[element] = node;
        }
        other => return Err(format!("`{key}` is {}, not a table", other.describe())),
    }
    Ok(())
}

fn descend<'a>(node: &'a mut Node, key: &str, step: &str, index: usize) -> Result<&'a mut Node, String> {
    match &mut node.value {
        Value::Table(table) => {
            let new = || Entry { key_place: Place::Set(index), node: Node::table(Place::Set(index)) };
            Ok(&mut table.entry(step.to_owned()).or_insert_with(new).node)
        }
        Value::List(list) => {
            let element = find(list, key, step)?;
            Ok(&mut list[element])
        }
        other => Err(format!("`{key}` is {}, not a table", other.describe())),
    }
}

/// Finds the element of the list `key` with the name or number `word`.
fn find(list: &[Node], key: &str, word: &str) -> Result<usize, String> {
    let names = names(key, list);
    let by_number = || word.parse().ok().filter(|&index: &usize| index < list.len());
    names.iter().position(|name| name == word).or_else(by_number).ok_or_else(|| {
        let known = names.iter().map(String::as_str);
        format!("no {key} called `{word}`{}", hint_and_list(word, known))
    })
}

/// Gives a document without flows the flow `main`, which overrides may then change.
pub(super) fn imply_flow(root: &mut Node) {
    let implied = |value| Node { place: Place::Implied, value };
    let name = Entry { key_place: Place::Implied, node: implied(Value::Text("main".to_owned())) };
    let flow = implied(Value::Table(Table::from([("name".to_owned(), name)])));
    if let Some(table) = root.as_table_mut() {
        let list = || Entry { key_place: Place::Implied, node: implied(Value::List(vec![flow])) };
        table.entry("flow".to_owned()).or_insert_with(list);
    }
}
