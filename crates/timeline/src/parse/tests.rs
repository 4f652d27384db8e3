use super::*;
use crate::script::Backend;

const HEAD: &str = "# A title.\nopen: connect rtt 50\n";

#[test]
fn a_timeline_is_read() {
    let text = format!(
        "{HEAD}holds for: machine\nwhy: so\n\n100 app write 2000\n+0.5 > P. 1:2001 in 2 ack 1 ecr 50\n"
    );
    let timeline = parse(&text).unwrap();
    assert_eq!(timeline.title, "A title.");
    assert_eq!((timeline.holds_for, timeline.why.as_deref()), (vec![Backend::Machine], Some("so")));
    let Action::Expect(pattern) = &timeline.steps[5].action else { panic!() };
    assert_eq!(timeline.steps[5].at, Time(100_500_000));
    assert_eq!(pattern.ranges(0), [(1, 1001), (1001, 2001)]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let mistake = |line: &str| parse(&format!("{HEAD}{line}\n")).unwrap_err();
    assert_eq!(mistake("100 ! ."), "line 3: \"!\" is neither >, <, app, is nor end");
    assert_eq!(mistake("20 end"), "line 3: 20 ms lies before the line above");
    assert_eq!(mistake("100 > . 1:1001 in 3"), "line 3: 1000 bytes do not make 3 equal segments");
    assert_eq!(mistake("100 > . ack"), "line 3: the next byte is missing");
    assert_eq!(mistake("sack: perhaps"), "line 3: \"perhaps\" is neither on nor off");
    assert_eq!(mistake("holds for: kernel"), "it holds for one alone: why?");
}
