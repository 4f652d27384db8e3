//! What keys of one direction must not be together.

use super::Side;
use crate::scenario::check::Check;
use airtcp_proto::circuit::Compression;

/// Reports what is wrong with a direction. What both have in common is said of the way there, which is `forward` if this is the way back.
pub(super) fn check(side: &Side, forward: Option<&Side>, check: &mut Check<'_>) {
    if repairs_what_never_came(side) && !forward.is_some_and(repairs_what_never_came) {
        let problem = "`fec` and `arq` repair only what is lost behind the queue; remove one or the other";
        check.inside("loss", |check| check.refuse_key("before_queue", problem));
    }
    medium(side, forward, check);
    if let Some(cure) = order_for_compression(side)
        && forward.is_none_or(|forward| order_for_compression(forward).is_none())
    {
        let problem = format!("packets must stay in order; set `{cure}`, or this to \"none\"");
        check.refuse_key("compression", problem);
    }
}

fn medium(side: &Side, forward: Option<&Side>, check: &mut Check<'_>) {
    let problems = |side: &Side| {
        let mcs = side.mcs.and_then(|mcs| match side.capacity.medium() {
            Some((_, kind)) => kind.mcs_problem(mcs),
            None => Some("only a link on a `medium` has one".to_owned()),
        });
        let lacks = |key| match side.capacity.medium() {
            Some((_, kind)) => kind.lacks(key).map(str::to_owned),
            None => Some("only a link on a `medium` has one".to_owned()),
        };
        let snr = side.snr.as_ref().and_then(|_| lacks("snr"));
        let ue = side.ue.and_then(|_| lacks("ue"));
        let repeats_twice = side.capacity.medium().is_some() && side.arq.is_some();
        let arq = repeats_twice.then(|| "the medium repeats frames itself; set its `attempts`".to_owned());
        [("mcs", mcs), ("snr", snr), ("ue", ue), ("arq", arq)]
    };
    let said = forward.map(problems);
    for (number, (key, problem)) in problems(side).into_iter().enumerate() {
        let is_news = said.as_ref().is_none_or(|said| said[number].1.is_none());
        problem.filter(|_| is_news).into_iter().for_each(|problem| check.refuse_key(key, problem));
    }
}

fn repairs_what_never_came(side: &Side) -> bool {
    side.loss.before_queue && (side.fec.is_some() || side.arq.is_some())
}

/// What keeps packets in order, if header packets are compressed and packets overtake.
fn order_for_compression(side: &Side) -> Option<&'static str> {
    match side.compression {
        Compression::None => None,
        _ if side.jitter.as_ref().is_some_and(|jitter| jitter.overtaking) => {
            Some("jitter.overtaking = false")
        }
        _ if side.arq.is_some_and(|arq| !arq.in_order) => Some("arq.in_order = true"),
        _ => None,
    }
}
