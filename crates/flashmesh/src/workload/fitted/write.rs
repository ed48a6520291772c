//! A profile as a text file.

use std::fmt::Write;

use super::file::{KIND_NAMES, VERSION};
use super::model::{Model, kind_index};
use super::table::Table;

/// Lists are broken here.
const COLUMNS: usize = 120;

impl Model {
    /// The profile as a text that [`Model::from_toml`] reads, with comments for a person.
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "# What a trace is like, fitted by `flashmesh trace profile`: counts and quantiles only. `flashmesh trace generate` makes\n\
             # traces from it, and `workload.fitted` runs it. docs/fitting.md explains each part.\n\
             #\n\
             # A row of a table is a context, then pairs of an outcome and how often it followed that context.\n\
             version = {VERSION}\n\
             requests = {}\n\
             # Addresses end here, rounded up to MiB.\n\
             address-span-bytes = {}\n",
            self.requests, self.address_span
        );
        self.write_arrivals(&mut text);
        self.write_operations(&mut text);
        self.write_places(&mut text);
        text
    }

    fn write_arrivals(&self, text: &mut String) {
        let arrivals = &self.arrivals;
        heading(text, "arrivals", "When requests arrive. A class of distances covers a factor of four, from 1 ns.");
        let _ = writeln!(text, "segment-ps = {}", arrivals.segment_ps);
        list(text, "segments", "Requests that arrive in each segment.", &arrivals.segments);
        list(
            text,
            "mixes",
            "What they are like: 3 x class of the mean size in sectors + mostly written, mixed, mostly read.",
            &arrivals.mixes,
        );
        comment(text, "Above this class a distance is long.");
        let _ = writeln!(text, "long-class = {}", arrivals.long);
        comment(
            text,
            "Class of distances; its smallest distance, the seven that cut it into eight, the largest, in picoseconds.",
        );
        let rows = arrivals
            .quantiles
            .iter()
            .map(|(class, values)| std::iter::once(u64::from(*class)).chain(values.iter().copied()).collect());
        write_rows(text, "quantiles", rows);
        let note = "Class of the segment's requests (log2), 16 x class of the distance before + class of the requests since a long \
                    one; class of the distance.";
        table(text, "gaps", note, &arrivals.gaps);
    }

    fn write_operations(&self, text: &mut String) {
        let operations = &self.operations;
        heading(
            text,
            "operations",
            "What requests ask and how much they cover: sizes in sectors of 512 B, equally likely.",
        );
        text.push_str("list = [\n");
        for operation in &operations.list {
            let kind = KIND_NAMES[kind_index(operation.kind)];
            let _ = writeln!(text, "  {{ kind = \"{kind}\", sectors = {:?} }},", operation.sectors);
        }
        text.push_str("]\n");
        comment(text, "Up to these classes distances are short and middling.");
        let _ = writeln!(text, "levels = {:?}", operations.levels);
        let note = "Mix of the segment, 3 x operation before + distance short, middling or long; operation.";
        table(text, "sequence", note, &operations.sequence);
    }

    fn write_places(&self, text: &mut String) {
        let places = &self.places;
        heading(
            text,
            "places",
            "Where requests go: 0 on at the end of the latest run of their kind, 1 of another run, 2 before a run, or they jump:\n\
             # 3 to a fresh page, 4 into what was touched, 5 to a place used before; 6 and 7 as 3 and 4, close to one of the last 32;\n\
             # 8 to the place of the request before. Classes of distances: two a factor of two.",
        );
        table(
            text,
            "relations",
            "Operation, 3 x relation before + distance in time as above; relation.",
            &places.relations,
        );
        table(text, "ranks", "Relation; the rank of the run, from the latest.", &places.ranks);
        table(
            text,
            "run-lengths",
            "Operation and relation of the first request of a run; its requests.",
            &places.run_lengths,
        );
        table(text, "uses", "Operation and relation of the first use of a place; uses in all.", &places.uses);
        table(
            text,
            "returns",
            "Operation, relation; 64 x uses of the place in all (log2) + class of the requests since the last.",
            &places.returns,
        );
        table(text, "next", "Operation; operation of the next jump to the same place.", &places.next);
        table(
            text,
            "overlaps",
            "Operation; 4 x class of the requests since the page was touched + 0 read, 1 written, 2 deallocated.",
            &places.overlaps,
        );
        table(
            text,
            "near",
            "Operation, last outcome of its kind; pages behind the start of another request, plus 1024.",
            &places.near,
        );
        table(text, "near-ranks", "Relation, operation; rank of the request it is close to.", &places.near_ranks);
        table(
            text,
            "near-ages",
            "Operation; class of the requests since a page of a near overlap was touched.",
            &places.near_ages,
        );
        table(
            text,
            "loads",
            "Operation, 3 x relation + distance in time; how many of the last 32 requests touch the die jumped to.",
            &places.loads,
        );
        table(text, "sectors", "Operation; sector in the page where a jump to a new place goes.", &places.sectors);
        table(
            text,
            "phases",
            "Operation, uses (log2); sector in a stripe of 1 MiB where a new place begins.",
            &places.phases,
        );
        list(text, "regions", "Jumps to fresh pages in equal parts of the address span.", &places.regions);
    }
}

fn heading(text: &mut String, name: &str, note: &str) {
    let _ = write!(text, "\n[{name}]\n# {note}\n");
}

fn comment(text: &mut String, note: &str) {
    let _ = writeln!(text, "# {note}");
}

fn table<const WIDTH: usize>(text: &mut String, name: &str, note: &str, table: &Table<WIDTH>) {
    comment(text, note);
    let rows = table.rows.iter().map(|(context, outcomes)| {
        let pairs = outcomes.iter().flat_map(|(&outcome, &count)| [u64::from(outcome), count]);
        context.iter().map(|&number| u64::from(number)).chain(pairs).collect()
    });
    write_rows(text, name, rows);
}

fn write_rows(text: &mut String, name: &str, rows: impl Iterator<Item = Vec<u64>>) {
    let _ = writeln!(text, "{name} = [");
    for row in rows {
        let numbers: Vec<String> = row.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "  [{}],", numbers.join(","));
    }
    text.push_str("]\n");
}

fn list(text: &mut String, name: &str, note: &str, numbers: &[impl std::fmt::Display]) {
    comment(text, note);
    let _ = writeln!(text, "{name} = [");
    let mut line = String::from(" ");
    for number in numbers {
        if line.len() > COLUMNS {
            let _ = writeln!(text, "{line}");
            line.truncate(1);
        }
        let _ = write!(line, " {number},");
    }
    let _ = writeln!(text, "{line}\n]");
}
