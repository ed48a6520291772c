//! As much of XML as the configurations need.

/// What stands in the first element `tag` of `text`.
pub fn tag<'a>(text: &'a str, tag: &str) -> &'a str {
    let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let from = text.find(&begin).unwrap_or_else(|| panic!("there is a tag {tag}")) + begin.len();
    let length = text[from..].find(&end).unwrap_or_else(|| panic!("the tag {tag} ends"));
    text[from..from + length].trim()
}

/// The whole number in the first element `tag` of `text`; what follows a decimal point is nothing.
pub fn number(text: &str, name: &str) -> u64 {
    let whole = tag(text, name).split('.').next().unwrap_or_default();
    whole.parse().unwrap_or_else(|_| panic!("{name} is a number"))
}
