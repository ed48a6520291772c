//! Escapes for text from outside that is printed to a terminal.

use std::fmt::Write;
use std::path::Path;

/// Returns `text` with an escape for every character that a terminal does not show: control characters, marks that change the
/// direction of text, invisible characters. Line breaks and tabs stay, so that messages of several lines keep their layout.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\n' | '\t') || is_printable(character) {
            shown.push(character);
        } else {
            escape(character, &mut shown);
        }
    }
    shown
}

/// Returns a path as text for one line: line breaks and tabs are escaped as well.
pub fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string()).replace('\n', "\\u000a").replace('\t', "\\u0009")
}

/// Appends the escape that TOML and JSON use for `character`.
fn escape(character: char, shown: &mut String) {
    let number = u32::from(character);
    // Writing into a `String` cannot fail.
    let _ = if number < 0x1_0000 { write!(shown, "\\u{number:04x}") } else { write!(shown, "\\U{number:08x}") };
}

/// Returns whether [`str::escape_debug`] leaves the character unescaped. The check puts an `a` before the character, because a combining
/// accent is escaped only at the start of a text.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    let mut letters = [0_u8; 5];
    letters[0] = b'a';
    let length = 1 + character.encode_utf8(&mut letters[1..]).len();
    std::str::from_utf8(&letters[..length]).is_ok_and(|text| text.escape_debug().count() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_does_not_show_is_escaped() {
        let evil = "a\u{1b}[31m\u{7}\r\u{7f}\u{9b}2J\u{202e}\u{200b}\u{e0001}\u{feff}";
        assert_eq!(printable(evil), "a\\u001b[31m\\u0007\\u000d\\u007f\\u009b2J\\u202e\\u200b\\U000e0001\\ufeff");
        assert_eq!(printable_path(Path::new("a\nerror: b\t")), "a\\u000aerror: b\\u0009");
    }

    #[test]
    fn what_a_terminal_shows_stays() {
        let shown = "\"It's\" 4 \u{b5}s, \u{65e5}\u{672c}, e\u{301}, \\ \u{2588}\n\t| ^";
        assert_eq!(printable(shown), shown);
    }
}
