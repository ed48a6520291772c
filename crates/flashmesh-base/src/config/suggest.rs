//! Suggestions for misspelt names.

pub use crate::units::quoted;

/// Returns the name most similar to `written`, or `None` if none is similar.
///
/// Ignores case, and treats dashes, underscores and spaces as equal. A name is similar if the edit distance is at most a third of its length; names
/// of two to five letters allow one edit.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A text this long is not a misspelt name. Skip the edit distance, which takes time proportional to the product of both lengths.
    if written.len() > 64 {
        return None;
    }
    let plain = |text: &str| text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    let written = plain(written);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&written, &plain(name)), name))
        .filter(|&(distance, name)| distance <= (name.len() / 3).max(1) && distance < name.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Returns the first 12 names as a list for a sentence, followed by the number of the remaining names if there are more.
pub fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_name() {
        let names = ["channels", "chips-per-channel", "page-size"];
        assert_eq!(nearest("chanels", names), Some("channels"));
        assert_eq!(nearest("page_size", names), Some("page-size"));
        assert_eq!(nearest("PageSize", names), Some("page-size"));
        assert_eq!(nearest("chips-per-chanel", names), Some("chips-per-channel"));
    }

    #[test]
    fn another_word_finds_none() {
        assert_eq!(nearest("temperature", ["channels", "page-size", "d"]), None);
        assert_eq!(nearest("x", ["d"]), None);
    }

    #[test]
    fn quoting_hides_control_characters_and_length() {
        assert_eq!(quoted("a\u{1b}[31m"), "`a\\u{1b}[31m`");
        assert_eq!(quoted(&"x".repeat(100)).len(), 60 + 5);
    }
}
