//! Parser for Mermaid sequence diagrams, limited to the syntax in docs/architecture.md.

use std::collections::BTreeMap;

use crate::walk::Call;

/// Line of a diagram: an arrow or a note.
#[derive(Debug)]
pub struct Message {
    /// Call that the line shows; `None` for notes and for dashed arrows (returns and events).
    pub call: Option<Call>,
    /// Folder of a note, or the two folders of an arrow. Only their files may be named in the text.
    pub rooms: Vec<String>,
    /// Files named in the line, relative to their folder.
    pub files: Vec<String>,
    pub text: String,
}

#[derive(Debug)]
pub struct Drawing {
    rooms: BTreeMap<String, String>,
    pub messages: Vec<Message>,
}

impl Drawing {
    /// Returns the sequence diagrams in `page`, the text of a Markdown page.
    pub fn all(page: &str) -> Vec<Drawing> {
        page.split("```mermaid\n").skip(1).filter_map(|rest| rest.split("```").next()).map(Drawing::new).collect()
    }

    fn new(text: &str) -> Drawing {
        let mut drawing = Drawing { rooms: BTreeMap::new(), messages: Vec::new() };
        for line in text.lines().map(str::trim) {
            if let Some((short, room)) = line.strip_prefix("participant ").and_then(|rest| rest.split_once(" as ")) {
                drawing.rooms.insert(short.to_owned(), room.trim_end_matches('/').to_owned());
            } else if let Some((who, said)) = line.split_once(": ") {
                drawing.messages.push(drawing.message(line, who, said));
            }
        }
        drawing
    }

    fn message(&self, line: &str, who: &str, said: &str) -> Message {
        let room =
            |short: &str| self.rooms.get(short).unwrap_or_else(|| panic!("{short} is no participant: {line}")).clone();
        let (rooms, is_call) = if let Some(short) = who.strip_prefix("Note over ") {
            (vec![room(short)], false)
        } else if let Some((from, to)) = who.split_once("-->>") {
            (vec![room(from), room(to)], false)
        } else {
            let (from, to) = who.split_once("->>").unwrap_or_else(|| panic!("neither an arrow nor a note: {line}"));
            (vec![room(from), room(to)], true)
        };
        let call = is_call.then(|| Call { from: rooms[0].clone(), to: rooms[1].clone() });
        let words = said.split(|c: char| c.is_whitespace() || ",:()".contains(c));
        let files = words.filter(|word| word.ends_with(".rs")).map(str::to_owned).collect();
        Message { call, rooms, files, text: line.to_owned() }
    }

    pub fn calls(&self) -> impl Iterator<Item = Call> {
        self.messages.iter().filter_map(|message| message.call.clone())
    }

    /// Returns whether the diagram has both folders of `call`.
    pub fn has(&self, call: &Call) -> bool {
        [&call.from, &call.to].iter().all(|room| self.rooms.values().any(|each| each == *room))
    }
}
