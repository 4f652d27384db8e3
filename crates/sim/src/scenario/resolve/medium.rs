//! Who is on a medium, and hidden from whom.

use crate::scenario::check::Check;
use crate::scenario::error::hint_and_list;
use crate::scenario::link::{Link, ends_on};
use crate::scenario::medium::Medium;

/// Checks which nodes of each medium are hidden from each other.
pub(super) fn hidden(media: &[Medium], nodes: &[String], links: &[Link], check: &mut Check<'_>) {
    check.each("medium", media.iter().enumerate(), |(index, medium), check| {
        let ends = ends_on(index, links);
        check.each("hidden", medium.kind.hidden(), |[one, other], check| {
            let [Some(a), Some(b)] = [one, other].map(|name| member(name, nodes, &ends, check)) else {
                return;
            };
            if a == b {
                check.refuse(format!("`{one}` hears itself; name two stations"));
            } else if ends.contains(&[a, b]) || ends.contains(&[b, a]) {
                check.refuse(format!("a link joins `{one}` and `{other}`: they hear each other"));
            }
        });
    });
}

/// Reports media that cannot have the links that name them.
pub(super) fn stray(media: &[Medium], links: &[Link], check: &mut Check<'_>) {
    check.each("medium", media.iter().enumerate(), |(index, medium), check| {
        let ends = ends_on(index, links);
        if let Some(problem) = medium.kind.ends_problem(&ends).filter(|_| !ends.is_empty()) {
            check.refuse(problem);
        }
    });
}

/// The node with this name, if it is one of these `ends`.
fn member(name: &str, nodes: &[String], ends: &[[usize; 2]], check: &mut Check<'_>) -> Option<usize> {
    let is_member = |node: &usize| ends.as_flattened().contains(node);
    let found = nodes.iter().position(|node| node == name).filter(is_member);
    if found.is_none() {
        let members = nodes.iter().enumerate().filter(|(node, _)| is_member(node));
        let cure = match nodes {
            [] => "; nodes have names where links have `from` and `to`".to_owned(),
            _ => hint_and_list(name, members.map(|(_, name)| name.as_str())),
        };
        check.refuse(format!("no node called `{name}` on this medium{cure}"));
    }
    found
}
