//! The configuration, on texts made of its own words and of anything else.

use flashmesh::config::Config;

/// Pieces that make texts which come close to being configurations.
const PIECES: &[&str] = &[
    "\n",
    "[",
    "]",
    "=",
    " = ",
    "\"",
    "'",
    ",",
    "{",
    "}",
    "#",
    ".",
    "-",
    "_",
    "0",
    "1",
    "9223372036854775808",
    "-1",
    "1e308",
    "nan",
    "true",
    "[[",
    "]]",
    "\"\"\"",
    "preset",
    "\"z-nand\"",
    "\"collisions\"",
    "geometry",
    "channels",
    "page-size",
    "\"4KiB\"",
    "\"3us\"",
    "\"1.2GB/s\"",
    "\"7%\"",
    "over-provisioning",
    "capacity",
    "[flash]",
    "read-time",
    "[workload]",
    "trace",
    "profile",
    "request-size",
    "[[\"4KiB\", 0.5], [\"8KiB\", 0.5]]",
    "[replay]",
    "mode",
    "\"open\"",
    "time-scale",
    "[fabric]",
    "kind",
    "\"bus\"",
    "[gc]",
    "victim",
    "\"d-choices\"",
    "d",
    "\u{feff}",
    "\0",
    "µs",
    "\r\n",
    "\t",
];

/// Any text is a configuration or an error; a configuration survives being written and read again, an error says where it is.
pub fn any_text(bytes: &[u8]) {
    // The upper half of the bytes stands for themselves, the lower for pieces of configurations.
    let text: String = bytes
        .iter()
        .map(|&byte| match PIECES.get(usize::from(byte) % 128) {
            Some(&piece) if byte < 128 => piece.to_owned(),
            _ => char::from(byte).to_string(),
        })
        .collect();
    match Config::from_str(&text, "fuzzed.toml", &[]) {
        Ok(config) => {
            let written = config.to_toml();
            let again = Config::from_str(&written, "written.toml", &[]).expect("what was written can be read");
            assert_eq!(again, config, "written and read again:\n{written}");
        }
        Err(error) => {
            assert!(!error.problems().is_empty(), "an error without a problem");
            for problem in error.problems() {
                let position = problem.position.as_ref().expect("every problem of a text has a place");
                let line = text.split('\n').nth(position.line - 1).expect("the line is in the text");
                assert!(position.column <= line.chars().count() + 1, "{error}\n{position:?}");
            }
        }
    }
}
