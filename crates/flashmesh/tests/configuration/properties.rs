//! Properties that hold for any configuration and for any text.

use flashmesh::config::{
    Condition, Config, ConfigError, ConfigErrorKind, ParameterSpec, ParameterType, Problem, StreamConfig, UsedWith,
};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

/// Returns a TOML value that `spec` allows, chosen by `random`, or by `pick` if there is a list of choices.
fn value_of(spec: &ParameterSpec, random: u64, pick: Index) -> String {
    if !spec.choices.is_empty() {
        return format!("\"{}\"", spec.choices[pick.index(spec.choices.len())].name);
    }
    let number = |text: &Option<String>, other: f64| text.as_ref().map_or(other, |text| text.parse().unwrap());
    match spec.parameter_type {
        ParameterType::Integer => {
            let bound = |text: &Option<String>| text.as_ref().map(|text| text.parse::<u64>().unwrap());
            let (min, max) = (bound(&spec.min_text).unwrap(), bound(&spec.max_text).unwrap());
            (min + random % (max - min + 1).min(100)).to_string()
        }
        ParameterType::Number | ParameterType::Share => {
            let (min, max) = (number(&spec.min_text, 0.0), number(&spec.max_text, 1.0));
            format!("{:?}", min + (max - min) * (random as f64 / u64::MAX as f64))
        }
        ParameterType::Boolean => random.is_multiple_of(2).to_string(),
        ParameterType::Time => format!("\"{}ps\"", 1 + random % 1_000_000_000),
        ParameterType::Bytes if spec.key == "page-size" => format!("\"{}KiB\"", 1 << (random % 7)),
        ParameterType::Bytes if spec.key == "sector-size" => "\"512B\"".to_owned(),
        ParameterType::Bytes if spec.key == "mapping-unit" => "\"1KiB\"".to_owned(),
        ParameterType::Bytes => format!("\"{}B\"", 512 * (1 + random % 7)),
        ParameterType::Rate if random.is_multiple_of(5) => "\"unlimited\"".to_owned(),
        ParameterType::Rate => format!("\"{}B/s\"", 1_000 + random % (1 << 40)),
        ParameterType::Power => format!("\"{}nW\"", random % (1 << 36)),
        ParameterType::Current => format!("\"{}uA\"", random % (1 << 20)),
        ParameterType::Voltage => format!("\"{}mV\"", random % (1 << 16)),
        ParameterType::Sizes => format!("[[\"{}B\", 0.25], [\"4KiB\", {}]]", 512 * (1 + random % 9), 1 + random % 3),
        ParameterType::Indices => {
            let (first, count) = (random % 2, random / 2 % 3);
            format!("\"{first}-{},{}\"", first + count, first + count + 2)
        }
        ParameterType::Text if spec.key == "namespace" => "\"NAME\"".to_owned(),
        ParameterType::Text if spec.key == "parity" => format!("\"1/{}\"", 2 + random % 7),
        ParameterType::Text if spec.section == "policy" => format!("\"policy{random}.py:Mine\""),
        ParameterType::Times => {
            let first = random % 1_000_000;
            format!("[\"{first}ps\", \"{}ps\"]", first + random % 1_000)
        }
        ParameterType::Text | ParameterType::Path => format!("\"\\u00e9 \\\\ {random}\\n\""),
        ParameterType::Choice | ParameterType::Switch => unreachable!("choices and switches are handled above"),
    }
}

/// Returns the path of the key, prefixed with one of two streams at random if streams can set the key.
fn key_of(spec: &ParameterSpec, random: u64) -> String {
    let is_per_stream = StreamConfig::has_section(spec.section);
    match random % 5 {
        1 if is_per_stream => format!("stream.a_1.{}", spec.path()),
        2 if is_per_stream => format!("stream.b-2.{}", spec.path()),
        _ => spec.path(),
    }
}

/// Returns the conditions under which `specs` take effect, including those of the keys that these conditions name.
fn deciders(specs: &[&'static ParameterSpec]) -> Vec<Condition> {
    let mut found: Vec<Condition> = Vec::new();
    let mut open: Vec<&'static ParameterSpec> = specs.to_vec();
    while let Some(spec) = open.pop() {
        for condition in spec.used_with.iter().map(|with| with.any_of[0]) {
            if !found.iter().any(|known| known.path() == condition.path()) {
                found.push(condition);
                open.extend(Config::parameters().filter(|other| other.path() == condition.path()));
            }
        }
    }
    found
}

/// Returns a key and a value that satisfy `condition`.
fn met(condition: &Condition) -> (String, &'static str) {
    let path = condition.path();
    let value = match (path.as_str(), condition.is) {
        (_, true) if condition.section == "policy" => "\"built-in\"",
        (_, true) => condition.values[0],
        ("cache.capacity" | "mapping.cache-capacity", _) => "\"1MiB\"",
        ("fabric.kind", _) => "\"bus\"",
        ("flash.suspension" | "mbm.suspension", _) => "\"both\"",
        ("power.cut" | "measure.epoch", _) => "\"1ms\"",
        ("slc.blocks-per-plane", _) => "1",
        ("workload.pass-size", _) => "\"1MiB\"",
        ("measure.precision", _) => "\"1%\"",
        ("cache.throttle-interval", _) => "\"1us\"",
        ("firmware.read-time", _) => "\"1us\"",
        ("ftl.mapping-unit", _) => "\"4KiB\"",
        ("firmware.cores" | "geometry.planes-per-die", _) => "2",
        ("flash.multi-plane", _) => "\"same-offset\"",
        ("ftl.policy", _) if !condition.values.contains(&"\"page\"") => "\"page\"",
        ("schedule.policy", _) if !condition.values.contains(&"\"fifo\"") => "\"fifo\"",
        ("schedule.policy", _) => "\"out-of-order\"",
        _ => panic!("this test knows no other value of {path}"),
    };
    // `workload.kind = "trace"` also needs a trace. Setting `workload.trace` implies the kind, so it is set instead.
    match value {
        "\"trace\"" | "\"fitted\"" | "\"profile\"" if path == "workload.kind" => {
            (format!("workload.{}", value.trim_matches('"')), "\"x\"")
        }
        _ => (path, value),
    }
}

/// Returns a strategy that draws a configuration file with one to six keys, in most cases with the other keys that they need to take effect.
fn file() -> impl Strategy<Value = String> {
    let specs: Vec<&'static ParameterSpec> = Config::parameters().collect();
    let count = specs.len();
    (subsequence(specs, 1..=6), prop::collection::vec((any::<u64>(), any::<Index>()), count)).prop_map(
        |(specs, random)| {
            let given = |path: &str| specs.iter().any(|spec| spec.path() == path);
            let beside: String = match random[0].0 % 8 {
                0 => String::new(),
                _ => deciders(&specs)
                    .iter()
                    .filter(|condition| !given(&condition.path()))
                    .map(met)
                    .filter(|(path, _)| !given(path))
                    .map(|(path, value)| format!("{path} = {value}\n"))
                    .collect(),
            };
            let lines = specs.iter().zip(random);
            let own = lines
                .map(|(spec, (random, pick))| format!("{} = {}\n", key_of(spec, random), value_of(spec, random, pick)));
            beside + &own.collect::<String>()
        },
    )
}

/// Checks that a parsed configuration is valid, and that its canonical form parses to an equal one. Returns the first failure as an error.
fn check_config(config: &Config) -> Result<(), TestCaseError> {
    let canonical = config.to_toml();
    let again = Config::from_str(&canonical, "canonical.toml", &[]);
    let again = again.map_err(|error| TestCaseError::fail(format!("{error}\n{canonical}")))?;
    prop_assert_eq!(&again, config);
    prop_assert_eq!(again.to_toml(), canonical);
    prop_assert_eq!(again.hash(), config.hash());
    prop_assert!(config.validate().is_ok());
    Ok(())
}

/// Returns whether the problem concerns the text as a whole, not one of its keys.
fn is_of_text(problem: &Problem) -> bool {
    matches!(problem.kind, ConfigErrorKind::InvalidToml | ConfigErrorKind::MalformedOverride)
}

/// Checks that each problem of `error` has a position in one of `texts` (name and text), at the key or its replacement, and is printed with name and
/// line.
fn check_error(error: &ConfigError, texts: &[(String, String)]) -> Result<(), TestCaseError> {
    let shown = error.to_string();
    prop_assert!(!error.problems().is_empty());
    prop_assert_eq!(error.kind(), error.problems()[0].kind);
    for problem in error.problems() {
        prop_assert!(!problem.message.is_empty() && shown.contains(problem.message.lines().next().unwrap_or_default()));
        let position = problem.position.as_ref();
        let position = position.ok_or_else(|| TestCaseError::fail(format!("without a position: {shown}")))?;
        let (_, text) = texts
            .iter()
            .find(|(name, _)| *name == position.source)
            .ok_or_else(|| TestCaseError::fail(format!("no such text: {shown}")))?;
        // A problem can be at the end of the text, one column after its last character.
        let lines: Vec<&str> = text.split('\n').collect();
        prop_assert!((1..=lines.len()).contains(&position.line), "line {} of {:?}\n{}", position.line, text, shown);
        let line = lines[position.line - 1];
        prop_assert!((1..=line.chars().count() + 1).contains(&position.column), "{:?}\n{}", position, shown);
        // A problem at the end of the text is printed with the last line, not with the empty line after the final newline.
        let is_at_end = position.line == lines.len() && line.is_empty();
        let is_shown = shown.contains(&format!("{}:{}:", position.source, position.line));
        prop_assert!(is_shown || is_at_end, "{:?}\n{}", position, shown);
        if !is_of_text(problem) {
            let pointed_at = line.chars().nth(position.column - 1);
            prop_assert!(pointed_at.is_some_and(|one| !one.is_whitespace()), "{:?}\n{}", position, shown);
        }
    }
    Ok(())
}

/// Parses `text` with the override `set`, and checks the resulting configuration or error.
fn check_outcome(text: &str, set: Option<&str>) -> Result<(), TestCaseError> {
    let overrides: Vec<String> = set.map(str::to_owned).into_iter().collect();
    match Config::from_str(text, "random.toml", &overrides) {
        Ok(config) => check_config(&config),
        Err(error) => {
            let file = ("random.toml".to_owned(), text.to_owned());
            let set = set.map(|set| ("--set #1".to_owned(), set.to_owned()));
            check_error(&error, &[Some(file), set].into_iter().flatten().collect::<Vec<_>>())
        }
    }
}

proptest! {
    #[test]
    fn the_canonical_form_reads_back_as_the_same_configuration(text in file()) {
        match Config::from_str(&text, "random.toml", &[]) {
            Ok(config) => check_config(&config)?,
            Err(error) => {
                check_error(&error, &[("random.toml".to_owned(), text)])?;
                let allowed = [ConfigErrorKind::Conflict, ConfigErrorKind::Unused, ConfigErrorKind::UnknownName];
                prop_assert!(error.problems().iter().all(|problem| allowed.contains(&problem.kind)), "{}", error);
                prop_assume!(false);
            }
        }
    }

    #[test]
    fn any_text_is_an_error_with_its_place_or_a_configuration(text in "\\PC{0,200}", set in "\\PC{0,40}") {
        check_outcome(&text, Some(&set))?;
    }

    #[test]
    fn any_bytes_are_an_error_with_its_place_or_a_configuration(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        check_outcome(&text, Some(&text))?;
    }

    #[test]
    fn near_toml_is_an_error_with_its_place_or_a_configuration(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "[", "]", "[[", "]]", "stream", "namespace", "a", "geometry", "workload", "gc", "=", ".", "\n", "\r\n", "\"", "'", "\"\"\"", "{", "}",
                ",", "channels", "trace", "preset", "kind", "1", "-1", "1e400", "\"3us\"", "\"venice-z-nand\"", "nan", "\u{e9}",
                "\u{202e}", "\t", "#", "request-size", "[[\"4KiB\", 0.5]]", "true", "1979-05-27", "\\u0000", "\0",
            ]),
            0..60,
        )
    ) {
        let text = words.concat();
        check_outcome(&text, Some(&text))?;
        check_outcome(&text, None)?;
    }

    #[test]
    fn any_damage_to_a_good_file_is_an_error_or_a_configuration(at in any::<Index>(), byte in any::<u8>()) {
        let mut bytes = Config::presets()[at.index(6)].text.as_bytes().to_vec();
        let position = at.index(bytes.len());
        bytes[position] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            check_outcome(&text, None)?;
        }
    }

    #[test]
    fn a_value_beyond_its_bounds_is_refused_where_it_stands_and_told_its_bounds(
        at in any::<Index>(),
        beyond in 1..1_000u64,
        blank_lines in 0..5usize,
    ) {
        let bounded: Vec<(&ParameterSpec, String)> =
            Config::parameters().filter_map(|spec| Some((spec, beyond_bounds(spec, beyond)?))).collect();
        let (spec, value) = &bounded[at.index(bounded.len())];
        let mut text = "\n".repeat(blank_lines);
        text.push_str(&format!("{} = {value}\n", spec.path()));
        let Err(error) = Config::from_str(&text, "random.toml", &[]) else {
            return Err(TestCaseError::fail(format!("taken: {text}")));
        };
        check_error(&error, &[("random.toml".to_owned(), text.clone())])?;
        let is_refusal = |problem: &&Problem| problem.kind == ConfigErrorKind::OutOfBounds;
        let refusal = error.problems().iter().find(is_refusal);
        let refusal = refusal.ok_or_else(|| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert!(refusal.message.contains(&spec.path()), "{}", error);
        prop_assert!(refusal.message.contains(&spec.bounds_text), "{} lacks {}", error, spec.bounds_text);
        let position = refusal.position.as_ref().expect("every problem has a position");
        prop_assert_eq!((position.line, position.column), (blank_lines + 1, spec.path().len() + 4));
    }

    #[test]
    fn a_misspelt_key_is_refused_where_it_stands_and_by_name(at in any::<Index>(), blank_lines in 0..5usize) {
        let specs: Vec<&ParameterSpec> = Config::parameters().collect();
        let spec = specs[at.index(specs.len())];
        let key = format!("{}x", spec.key);
        let table = match spec.section {
            "" => String::new(),
            section => format!("[{}]\n", section.replace("NAME", "n")),
        };
        let text = format!("{}{table}{key} = 1\n", "\n".repeat(blank_lines));
        let error = Config::from_str(&text, "random.toml", &[]).map(|_| ()).expect_err("an unknown key is refused");
        check_error(&error, &[("random.toml".to_owned(), text.clone())])?;
        let line = blank_lines + 1 + table.lines().count();
        let is_told = error.problems().iter().any(|problem| {
            problem.kind == ConfigErrorKind::UnknownKey
                && problem.message.contains(&format!("`{key}`"))
                && problem.position.as_ref().is_some_and(|position| (position.line, position.column) == (line, 1))
        });
        prop_assert!(is_told, "{}", error);
    }

    #[test]
    fn the_last_one_who_sets_a_key_wins(
        at in any::<Index>(),
        in_file in prop::option::of(any::<(u64, Index)>()),
        overridden in prop::collection::vec(any::<(u64, Index)>(), 0..4),
    ) {
        let specs: Vec<&ParameterSpec> = Config::parameters().filter(|spec| is_free(spec)).collect();
        let spec = specs[at.index(specs.len())];
        let setting = |(random, pick): &(u64, Index)| format!("{} = {}", spec.path(), value_of(spec, *random, *pick));
        let preset = "preset = \"venice-pm9a3\"\n";
        let file = format!("{preset}{}\n", in_file.as_ref().map(setting).unwrap_or_default());
        let overrides: Vec<String> = overridden.iter().map(setting).collect();
        let result = Config::from_str(&file, "random.toml", &overrides);
        let last = overridden.last().or(in_file.as_ref()).map(setting).unwrap_or_default();
        let alone = Config::from_str(&format!("{preset}{last}\n"), "random.toml", &[]);
        match (result, alone) {
            (Ok(result), Ok(alone)) => prop_assert_eq!(result, alone),
            (Err(result), Err(alone)) => {
                let messages = |error: &ConfigError| -> Vec<String> {
                    error.problems().iter().map(|problem| problem.message.clone()).collect()
                };
                prop_assert_eq!(messages(&result), messages(&alone));
            }
            (result, alone) => prop_assert!(false, "{:?}, but alone {:?}", result.err(), alone.err()),
        }
    }
}

/// Returns whether the key takes effect on its own.
fn is_free(spec: &ParameterSpec) -> bool {
    spec.used_with.is_empty() && !spec.section.contains("NAME") && !spec.section.starts_with("workload")
}

/// Returns a value that exceeds the maximum of `spec` by `beyond`; `None` if there is no such value.
fn beyond_bounds(spec: &ParameterSpec, beyond: u64) -> Option<String> {
    if spec.section.contains("NAME") {
        return None;
    }
    let max = spec.max_text.as_ref()?;
    let (number, unit) = max.split_at(max.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(max.len()));
    match spec.parameter_type {
        ParameterType::Integer => Some((number.parse::<u64>().ok()?.checked_add(beyond)?).to_string()),
        ParameterType::Number | ParameterType::Share => {
            Some(format!("{:?}", number.parse::<f64>().ok()? + beyond as f64))
        }
        ParameterType::Time | ParameterType::Bytes | ParameterType::Power | ParameterType::Current => {
            Some(format!("\"{}{unit}\"", number.parse::<f64>().ok()? + beyond as f64))
        }
        _ => None,
    }
}

#[test]
fn most_numbers_have_a_value_beyond_their_bounds() {
    let count = Config::parameters().filter(|spec| beyond_bounds(spec, 1).is_some()).count();
    assert!(count > 60, "{count}");
    let free = Config::parameters().filter(|spec| is_free(spec)).count();
    assert!(free > 60, "{free}");
}

#[test]
fn deep_nesting_is_refused_and_does_not_exhaust_the_stack() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("seed = {}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(Config::from_str(&text, "deep.toml", &[]).is_err());
    }
    let dotted = format!("{}a = 1", "a.".repeat(100_000));
    assert!(Config::from_str(&dotted, "deep.toml", &[dotted.replace(' ', "")]).is_err());
    let table = format!("[{}a]", "a.".repeat(100_000));
    assert!(Config::from_str(&table, "deep.toml", &[]).is_err());
}

/// Measures the time to refuse three invalid files, each 1 / `share` of the maximum length of a configuration.
fn time_to_refuse(share: usize) -> std::time::Duration {
    let started = std::time::Instant::now();
    let one_line = format!("gc = {{{}d = 0}}", "speed-of-it = 1, ".repeat(60_000 / share));
    let many_lines: String = (0..80_000 / share).map(|number| format!("key-{number} = 1\n")).collect();
    let long_value = format!("seed = \"{}\"", "\u{202e}\t".repeat(250_000 / share));
    for text in [one_line, many_lines, long_value] {
        assert!(text.len() <= 2 << 20);
        let error = Config::from_str(&text, "long.toml", &[]).unwrap_err();
        assert!(error.to_string().len() < 100_000, "{}", error.to_string().len());
    }
    started.elapsed()
}

#[test]
fn the_longest_file_is_refused_in_good_time() {
    let [eighth, whole] = [8, 1].map(time_to_refuse);
    // Both times are long on a busy machine, so their ratio is checked. A quadratic parser would take 64 times as long for the whole as for an
    // eighth.
    assert!(whole < 32 * eighth, "{whole:?}, an eighth of it {eighth:?}");
}

#[test]
fn every_number_has_bounds_and_every_choice_a_meaning() {
    for spec in Config::parameters() {
        assert!(!spec.doc.is_empty(), "{}", spec.path());
        assert!(spec.choices.iter().all(|choice| !choice.doc.is_empty()), "{}", spec.path());
        let free = [ParameterType::Boolean, ParameterType::Text, ParameterType::Path];
        let is_free = free.contains(&spec.parameter_type) || !spec.choices.is_empty();
        assert!(is_free || !spec.bounds_text.is_empty(), "{}", spec.path());
        assert_eq!(spec.default_text.is_none(), spec.unset_means.is_some(), "{}", spec.path());
    }
}

/// Returns whether `value` is accepted for a key, alone or with the keys that it needs to take effect.
fn is_known(spec: &'static ParameterSpec, value: &str) -> bool {
    let own = format!("{} = {value}\n", spec.path());
    let beside =
        deciders(&[spec]).iter().map(met).map(|(path, value)| format!("{path} = {value}\n")).collect::<String>();
    [own.clone(), beside + &own].iter().any(|text| Config::from_str(text, "d.toml", &[]).is_ok())
}

#[test]
fn what_a_key_is_used_with_and_what_decides_on_its_needs_exists() {
    for spec in Config::parameters() {
        // Conditions on `[policy]` are skipped: a key may take effect with a Python policy or with certain values of its own.
        let of_policy = |with: &&UsedWith| with.any_of.iter().any(|condition| condition.section == "policy");
        let own = spec
            .used_with
            .iter()
            .filter(|with| !of_policy(with))
            .flat_map(|with| &with.any_of)
            .find(|with| (with.section, with.key) == (spec.section, spec.key));
        assert_eq!(own, None, "{} decides on itself", spec.path());
        for condition in spec.used_with.iter().chain(&spec.needs.only_where).flat_map(|with| &with.any_of) {
            let decider = Config::parameters()
                .find(|other| (other.section, other.key) == (condition.section, condition.key))
                .unwrap_or_else(|| panic!("{}: no key {}", spec.path(), condition.path()));
            for value in condition.values {
                let known = decider.choices.iter().any(|choice| format!("\"{}\"", choice.name) == *value)
                    || (decider.parameter_type == ParameterType::Boolean && ["true", "false"].contains(value))
                    || (decider.default_text.is_none() && value.is_empty())
                    || is_known(decider, value);
                assert!(known, "{}: {} cannot be {value}", spec.path(), decider.path());
            }
        }
    }
}

#[test]
fn every_key_reads_its_own_default() {
    for spec in Config::parameters() {
        let Some(default) = &spec.default_text else { continue };
        let mut text = String::new();
        for condition in deciders(&[spec]) {
            let (path, value) = met(&condition);
            text.push_str(&format!("{path} = {value}\n"));
            if condition.key == "write-binding" {
                text.push_str("flash.program-order = \"any\"\n");
            }
        }
        let without = Config::from_str(&text, "d.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        text.push_str(&format!("{} = {default}\n", spec.path()));
        let with = Config::from_str(&text, "d.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(with, without, "{}", spec.path());
    }
}
