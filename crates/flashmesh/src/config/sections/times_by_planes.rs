//! Lists of times by number of planes.

use crate::config::PLANES_PER_DIE_MAX;
use crate::config::error::ConfigErrorKind;
use crate::config::form::{Form, Misfit};
use crate::config::node::{Node, Value};
use crate::config::reference::ParameterType;
use crate::units::Time;

/// Times by number of planes: for one plane, for two, and so on. Text form: "290ns" or ["290ns", "940ns"].
///
/// Each plane beyond the list adds the difference of the last two entries; with a single entry, that entry.
#[derive(Clone, Debug, PartialEq)]
pub struct TimesByPlanes(pub Vec<Time>);

impl TimesByPlanes {
    /// Returns the time for `planes` planes, which must be at least 1.
    pub fn for_planes(&self, planes: usize) -> Time {
        if let Some(&time) = planes.checked_sub(1).and_then(|at| self.0.get(at)) {
            return time;
        }
        let (last, added) = match self.0.as_slice() {
            [] => return Time::ZERO,
            [only] => (*only, *only),
            [.., before, last] => (*last, last.saturating_sub(*before)),
        };
        last + added * planes.saturating_sub(self.0.len()) as u64
    }
}

const EXPECTED: &str = "expected a time, such as \"290ns\", or times for one plane, for two, and so on, such as \
                        [\"290ns\", \"940ns\"]";

impl Form for TimesByPlanes {
    type Value = TimesByPlanes;
    type Bounded = Time;

    fn bounded(value: &TimesByPlanes) -> Vec<Time> {
        value.0.clone()
    }

    fn parameter_type() -> ParameterType {
        ParameterType::Times
    }

    fn read(node: &Node) -> Result<TimesByPlanes, Misfit> {
        match &node.value {
            Value::Array(times) if times.is_empty() || times.len() > PLANES_PER_DIE_MAX => {
                let message = format!("expected 1 to {PLANES_PER_DIE_MAX} times, found {}", times.len());
                Err(Misfit::new(ConfigErrorKind::OutOfBounds, message))
            }
            Value::Array(times) => times.iter().map(Time::read).collect::<Result<_, _>>().map(TimesByPlanes),
            Value::Text(_) | Value::Integer(_) | Value::Float(_) => {
                Time::read(node).map(|time| TimesByPlanes(vec![time]))
            }
            _ => Err(Misfit::new(ConfigErrorKind::WrongType, format!("{EXPECTED}, found {}", node.value.type_name()))),
        }
    }

    fn write(value: &TimesByPlanes) -> Option<String> {
        if let [time] = value.0.as_slice() {
            return Time::write(time);
        }
        let times: Vec<String> = value.0.iter().filter_map(Time::write).collect();
        Some(format!("[{}]", times.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[u64], planes: usize) -> u64 {
        TimesByPlanes(entries.iter().copied().map(Time::from_ns).collect()).for_planes(planes).as_ps() / 1000
    }

    #[test]
    fn entries_are_taken_as_they_are_and_continued_with_their_last_difference() {
        let entries = [290, 940, 1600];
        let found: Vec<u64> = (1..=5).map(|planes| of(&entries, planes)).collect();
        assert_eq!(found, [290, 940, 1600, 2260, 2920]);
    }

    #[test]
    fn a_single_entry_is_added_for_each_plane() {
        assert_eq!((of(&[10], 1), of(&[10], 4)), (10, 40));
    }
}
