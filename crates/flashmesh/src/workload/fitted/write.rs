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
        comment(
            text,
            "Up to these classes distances are short and middling; and segments idle and middling, by log2 of their requests.",
        );
        let _ = writeln!(text, "levels = {:?}\nbusy = {:?}", operations.levels, operations.busy);
        let note = "Segment idle, middling or busy (0 to 2), 3 x operation before + distance short, middling or long; operation.";
        table(text, "sequence", note, &operations.sequence);
    }

    fn write_places(&self, text: &mut String) {
        let places = &self.places;
        heading(
            text,
            "places",
            "Where requests go: 0 on at the end of the latest run of their kind, 1 of another run, 2 before a run, or they jump:\n\
             # 3 to a fresh page, 4 into what was touched, 5 to where a jump went before. Classes of distances: two a factor of two.",
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
        table(text, "uses", "Operation of the first jump to a place; jumps there in all.", &places.uses);
        table(
            text,
            "returns",
            "Jumps to a place in all (log2); class of the requests between two of them.",
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
            "alignments",
            "Operation; 16 x sector in the page + how often two divides the page.",
            &places.alignments,
        );
        list(text, "regions", "Jumps to fresh pages in equal parts of the address span.", &places.regions);
        list(text, "pages-read", "Pages of 4 KiB read, by their place in a stripe of 1 MiB.", &places.pages_read);
        list(text, "pages-written", "Pages written or deallocated, likewise.", &places.pages_written);
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

fn list(text: &mut String, name: &str, note: &str, numbers: &[u64]) {
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
