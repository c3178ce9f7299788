//! Metric families, and the text that the server outputs for them.

use crate::asked::TIMED;
use crate::model::Timed;
use crate::statistics::{ExportStatistics, Statistics};
use crate::tally::KINDS;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_machine::record::{Component, Health};
use std::fmt::{Display, Write};

/// Upper bounds of the latency bins in nanoseconds, from 1 us to 10 s: 1, 2.5, and 5 times each power of
/// ten.
const BOUNDS_NS: [u64; 22] = [
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Returns the text of all metrics.
pub fn text(statistics: &Statistics) -> String {
    let mut page = Page::default();
    server(&mut page, statistics);
    requests(&mut page, &statistics.exports);
    latencies(&mut page, &statistics.exports);
    clocks(&mut page, &statistics.exports);
    devices(&mut page, &statistics.exports);
    media(&mut page, &statistics.exports);
    health(&mut page, &statistics.exports);
    faults(&mut page, &statistics.exports);
    page.0
}

fn server(page: &mut Page, of: &Statistics) {
    page.family("nacre_build_info", GAUGE, "Version of Nacre.");
    page.sample("nacre_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    page.family("nacre_up_seconds", GAUGE, "Uptime of the server.");
    page.sample("nacre_up_seconds", &[], of.up.as_secs_f64());
    page.family("nacre_connections_open", GAUGE, "Connected clients.");
    page.sample("nacre_connections_open", &[], of.connections.now);
    page.family("nacre_connections_total", COUNTER, "Total connections of clients.");
    page.sample("nacre_connections_total", &[], of.connections.ever);
    page.family(
        "nacre_connections_dropped_total",
        COUNTER,
        "Clients disconnected within a message or after a protocol violation.",
    );
    page.sample("nacre_connections_dropped_total", &[], of.connections.dropped);
}

fn requests(page: &mut Page, exports: &[ExportStatistics]) {
    page.family("nacre_export_size_bytes", GAUGE, "Bytes of the device.");
    for export in exports {
        page.sample("nacre_export_size_bytes", &[("export", &export.name)], export.bytes);
    }
    type Count = fn(&crate::tally::Counted) -> u64;
    let counts: [(&str, &str, Count); 3] = [
        ("nacre_requests_total", "Completed requests, including failed ones.", |of| of.requests),
        ("nacre_request_bytes_total", "Bytes of successful requests.", |of| of.bytes),
        ("nacre_request_errors_total", "Failed requests.", |of| of.errors),
    ];
    for (name, help, count) in counts {
        page.family(name, COUNTER, help);
        for export in exports {
            for (op, counted) in KINDS.iter().zip(&export.requests) {
                page.sample(name, &[("export", &export.name), ("op", op)], count(counted));
            }
        }
    }
    page.family(
        "nacre_late_answers_total",
        COUNTER,
        "Replies sent late by more than 10 % of their latency and more than 50 us.",
    );
    for export in exports {
        page.sample("nacre_late_answers_total", &[("export", &export.name)], export.latencies.late);
    }
    page.family("nacre_recording", GAUGE, "Whether requests are being recorded.");
    for export in exports {
        let recording = export.recording.as_ref().is_some_and(|recorded| recorded.is_under_way);
        page.sample("nacre_recording", &[("export", &export.name)], u8::from(recording));
    }
}

fn latencies(page: &mut Page, exports: &[ExportStatistics]) {
    type Kinds = fn(&ExportStatistics) -> &Timed;
    let families: [(&str, &str, Kinds); 2] = [
        ("nacre_modeled_latency_seconds", "Modeled latencies, without dilation.", |export| {
            &export.latencies.modeled
        }),
        (
            "nacre_wall_latency_seconds",
            "Wall-clock latencies, from arrival of a request to its reply.",
            |export| &export.latencies.wall,
        ),
    ];
    for (name, help, kinds) in families {
        page.family(name, "histogram", help);
        for export in exports {
            for (op, histogram) in TIMED.iter().zip(kinds(export)) {
                page.histogram(name, &[("export", &export.name), ("op", op)], histogram);
            }
        }
    }
}

fn clocks(page: &mut Page, exports: &[ExportStatistics]) {
    page.family("nacre_simulated_seconds_total", COUNTER, "The device's clock.");
    for export in exports {
        let labels = [("export", export.name.as_str())];
        page.sample("nacre_simulated_seconds_total", &labels, export.simulated.as_secs_f64());
    }
    page.family("nacre_dilation_ratio", GAUGE, "Dilation factor; absent without a model.");
    for export in exports {
        if let Some(dilation) = export.dilation() {
            page.sample("nacre_dilation_ratio", &[("export", &export.name)], dilation);
        }
    }
}

fn devices(page: &mut Page, exports: &[ExportStatistics]) {
    let name = "nacre_resource_busy_seconds_total";
    page.family(name, COUNTER, "Simulated time of a component's resources, by activity.");
    for (export, part) in parts(exports) {
        for resource in &part.resources {
            for (activity, seconds) in &resource.busy {
                let labels = [
                    ("export", export),
                    ("component", &part.path),
                    ("resource", resource.name),
                    ("activity", activity),
                ];
                page.sample(name, &labels, seconds);
            }
        }
    }
    let name = "nacre_energy_joules_total";
    page.family(name, COUNTER, "Energy of a component, by activity; absent if not modeled.");
    for (export, part) in parts(exports) {
        for (activity, joules) in part.energy_j.iter().flatten() {
            let labels = [("export", export), ("component", &part.path), ("activity", activity)];
            page.sample(name, &labels, joules);
        }
    }
    let name = "nacre_events_total";
    page.family(name, COUNTER, "Counter of a component.");
    for (export, part) in parts(exports) {
        for (event, count) in &part.counters {
            let labels = [("export", export), ("component", &part.path), ("event", event)];
            page.sample(name, &labels, count);
        }
    }
}

/// Writes the metrics of faults. Faults of the scenario's stack are identified by path, and faults added
/// while serving are identified by number.
fn faults(page: &mut Page, exports: &[ExportStatistics]) {
    type Count = fn(&Counts) -> f64;
    let counts: [(&str, &str, Count); 4] = [
        ("nacre_fault_requests_total", "Requests affected by a fault.", |of| of.touched as f64),
        ("nacre_fault_added_seconds_total", "Simulated time added to requests by a fault.", |of| of.added_s),
        ("nacre_fault_errors_total", "Requests failed by a fault.", |of| of.errors as f64),
        ("nacre_fault_silent_bytes_total", "Bytes silently corrupted by a fault.", |of| {
            of.silent_bytes as f64
        }),
    ];
    for (name, help, count) in counts {
        page.family(name, COUNTER, help);
        for export in exports {
            for of in counted_faults(export) {
                let labels = [("export", export.name.as_str()), ("fault", &of.name), ("kind", of.kind)];
                page.sample(name, &labels, count(&of));
            }
        }
    }
    page.family("nacre_fault_active", GAUGE, "Whether an injected fault is active.");
    for export in exports {
        for of in &export.faults {
            let name = of.number.to_string();
            let labels = [("export", export.name.as_str()), ("fault", &name), ("kind", of.kind)];
            page.sample("nacre_fault_active", &labels, u8::from(of.active));
        }
    }
}

/// Identification and counters of a fault.
struct Counts {
    name: String,
    kind: &'static str,
    touched: u64,
    added_s: f64,
    errors: u64,
    silent_bytes: u64,
}

fn counted_faults(export: &ExportStatistics) -> impl Iterator<Item = Counts> {
    let own = export.stack.components.iter().flat_map(|part| &part.faults).map(|of| Counts {
        name: of.path.clone(),
        kind: of.kind,
        touched: of.touched,
        added_s: of.added_s,
        errors: of.errors,
        silent_bytes: of.silent_bytes,
    });
    own.chain(export.faults.iter().map(|of| Counts {
        name: of.number.to_string(),
        kind: of.kind,
        touched: of.touched,
        added_s: of.added_s,
        errors: of.errors,
        silent_bytes: of.silent_bytes,
    }))
}

fn media(page: &mut Page, exports: &[ExportStatistics]) {
    let name = "nacre_programs_total";
    page.family(name, COUNTER, "Pages programmed, by cause.");
    for (export, part) in parts(exports) {
        let Some(wear) = &part.wear else { continue };
        let causes = [
            ("host", wear.host),
            ("cleaned", wear.cleaned),
            ("leveled", wear.leveled),
            ("metadata", wear.metadata),
            ("padding", wear.padding),
        ];
        for (cause, pages) in causes {
            page.sample(name, &[("export", export), ("component", &part.path), ("cause", cause)], pages);
        }
    }
    page.family("nacre_erases_total", COUNTER, "Blocks erased.");
    for (export, part) in parts(exports) {
        if let Some(wear) = &part.wear {
            page.sample("nacre_erases_total", &[("export", export), ("component", &part.path)], wear.erases);
        }
    }
    let name = "nacre_block_erases";
    page.family(name, GAUGE, "Lifetime erases per block: minimum, mean, and maximum.");
    for (export, part) in parts(exports) {
        let Some(blocks) = part.wear.as_ref().and_then(|wear| wear.block_erases.as_ref()) else { continue };
        let marks = [("min", f64::from(blocks.min)), ("mean", blocks.mean), ("max", f64::from(blocks.max))];
        for (of, erases) in marks {
            page.sample(name, &[("export", export), ("component", &part.path), ("of", of)], erases);
        }
    }
    let name = "nacre_write_amplification_ratio";
    page.family(name, GAUGE, "Pages programmed per page of host data; absent before the first.");
    for export in exports {
        if let Some(ratio) = export.stack.write_amplification {
            page.sample(name, &[("export", &export.name)], ratio);
        }
    }
}

/// Writes the metrics of device health.
fn health(page: &mut Page, exports: &[ExportStatistics]) {
    type Number = fn(&Health) -> Option<f64>;
    let families: [(&str, &str, &str, Number); 6] = [
        (
            "nacre_spare_left_ratio",
            GAUGE,
            "Remaining spare blocks, divided by those of a new device.",
            |of| of.spare_left,
        ),
        (
            "nacre_endurance_used_ratio",
            GAUGE,
            "Mean lifetime cycles of blocks or rows, divided by their rated cycles.",
            |of| of.used,
        ),
        ("nacre_worn_out", GAUGE, "Whether the medium is worn out.", |of| Some(f64::from(of.read_only))),
        ("nacre_media_errors_total", COUNTER, "Uncorrectable or lost mapping units or pages.", |of| {
            Some(of.media_errors as f64)
        }),
        ("nacre_read_retries_total", COUNTER, "Read retries.", |of| of.retries.map(|retries| retries as f64)),
        ("nacre_failed_members", GAUGE, "Array members removed after failures.", |of| {
            of.failed_members.map(|failed| failed as f64)
        }),
    ];
    for (name, kind, help, number) in families {
        page.family(name, kind, help);
        for (export, part) in parts(exports) {
            if let Some(value) = part.health.as_ref().and_then(number) {
                page.sample(name, &[("export", export), ("component", &part.path)], value);
            }
        }
    }
    let name = "nacre_unsafe_shutdowns_total";
    page.family(name, COUNTER, "Power losses over the lifetime of the device.");
    for export in exports {
        page.sample(name, &[("export", &export.name)], export.unsafe_shutdowns);
    }
}

/// Returns every component of every export, with the name of the export.
fn parts(exports: &[ExportStatistics]) -> impl Iterator<Item = (&str, &Component)> {
    exports.iter().flat_map(|export| {
        export.stack.components.iter().map(move |component| (export.name.as_str(), component))
    })
}

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.line(format_args!("{name}{labels} {value}"));
    }

    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], of: &LatencyHistogram) {
        let mut bars = of.bars().peekable();
        let mut below = 0;
        let bucket = format!("{name}_bucket");
        for bound_ns in BOUNDS_NS {
            while let Some(bar) = bars.next_if(|bar| bar.upto.as_ps() <= bound_ns * 1000) {
                below += bar.count;
            }
            let bound = (bound_ns as f64 / 1e9).to_string();
            self.sample(&bucket, &[labels, &[("le", bound.as_str())]].concat(), below);
        }
        self.sample(&bucket, &[labels, &[("le", "+Inf")]].concat(), of.count());
        self.sample(&format!("{name}_sum"), labels, of.sum_ps() as f64 / 1e12);
        self.sample(&format!("{name}_count"), labels, of.count());
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.0.write_fmt(line).and_then(|()| self.0.write_char('\n')).expect("a text takes every line");
    }
}

/// Escapes `text` for use as a label value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
