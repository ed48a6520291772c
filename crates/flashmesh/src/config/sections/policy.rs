//! `[policy]`

use std::path::Path;

use crate::config::error::ConfigErrorKind;
use crate::config::form::{Form, Misfit, toml_string};
use crate::config::node::{Node, Value};
use crate::config::reference::ParameterType;
use crate::config::section::section;

/// The text that leaves a decision to the simulator.
const BUILT_IN: &str = "built-in";

/// The text form of a policy in Python, or of the built-in one: nothing.
pub struct PolicyName;

impl Form for PolicyName {
    type Value = Option<String>;
    type Bounded = String;

    fn parameter_type() -> ParameterType {
        ParameterType::Text
    }

    fn read(node: &Node) -> Result<Option<String>, Misfit> {
        let text = match &node.value {
            Value::Text(text) if text.is_empty() || text == BUILT_IN => return Ok(None),
            Value::Text(text) => text,
            _ => return Err(Misfit::new(ConfigErrorKind::WrongType, "expected a text, such as \"my.py:MyPolicy\"")),
        };
        let (place, class) = text.split_once(".py:").or_else(|| text.split_once(':')).unwrap_or((text, ""));
        if place.is_empty() || class.is_empty() || text.contains(char::is_control) {
            let expected = "expected FILE.py:CLASS, MODULE:CLASS, or built-in";
            return Err(Misfit::new(ConfigErrorKind::OutOfBounds, format!("`{text}` names no policy: {expected}")));
        }
        Ok(Some(text.clone()))
    }

    fn write(value: &Option<String>) -> Option<String> {
        value.as_deref().map(toml_string)
    }

    fn bounded(value: &Option<String>) -> Vec<String> {
        value.iter().cloned().collect()
    }

    fn show(bound: &String) -> String {
        bound.clone()
    }
}

section! {
    /// Policies in Python, in place of built-in ones ([how-to](how-to/policies-in-python.md)).
    Policy, "policy" {
        /// Which block is collected: a class, as `FILE.py:CLASS` or `MODULE:CLASS`, or `built-in`; in place of `gc.victim`, which
        /// preconditioning of the kind `random` keeps.
        victim: Option<String> as PolicyName = None, unset "as `gc.victim` says", needs any;
        /// Which plane a written page goes to, in place of `ftl.allocation`. What it does not place keeps the static order.
        allocator: Option<String> as PolicyName = None, unset "as `ftl.allocation` says", needs any;
        /// Which copy of a replicated page serves a read.
        home: Option<String> as PolicyName = None, unset "that on the die with fewer reads outstanding",
            with "replication.enabled" = ["true"], needs any;
        /// Which plane takes a page that the allocator has placed, as the firmware policy says it otherwise (`place_write`).
        placement: Option<String> as PolicyName = None, unset "as `ftl.policy` says",
            with "ftl.policy" != ["\"mbm\""], needs any;
        /// Which transaction a die runs next, and which join it, in place of `schedule.policy`. With a method `next_die` it also says
        /// which die asks for a path.
        scheduler: Option<String> as PolicyName = None, unset "as `schedule.policy` says", needs any;
        /// Where a scout may go next, in place of `venice.routing`.
        routing: Option<String> as PolicyName = None, unset "as `venice.routing` says", with "fabric.kind" = ["\"venice\""], needs any;
        /// Which link a packet of NoSSD takes next, in place of the way along its row, then along its column.
        hops: Option<String> as PolicyName = None, unset "XY", with "fabric.kind" = ["\"nossd\""], needs any;
        /// Who gets a channel or a controller when several wait, in place of `fabric.arbitration`.
        arbiter: Option<String> as PolicyName = None, unset "as `fabric.arbitration` says",
            with "fabric.kind" = ["\"bus\"", "\"pssd\"", "\"pnssd\"", "\"ideal\""], needs any;
    }
}

/// Where the path of a file ends in the name of a policy: before the colon of `FILE.py:CLASS`.
const FILE_END: &str = ".py:";

impl Policy {
    /// The policies that are named: the key of each, and its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Policy { victim, allocator, home, placement, scheduler, routing, hops, arbiter } = self;
        let keys = [
            ("policy.victim", victim),
            ("policy.allocator", allocator),
            ("policy.home", home),
            ("policy.placement", placement),
            ("policy.scheduler", scheduler),
            ("policy.routing", routing),
            ("policy.hops", hops),
            ("policy.arbiter", arbiter),
        ];
        keys.into_iter().filter_map(|(key, name)| Some((key, name.as_deref()?)))
    }

    fn names(&mut self) -> impl Iterator<Item = (&'static str, &mut String)> {
        let Policy { victim, allocator, home, placement, scheduler, routing, hops, arbiter } = self;
        let keys = [
            ("victim", victim),
            ("allocator", allocator),
            ("home", home),
            ("placement", placement),
            ("scheduler", scheduler),
            ("routing", routing),
            ("hops", hops),
            ("arbiter", arbiter),
        ];
        keys.into_iter().filter_map(|(key, name)| Some((key, name.as_mut()?)))
    }

    /// Counts the paths of those files from `folder` whose keys `is_own` names.
    pub(crate) fn relocate(&mut self, folder: &Path, is_own: impl Fn(&str) -> bool) {
        for (key, name) in self.names() {
            if is_own(key)
                && let Some(end) = name.find(FILE_END)
            {
                let (file, class) = name.split_at(end);
                *name = format!("{}{class}", folder.join(file).display());
            }
        }
    }

    /// Leaves the folders of files out of their names.
    pub(crate) fn forget_folders(&mut self) {
        for (_, name) in self.names() {
            if let Some(end) = name.find(FILE_END)
                && let Some(slash) = name[..end].rfind('/')
            {
                name.drain(..=slash);
            }
        }
    }
}
