//! The section `[policy]` of a configuration: its parameters, and the types of their values.

use std::path::Path;

use crate::config::error::ConfigErrorKind;
use crate::config::form::{Form, Misfit, toml_string};
use crate::config::node::{Node, Value};
use crate::config::reference::ParameterType;
use crate::config::section::section;

/// The text that selects the built-in policy.
const BUILT_IN: &str = "built-in";

/// The text form of a policy name: a Python policy, or `None` for the built-in policy.
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
}

section! {
    /// Policies in Python that replace built-in ones ([how-to](how-to/policies-in-python.md)).
    Policy, "policy" {
        /// Policy that selects the victim block, in place of `gc.victim`: a class, as `FILE.py:CLASS` or `MODULE:CLASS`, or
        /// `built-in`. Preconditioning of the kind `random` still uses `gc.victim`.
        victim: Option<String> as PolicyName = None, unset "as `gc.victim` says", needs any;
        /// Policy that selects the plane of a written page, in place of `ftl.allocation`. Pages that the policy does not place follow the static
        /// order.
        allocator: Option<String> as PolicyName = None, unset "as `ftl.allocation` says", needs any;
        /// Policy that selects the copy of a replicated page for a read.
        home: Option<String> as PolicyName = None, unset "that on the die with fewer reads outstanding",
            with "replication.enabled" = ["true"], needs any;
        /// Policy that can move a page from the plane of the allocator to another plane, in place of the method `place_write` of the firmware policy.
        placement: Option<String> as PolicyName = None, unset "as `ftl.policy` says",
            with "ftl.policy" != ["\"mbm\""], needs any;
        /// Policy that selects the next transaction of a die, and the transactions that join it, in place of `schedule.policy`. A policy with a
        /// method `next_die` also selects the die that requests a path.
        scheduler: Option<String> as PolicyName = None, unset "as `schedule.policy` says", needs any;
        /// Policy that selects the next step of a scout, in place of `venice.routing`.
        routing: Option<String> as PolicyName = None, unset "as `venice.routing` says", with "fabric.kind" = ["\"venice\""], needs any;
        /// Policy that selects the next link of a packet of NoSSD, in place of XY routing.
        hops: Option<String> as PolicyName = None, unset "XY", with "fabric.kind" = ["\"nossd\""], needs any;
        /// Policy that grants a channel or a controller when several transfers wait, in place of `fabric.arbitration`.
        arbiter: Option<String> as PolicyName = None, unset "as `fabric.arbitration` says",
            with "fabric.kind" = ["\"bus\"", "\"pssd\"", "\"pnssd\"", "\"ideal\""], needs any;
    }
}

/// The end of the file path in the name of a policy, before the colon of `FILE.py:CLASS`.
const FILE_END: &str = ".py:";

impl Policy {
    /// Returns the configured Python policies: key (such as `policy.victim`) and name (`FILE.py:CLASS`).
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

    /// Makes the paths of policy files relative to `folder`, for the keys that `is_own` accepts.
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

    /// Removes the folders from the names of policies in files.
    pub(crate) fn strip_folders(&mut self) {
        for (_, name) in self.names() {
            if let Some(end) = name.find(FILE_END)
                && let Some(slash) = name[..end].rfind('/')
            {
                name.drain(..=slash);
            }
        }
    }
}
