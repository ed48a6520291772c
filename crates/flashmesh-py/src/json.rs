//! JSON for people.

use pyo3::prelude::*;

/// Puts each value of a JSON document on a line of its own, two spaces a level, as `json.dumps(document, indent=2)` does: that takes ten
/// times as long, since it makes every value anew in Python. `compact` is what `json.dumps` gives without spaces.
#[pyfunction]
pub fn indented_json(py: Python<'_>, compact: &str) -> String {
    py.detach(|| indented(compact))
}

fn indented(compact: &str) -> String {
    fn line(text: &mut String, level: usize) {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", level));
    }
    let mut text = String::with_capacity(2 * compact.len());
    let mut level = 0;
    let mut rest = compact;
    while let Some(at) = rest.find(['"', '{', '[', '}', ']', ',', ':']) {
        text.push_str(&rest[..at]);
        let (sign, after) = rest[at..].split_at(1);
        rest = after;
        match sign {
            "\"" => {
                let length = string_length(rest);
                text.push('"');
                text.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            "{" | "[" => {
                text.push_str(sign);
                match rest.as_bytes().first() {
                    Some(&end @ (b'}' | b']')) => {
                        text.push(end.into());
                        rest = &rest[1..];
                    }
                    _ => {
                        level += 1;
                        line(&mut text, level);
                    }
                }
            }
            "}" | "]" => {
                level = level.saturating_sub(1);
                line(&mut text, level);
                text.push_str(sign);
            }
            "," => {
                text.push(',');
                line(&mut text, level);
            }
            _ => text.push_str(": "),
        }
    }
    text.push_str(rest);
    text
}

/// How long a string is behind its first quote, with its last one.
fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |end| end + 1)
}
