//! Configuration errors: the problem, its position, and the remedy.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::units::printable;

use super::node::Location;
pub use flashmesh_base::config::error::ConfigErrorKind;

/// The error of an invalid configuration, with all of its problems.
///
/// The text of the error is meant for users: each problem with file, line and column, the source line with a caret, and usually the remedy.
#[derive(Clone, Debug)]
pub struct ConfigError {
    problems: Vec<Problem>,
    rendered: String,
}

/// One problem of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of the problem, such as an unknown key.
    pub kind: ConfigErrorKind,
    /// The description of the problem, in a sentence.
    pub message: String,
    /// The remedy; `None` if none is known.
    pub help: Option<String>,
    /// The position of the problem; `None` if the problem is not in a text, as in a configuration built in code.
    pub position: Option<Position>,
}

/// A position in a file or an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The name of the file, or the override: "--set #2".
    pub source: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Source {
    pub name: String,
    pub text: String,
}

/// A problem that is not yet rendered.
#[derive(Clone, Debug)]
pub(super) struct UnrenderedProblem {
    pub kind: ConfigErrorKind,
    pub message: String,
    pub help: Option<String>,
    pub location: Option<Location>,
}

/// The maximum number of problems shown. Of further problems, only their number is shown.
const SHOWN_MAX: usize = 20;

impl ConfigError {
    /// Renders `findings`, which must not be empty, with their source lines.
    pub(super) fn new(sources: &[Source], findings: &[UnrenderedProblem]) -> ConfigError {
        let shown = &findings[..findings.len().min(SHOWN_MAX)];
        let mut texts: Vec<String> = shown.iter().map(|finding| render(sources, finding)).collect();
        if findings.len() > SHOWN_MAX {
            texts.push(format!("error: and {} more problems", findings.len() - SHOWN_MAX));
        }
        let problems = shown
            .iter()
            .map(|finding| Problem {
                kind: finding.kind,
                message: finding.message.clone(),
                help: finding.help.clone(),
                position: finding.location.as_ref().map(|place| position(&sources[place.source], place.span.start)),
            })
            .collect();
        ConfigError { problems, rendered: texts.join("\n\n") }
    }

    pub(crate) fn of_file(kind: ConfigErrorKind, message: String) -> ConfigError {
        ConfigError::new(&[], &[UnrenderedProblem { kind, message, help: None, location: None }])
    }

    /// Returns the kind of the first problem, in the order of the text.
    pub fn kind(&self) -> ConfigErrorKind {
        // A `ConfigError` always has a first problem.
        self.problems.first().map_or(ConfigErrorKind::Unreadable, |problem| problem.kind)
    }

    /// Returns the problems in the order of the text, up to the first twenty.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for ConfigError {}

/// Returns the last character boundary at or before `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn position(source: &Source, at: usize) -> Position {
    let before = &source.text[..floor_char_boundary(&source.text, at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        source: source.name.clone(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

fn render(sources: &[Source], finding: &UnrenderedProblem) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(finding.message.as_str()));
    if let Some(place) = &finding.location {
        let source = &sources[place.source];
        let (start, end) =
            (floor_char_boundary(&source.text, place.span.start), floor_char_boundary(&source.text, place.span.end));
        // Mark only the first line of a value: the caret shows the start of the value.
        let end = source.text[start..end].find('\n').map_or(end, |newline| start + newline);
        let annotation = AnnotationKind::Primary.span(start..end);
        group = group.element(Snippet::source(&source.text).path(&source.name).annotation(annotation));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    printable(&Renderer::plain().render(&[group]))
}
