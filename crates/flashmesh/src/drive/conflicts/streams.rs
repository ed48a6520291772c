//! Checks of the workload of each stream, and of its footprint in its namespace.

use crate::config::{
    Config, ConfigConflict, ConfigErrorKind, InterfaceKind, NAMED_MAX, StreamConfig, WorkloadKind, is_name,
};
use crate::error::NamespaceError;
use crate::flash::geometry::Geometry;
use crate::flash::namespace::ResolvedNamespace;
use crate::units::Bytes;

/// Largest number of streams that can have open blocks of their own.
const WRITERS_MAX: usize = 64;

/// A stream, with the prefix that its keys have in messages (`stream.NAME.`, or none without configured streams), and the sector size.
struct StreamScope<'a> {
    stream: &'a StreamConfig,
    prefix: String,
    sector: Bytes,
}

impl StreamScope<'_> {
    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Creates a conflict between keys of this stream. Keys of the drive (`geometry`, `host`, `namespace`) get no prefix.
    fn clash(&self, keys: &[&str], message: String) -> ConfigConflict {
        let keys = keys.iter().map(|key| {
            if ["geometry.", "host.", "namespace."].iter().any(|section| key.starts_with(section)) {
                (*key).to_owned()
            } else {
                self.key(key)
            }
        });
        ConfigConflict { kind: ConfigErrorKind::Conflict, keys: keys.collect(), message, help: None }
    }
}

/// Adds the conflicts in the settings of streams (names, source and sizes of requests, footprint) and of namespaces.
pub(super) fn add_conflicts(config: &Config, geometry: Option<&Geometry>, clashes: &mut Vec<ConfigConflict>) {
    names("stream", config.stream.iter().map(|stream| stream.name.as_str()), clashes);
    names("namespace", config.namespace.iter().map(|(name, _)| name.as_str()), clashes);
    if config.ftl.write_streams.separates_streams() && config.stream.len() > WRITERS_MAX {
        let message = format!(
            "there are {} streams; at most {WRITERS_MAX} can write to open blocks of their own",
            config.stream.len()
        );
        clashes
            .push(ConfigConflict::new(&["ftl.write-streams"], message).with_help("set ftl.write-streams to `shared`"));
    }
    let namespaces = match geometry.map(|geometry| config.namespaces(geometry)).transpose() {
        Ok(namespaces) => namespaces,
        Err(error) => {
            clashes.push(of_namespaces(ConfigErrorKind::Conflict, error));
            None
        }
    };
    for stream in &config.streams() {
        let prefix = if config.stream.is_empty() { String::new() } else { format!("stream.{}.", stream.name) };
        let scope = StreamScope { stream, prefix, sector: config.geometry.sector_size };
        source(&scope, clashes);
        requests(&scope, clashes);
        interface(&scope, config.host.interface, clashes);
        let Some(namespaces) = &namespaces else { continue };
        match config.namespace_of(&stream.queue, namespaces, &scope.key("queue.namespace")) {
            Ok(at) => footprint(&scope, !config.namespace.is_empty(), &namespaces[at], clashes),
            Err(error) => clashes.push(of_namespaces(ConfigErrorKind::UnknownName, error)),
        }
    }
}

fn of_namespaces(kind: ConfigErrorKind, error: NamespaceError) -> ConfigConflict {
    ConfigConflict { kind, keys: error.keys, message: error.message, help: Some(error.help) }
}

/// Adds conflicts for invalid and duplicate names, and for too many of them. Only a configuration built in code can have such names.
fn names<'a>(kind: &str, names: impl Iterator<Item = &'a str>, clashes: &mut Vec<ConfigConflict>) {
    let mut seen = Vec::new();
    for name in names {
        let message = if !is_name(name) {
            format!("`{name}` cannot be the name of a {kind}: a name has 1 to 64 letters, digits, `_` and `-`")
        } else if seen.contains(&name) {
            format!("there are two {kind}s `{name}`")
        } else {
            seen.push(name);
            continue;
        };
        clashes.push(ConfigConflict { kind: ConfigErrorKind::BadName, keys: Vec::new(), message, help: None });
    }
    if seen.len() > NAMED_MAX {
        clashes.push(ConfigConflict::new(&[], format!("there are {} {kind}s; there can be {NAMED_MAX}", seen.len())));
    }
}

fn source(scope: &StreamScope<'_>, clashes: &mut Vec<ConfigConflict>) {
    let workload = &scope.stream.workload;
    let (trace, profile, fitted) = (workload.trace.is_some(), workload.profile.is_some(), workload.fitted.is_some());
    let key = |key| scope.key(key);
    match workload.kind {
        WorkloadKind::Trace if !trace => {
            let message = format!("{} is `trace`, but no trace is given", key("workload.kind"));
            let help = format!("set {} to the path of a file", key("workload.trace"));
            clashes.push(scope.clash(&["workload.kind"], message).with_help(&help));
        }
        WorkloadKind::Fitted if !fitted => {
            let message = format!("{} is `fitted`, but no fitted profile is given", key("workload.kind"));
            let help = format!("set {} to a file that `flashmesh trace profile` has written", key("workload.fitted"));
            clashes.push(scope.clash(&["workload.kind"], message).with_help(&help));
        }
        WorkloadKind::Profile if !profile => {
            let message = format!("{} is `profile`, but no profile is given", key("workload.kind"));
            let help = format!("set {} to the name of a profile", key("workload.profile"));
            clashes.push(scope.clash(&["workload.kind"], message).with_help(&help));
        }
        _ => {}
    }
    for (given, kind, name) in [
        (trace, WorkloadKind::Trace, "workload.trace"),
        (profile, WorkloadKind::Profile, "workload.profile"),
        (fitted, WorkloadKind::Fitted, "workload.fitted"),
    ] {
        if given && workload.kind != kind {
            let message = format!("{} is given, but {} is `{}`", key(name), key("workload.kind"), workload.kind);
            clashes.push(scope.clash(&[name, "workload.kind"], message));
        }
    }
}

fn requests(scope: &StreamScope<'_>, clashes: &mut Vec<ConfigConflict>) {
    let (workload, sector) = (&scope.stream.workload, scope.sector);
    let mut whole_sectors = |key: &str, value: Bytes| {
        if sector > Bytes::ZERO && !value.as_u64().is_multiple_of(sector.as_u64()) {
            let name = scope.key(key);
            let message = format!("{name} ({value}) is not a multiple of geometry.sector-size ({sector})");
            let (below, sector) = (value.as_u64() / sector.as_u64(), sector.as_u64());
            let help = match below {
                0 => format!("take {}", Bytes::new(sector)),
                _ => {
                    format!("take {} or {}", Bytes::new(below * sector), Bytes::new((below + 1).saturating_mul(sector)))
                }
            };
            clashes.push(scope.clash(&[key, "geometry.sector-size"], message).with_help(&help));
        }
    };
    let of_writes = workload.write_size.as_ref().map(|sizes| ("workload.write-size", sizes));
    let of_deallocations = workload.deallocate_size.as_ref().map(|sizes| ("workload.deallocate-size", sizes));
    let given = [Some(("workload.request-size", &workload.request_size)), of_writes, of_deallocations];
    for (key, sizes) in given.into_iter().flatten() {
        for (size, _) in &sizes.0 {
            whole_sectors(key, *size);
        }
    }
    whole_sectors("workload.skip", workload.skip);
    if let Some(pass) = workload.pass_size {
        whole_sectors("workload.pass-size", pass);
    }
    whole_sectors("workload.footprint-start", workload.footprint_start);
    if let Some(footprint) = workload.footprint {
        whole_sectors("workload.footprint", footprint);
    }
    if let Some(alignment) = workload.alignment {
        whole_sectors("workload.alignment", alignment);
    }
    let is_weight = |weight: f64| weight > 0.0;
    if workload.request_size.0.is_empty() || workload.request_size.0.iter().any(|(_, weight)| !is_weight(*weight)) {
        let message = format!("{} needs sizes, each with a weight above 0", scope.key("workload.request-size"));
        clashes.push(scope.clash(&["workload.request-size"], message));
    }
    let shares = [
        ("workload.read-share", workload.read_share),
        ("workload.deallocate-share", workload.deallocate_share),
        ("workload.flush-share", workload.flush_share),
        ("workload.write-zeroes-share", workload.write_zeroes_share),
    ];
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    // Shares are binary fractions, so shares that add up to 1 in decimal may exceed it by a rounding error.
    if total > 1.0 + 1e-9 {
        let mut given: Vec<_> = shares.into_iter().filter(|(_, share)| *share > 0.0).collect();
        let named: Vec<String> = given.iter().map(|(key, share)| format!("{} ({share})", scope.key(key))).collect();
        let message = format!("{} add up to more than 1", named.join(" and "));
        // List the share declared last first, because it is the likeliest mistake.
        given.reverse();
        let keys: Vec<&str> = given.into_iter().map(|(key, _)| key).collect();
        let help = "lower one of them: what they leave of all requests are the writes";
        clashes.push(scope.clash(&keys, message).with_help(help));
    }
}

fn interface(scope: &StreamScope<'_>, interface: InterfaceKind, clashes: &mut Vec<ConfigConflict>) {
    if interface == InterfaceKind::Sata && scope.stream.workload.write_zeroes_share > 0.0 {
        let key = scope.key("workload.write-zeroes-share");
        let message = format!("{key} is set, and host.interface is `sata`, which knows no such command");
        let clash = scope.clash(&["workload.write-zeroes-share", "host.interface"], message);
        clashes.push(clash.with_help(&format!("choose another interface, or set {key} to 0")));
    }
}

fn footprint(
    scope: &StreamScope<'_>,
    is_named: bool,
    namespace: &ResolvedNamespace,
    clashes: &mut Vec<ConfigConflict>,
) {
    let (workload, capacity) = (&scope.stream.workload, namespace.capacity);
    if matches!(workload.kind, WorkloadKind::Trace | WorkloadKind::Fitted) {
        return;
    }
    let space = if is_named { format!("namespace `{}`", namespace.name) } else { "the drive".to_owned() };
    let space_key = match is_named {
        true => format!("namespace.{}.capacity", namespace.name),
        false => "geometry.capacity".to_owned(),
    };
    let larger = if is_named { format!("raise {space_key}") } else { "take a larger drive".to_owned() };
    let (start_key, footprint_key) = (scope.key("workload.footprint-start"), scope.key("workload.footprint"));
    let start = workload.footprint_start;
    if start >= capacity {
        let message = format!("{start_key} ({start}) is beyond {space}, which has {capacity:#}");
        let clash = scope.clash(&["workload.footprint-start", &space_key], message);
        clashes.push(clash.with_help(&format!("lower {start_key}, or {larger}")));
        return;
    }
    let room = capacity - start;
    let footprint = workload.footprint.unwrap_or(room);
    if footprint > room {
        let message =
            format!("{footprint_key} ({footprint} from {start}) reaches beyond {space}, which has {capacity:#}");
        let keys = ["workload.footprint", "workload.footprint-start", &space_key];
        let help = format!("lower {footprint_key} to {room:#}, leave it away for all there is, or {larger}");
        clashes.push(scope.clash(&keys, message).with_help(&help));
    }
    if matches!(workload.kind, WorkloadKind::Synthetic | WorkloadKind::Job) {
        let largest = workload.request_size.0.iter().map(|(size, _)| *size).max().unwrap_or_default();
        if largest > footprint {
            let size_key = scope.key("workload.request-size");
            let message = format!("{size_key}: a request of {largest} does not fit the footprint of {footprint:#}");
            let keys = ["workload.request-size", "workload.footprint", &space_key];
            let help = format!("lower {size_key}, or raise {footprint_key}");
            clashes.push(scope.clash(&keys, message).with_help(&help));
        }
    }
}
