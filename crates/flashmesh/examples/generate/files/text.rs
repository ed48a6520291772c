//! Text layout of generated files.

use serde_json::Value;

/// Longest line of generated Python.
pub const WIDTH: usize = 120;

/// Appends `doc` as a docstring, wrapped at spaces to lines of at most [`WIDTH`] columns.
pub fn docstring(text: &mut String, indent: &str, doc: &str) {
    let doc = doc.replace('\\', "\\\\");
    if indent.len() + doc.len() + 6 <= WIDTH {
        text.push_str(&format!("{indent}\"\"\"{doc}\"\"\"\n"));
    } else {
        let quoted = wrapped(indent, &format!("\"\"\"{doc}"));
        text.push_str(&format!("{quoted}\n{indent}\"\"\"\n"));
    }
}

/// Returns `words`, wrapped at spaces to lines of at most [`WIDTH`] columns, each indented by `indent`.
pub fn wrapped(indent: &str, words: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), indent.to_owned());
    for (index, word) in words.split(' ').enumerate() {
        if line.len() + 1 + word.len() > WIDTH {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
        } else {
            line.push_str(if index == 0 { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.push(line);
    lines.join("\n")
}

/// Returns `value` as JSON text with sorted keys, whatever the order of keys in the JSON library.
pub fn json_text(value: Value) -> String {
    format!("{:#}\n", sorted(value))
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
