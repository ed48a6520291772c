//! Configuration errors: what is wrong, where, and what to write instead.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::units::printable;

use super::node::Location;
pub use flashmesh_base::config::error::ConfigErrorKind;

/// A configuration that cannot be run: all that is wrong with it.
///
/// Its text is meant for a person: each problem with its file, line and column, the line with a caret, and mostly what
/// to write instead.
#[derive(Clone, Debug)]
pub struct ConfigError {
    problems: Vec<Problem>,
    rendered: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of thing.
    pub kind: ConfigErrorKind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to write instead, when there is something to say.
    pub help: Option<String>,
    /// Where, when it stands in a text.
    pub position: Option<Position>,
}

/// A position in a file or an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file, or the override: "--set #2".
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

/// A problem before it is rendered.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub kind: ConfigErrorKind,
    pub message: String,
    pub help: Option<String>,
    pub place: Option<Location>,
}

/// Most problems shown; more are only counted.
const SHOWN_MAX: usize = 20;

impl ConfigError {
    /// Renders `findings`, at least one, with the lines they point at.
    pub(super) fn new(sources: &[Source], findings: &[Finding]) -> ConfigError {
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
                position: finding.place.as_ref().map(|place| position(&sources[place.source], place.span.start)),
            })
            .collect();
        ConfigError { problems, rendered: texts.join("\n\n") }
    }

    pub(crate) fn of_file(kind: ConfigErrorKind, message: String) -> ConfigError {
        ConfigError::new(&[], &[Finding { kind, message, help: None, place: None }])
    }

    /// The kind of the first problem.
    pub fn kind(&self) -> ConfigErrorKind {
        // A configuration without a problem gives no error, so there is a first one.
        self.problems.first().map_or(ConfigErrorKind::Unreadable, |problem| problem.kind)
    }

    /// The problems in the order of the text, the first twenty of them.
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

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn position(source: &Source, at: usize) -> Position {
    let before = &source.text[..boundary(&source.text, at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        source: source.name.clone(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

fn render(sources: &[Source], finding: &Finding) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(finding.message.as_str()));
    if let Some(place) = &finding.place {
        let source = &sources[place.source];
        let (start, end) = (boundary(&source.text, place.span.start), boundary(&source.text, place.span.end));
        // Only the first line of a long value: the caret tells where it begins.
        let end = source.text[start..end].find('\n').map_or(end, |newline| start + newline);
        let annotation = AnnotationKind::Primary.span(start..end);
        group = group.element(Snippet::source(&source.text).path(&source.name).annotation(annotation));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    printable(&Renderer::plain().render(&[group]))
}
