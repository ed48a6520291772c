//! Values that the settings of several layers (preset, file, fio jobs, overrides) imply: the kind of a workload, open replay of traces, and the
//! capacity.

use super::{CAPACITY_KEY, Layer, Loader, OVER_PROVISIONING_KEY};
use crate::config::error::ConfigErrorKind;
use crate::config::reference::dotted;
use crate::config::{ReplayMode, WorkloadKind};

impl Loader {
    /// Derives `workload.kind` from the key of a trace, a profile or a fitted profile. The derived kind replaces a kind that a lower layer
    /// (preset, file, fio jobs) sets.
    pub(in crate::config) fn imply_workload_kind(&mut self, layer: Layer, stream: Option<&str>) {
        let (section, _) = self.workload_mut(stream);
        let set_here =
            |key: &str| self.settings.get(&dotted(&section, key)).filter(|setting| setting.layer == layer).cloned();
        let kind = set_here("kind");
        let given =
            [(WorkloadKind::Trace, "trace"), (WorkloadKind::Profile, "profile"), (WorkloadKind::Fitted, "fitted")];
        let mut given = given.into_iter().filter_map(|(kind, key)| set_here(key).map(|setting| (kind, setting)));
        let implied = given.next();
        if let (Some((first, _)), Some((second, setting))) = (&implied, given.next()) {
            let message =
                format!("{section}.{first} and {section}.{second} are both given: requests come from one of them");
            self.add_problem(ConfigErrorKind::Conflict, message, None, Some(setting.key_location));
            return;
        }
        let (_, workload) = self.workload_mut(stream);
        match (&implied, &kind) {
            (Some((implied, setting)), Some(_)) if workload.kind != *implied => {
                let message = format!("{section}.{implied} is given, but {section}.kind is `{}`", workload.kind);
                let help = format!("leave {section}.kind away: {section}.{implied} implies it");
                let place = setting.key_location.clone();
                self.add_problem(ConfigErrorKind::Conflict, message, Some(help), Some(place));
                return;
            }
            (Some((implied, _)), _) => workload.kind = *implied,
            (None, Some(_)) => {}
            (None, None) => return,
        }
        // Keys of other kinds of workload, set by a lower layer (preset, file, fio jobs), no longer apply.
        if workload.kind != WorkloadKind::Trace {
            workload.trace = None;
        }
        if workload.kind != WorkloadKind::Profile {
            workload.profile = None;
        }
        if workload.kind != WorkloadKind::Fitted {
            workload.fitted = None;
        }
    }

    /// Selects open replay for traces, unless a layer (preset, file, fio jobs, overrides) sets a mode or a key of another mode.
    pub(super) fn imply_replay_modes(&mut self) {
        let names: Vec<String> = self.config.stream.iter().map(|stream| stream.name.clone()).collect();
        let says = |stream: &str, key: &str| {
            self.settings.contains_key(&dotted("replay", key))
                || (!stream.is_empty() && self.settings.contains_key(&format!("stream.{stream}.replay.{key}")))
        };
        let is_free =
            |stream: &str| !["mode", "outstanding", "threads", "think-time"].iter().any(|key| says(stream, key));
        let free: Vec<String> = names.into_iter().filter(|name| is_free(name)).collect();
        if is_free("") && self.config.workload.kind == WorkloadKind::Trace {
            self.config.replay.mode = ReplayMode::Open;
        }
        for stream in self.config.stream.iter_mut().filter(|stream| free.contains(&stream.name)) {
            if stream.workload.kind == WorkloadKind::Trace {
                stream.replay.mode = ReplayMode::Open;
            }
        }
    }

    /// Removes `geometry.capacity` if a later layer sets `geometry.over-provisioning`, for example if the preset sets the capacity and the file sets
    /// the over-provisioning. The capacity would otherwise take precedence.
    pub(super) fn replace_capacity(&mut self) {
        let layer = |key: &str| self.settings.get(key).filter(|setting| setting.is_valid).map(|setting| setting.layer);
        if layer(CAPACITY_KEY).is_some_and(|capacity| layer(OVER_PROVISIONING_KEY) > Some(capacity)) {
            self.config.geometry.capacity = None;
            self.settings.remove(CAPACITY_KEY);
        }
    }
}
