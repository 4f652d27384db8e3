//! The handshake that opens most timelines.

use super::head::Head;

pub fn lines(head: &Head) -> Vec<String> {
    let Some(opening) = head.opening else { return Vec::new() };
    let rtt = opening.rtt.as_secs_f64() * 1e3;
    let ecn = head.setup.ecn;
    let (syn, answer) = if ecn { ("SEW", "SE.") } else { ("S", "S.") };
    match opening.is_active {
        true => vec![
            "0 app connect".to_owned(),
            format!("0 > {syn}"),
            format!("{rtt} < {answer} ack 1"),
            format!("{rtt} > . ack 1"),
        ],
        false => vec![
            "0 app listen".to_owned(),
            format!("0 < {syn}"),
            format!("0 > {answer} ack 1"),
            format!("{rtt} < . ack 1"),
            format!("{rtt} app accept"),
        ],
    }
}
