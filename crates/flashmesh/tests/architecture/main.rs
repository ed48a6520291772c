//! Comparison of the read and write diagrams in docs/architecture.md with calls recorded in a run: which folder calls which other, through which
//! files, in which order.

mod drawing;
mod walk;

use std::collections::BTreeSet;

use drawing::{Drawing, Message};
use walk::{Call, Walk};

const DOCUMENT: &str = include_str!("../../../../docs/architecture.md");

/// Returns the differences between a diagram and the recorded call stacks, one per line; empty if they agree.
fn problems(drawing: &Drawing, walk: &Walk) -> Vec<String> {
    let drawn: BTreeSet<Call> = drawing.calls().collect();
    let walked: BTreeSet<Call> = walk.calls().filter(|call| drawing.has(call)).collect();
    let mut found = Vec::new();
    found.extend(drawn.difference(&walked).map(|call| format!("{call} is drawn, and not called")));
    found.extend(walked.difference(&drawn).map(|call| format!("{call} is called, and not drawn")));
    let mut from = 0;
    for message in &drawing.messages {
        match walk.find(message, from) {
            Some(at) => from = at,
            None => found.push(format!("not after what is drawn above it: {}", message.text)),
        }
    }
    found
}

fn drawings() -> [Drawing; 2] {
    Drawing::all(DOCUMENT).try_into().expect("the page has two diagrams")
}

#[test]
fn a_read_goes_through_the_rooms_as_it_is_drawn() {
    let [read, _] = drawings();
    let Some(walk) = walk::recorded(1.0) else { return };
    assert_eq!(problems(&read, &walk), Vec::<String>::new(), "{walk}");
}

#[test]
fn a_write_goes_through_the_rooms_as_it_is_drawn() {
    let [_, write] = drawings();
    let Some(walk) = walk::recorded(0.0) else { return };
    assert_eq!(problems(&write, &walk), Vec::<String>::new(), "{walk}");
}

#[test]
fn a_wrong_drawing_is_found() {
    let Some(walk) = walk::recorded(1.0) else { return };
    let changed = |before: &str, after: &str| {
        assert!(DOCUMENT.contains(before), "{before}");
        let [read, _] =
            Drawing::all(&DOCUMENT.replacen(before, after, 1)).try_into().expect("the page has two diagrams");
        problems(&read, &walk)
    };
    let upwards = changed("D->>X: transfer/send.rs: send command", "X->>D: transfer/send.rs: send command");
    assert!(upwards.contains(&"fabric to datapath is drawn, and not called".to_owned()), "{upwards:?}");
    let elsewhere = changed("D->>X: transfer/send.rs: send data", "D->>X: operation/multi_plane.rs: send data");
    assert_eq!(elsewhere, ["not after what is drawn above it: D->>X: operation/multi_plane.rs: send data"]);
    let late = changed("    F->>W: requests.rs: read a page (work/host_read.rs translates it)\n", "");
    assert_eq!(late, ["frontend to controller is called, and not drawn"]);
}

#[test]
fn arrows_and_notes_are_read() {
    let text = "```mermaid\nsequenceDiagram\n    participant A as one/\n    participant B as two/\n    A->>B: x.rs, work/y.rs: go\n    \
                B-->>A: ⏱ later\n    Note over A: z.rs: think\n```\n";
    let [drawing] = Drawing::all(text).try_into().expect("the text has one diagram");
    let read: Vec<_> =
        drawing.messages.iter().map(|Message { call, files, .. }| (call.clone(), files.clone())).collect();
    let call = Call { from: "one".into(), to: "two".into() };
    assert_eq!(
        read,
        [(Some(call), vec!["x.rs".into(), "work/y.rs".into()]), (None, vec![]), (None, vec!["z.rs".into()])]
    );
}
