use super::{HEAD_MAX, respond, text};
use crate::model::{Latencies, Since, Timing};
use crate::served_fault::ServedFault;
use crate::statistics::{Connections, ExportStatistics, Statistics};
use crate::tally::Counted;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Activity, ComponentId, ComponentReport, Energy, Ledger, Resource, Time, Wear};
use nacre_machine::record::stack_report;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Creates statistics of an export `name` with the read latencies `reads`.
fn statistics(name: &str, reads: &[Time]) -> Statistics {
    let mut latencies = Latencies { answered: 7, late: 2, ..Latencies::default() };
    for &time in reads {
        latencies.modeled[0].record(time);
    }
    let mut ledger = Ledger::default();
    ledger.charge(Activity::Erase, Time::from_ms(3));
    ledger.charge_energy(Activity::Erase, Energy(0.25));
    let wear = Wear { host: 10, cleaned: 5, erases: 3, block_erases: vec![1, 2], ..Wear::default() };
    let report = ComponentReport {
        id: ComponentId(0),
        kind: "ssd",
        path: "stack".into(),
        resources: vec![Resource { name: "dies", servers: 4, ledger }],
        is_energy_modeled: true,
        idle_energy: None,
        counters: vec![("trimmed", 9)],
        cost: None,
        area_mm2: None,
        lifetime_days: None,
        wear: Some(wear),
        columns: Vec::new(),
        drive_share: None,
        faults: Vec::new(),
        children: Vec::new(),
    };
    let export = ExportStatistics {
        name: name.into(),
        bytes: 1 << 30,
        read_only: false,
        timing: Timing::Emulated { dilation: 20.0, since: Since::Arrival },
        requests: [Counted { requests: 7, bytes: 4096, errors: 1 }; 8],
        latencies,
        simulated: Time::from_ms(1500),
        stack: stack_report(report, Time::from_ms(1500)),
        faults: vec![fault()],
        unsafe_shutdowns: 3,
        recording: None,
    };
    let connections = Connections { now: 1, ever: 4, dropped: 2, last_drop: None };
    Statistics { up: Duration::from_millis(30_500), connections, exports: vec![export] }
}

fn fault() -> ServedFault {
    ServedFault {
        number: 0,
        kind: "stall",
        settings: String::new(),
        active: true,
        cleared: false,
        matching: 4,
        touched: 3,
        added_s: 1.5,
        errors: 0,
        silent_bytes: 0,
    }
}

/// Returns the values of a page, indexed by sample name and labels. Checks every rule of the format
/// (Prometheus, "Exposition formats", text format 0.0.4).
fn samples(page: &str) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    let mut families = BTreeSet::new();
    let mut family = (String::new(), String::new());
    assert!(page.ends_with('\n'), "the last line ends like every other");
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').expect("a help has a text");
            assert!(!text.is_empty() && families.insert(name.to_string()), "{name}: one family, one help");
            let kind = lines.next().and_then(|line| line.strip_prefix("# TYPE ")).expect("a type follows");
            let (of, kind) = kind.split_once(' ').expect("a type has a kind");
            assert_eq!(of, name);
            assert!(["counter", "gauge", "histogram"].contains(&kind));
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}: counters and no others");
            family = (name.into(), kind.into());
            continue;
        }
        let (place, value) = line.rsplit_once(' ').expect("a sample has a value");
        let name = place.split('{').next().expect("a name");
        let base = name.strip_suffix("_bucket").or(name.strip_suffix("_sum")).or(name.strip_suffix("_count"));
        let of = if family.1 == "histogram" { base.unwrap_or(name) } else { name };
        assert_eq!(of, family.0, "samples stand below their family");
        let value = value.parse().unwrap_or_else(|_| panic!("{line}: no number"));
        assert!(found.insert(place.to_string(), value).is_none(), "{place}: twice");
    }
    found
}

#[test]
fn a_page_keeps_the_format_and_holds_the_numbers() {
    let found = samples(&text(&statistics("ssd", &[])));
    let close = |place: &str, value: f64| assert_eq!(found[place], value, "{place}");
    close("nacre_up_seconds", 30.5);
    close("nacre_connections_open", 1.0);
    close("nacre_connections_total", 4.0);
    close("nacre_connections_dropped_total", 2.0);
    close(r#"nacre_export_size_bytes{export="ssd"}"#, 1_073_741_824.0);
    close(r#"nacre_requests_total{export="ssd",op="trim"}"#, 7.0);
    close(r#"nacre_request_bytes_total{export="ssd",op="read"}"#, 4096.0);
    close(r#"nacre_request_errors_total{export="ssd",op="write"}"#, 1.0);
    close(r#"nacre_late_answers_total{export="ssd"}"#, 2.0);
    close(r#"nacre_simulated_seconds_total{export="ssd"}"#, 1.5);
    close(r#"nacre_dilation_ratio{export="ssd"}"#, 20.0);
    let die = r#"export="ssd",component="stack",resource="dies",activity="erase""#;
    close(&format!("nacre_resource_busy_seconds_total{{{die}}}"), 0.003);
    close(r#"nacre_energy_joules_total{export="ssd",component="stack",activity="erase"}"#, 0.25);
    close(r#"nacre_programs_total{export="ssd",component="stack",cause="cleaned"}"#, 5.0);
    close(r#"nacre_erases_total{export="ssd",component="stack"}"#, 3.0);
    close(r#"nacre_block_erases{export="ssd",component="stack",of="mean"}"#, 1.5);
    close(r#"nacre_write_amplification_ratio{export="ssd"}"#, 1.5);
    close(r#"nacre_unsafe_shutdowns_total{export="ssd"}"#, 3.0);
    close(r#"nacre_worn_out{export="ssd",component="stack"}"#, 0.0);
    close(r#"nacre_media_errors_total{export="ssd",component="stack"}"#, 0.0);
    assert!(!found.contains_key(r#"nacre_spare_left_ratio{export="ssd",component="stack"}"#), "not known");
    close(r#"nacre_fault_requests_total{export="ssd",fault="0",kind="stall"}"#, 3.0);
    close(r#"nacre_fault_added_seconds_total{export="ssd",fault="0",kind="stall"}"#, 1.5);
    close(r#"nacre_fault_active{export="ssd",fault="0",kind="stall"}"#, 1.0);
    close(r#"nacre_events_total{export="ssd",component="stack",event="trimmed"}"#, 9.0);
}

#[test]
fn a_histogram_counts_what_is_not_above_each_bound() {
    let times = [1, 2, 2, 40, 20_000_000].map(Time::from_us);
    let found = samples(&text(&statistics("ssd", &times)));
    let of = |le: &str| {
        let place = format!(r#"nacre_modeled_latency_seconds_bucket{{export="ssd",op="read",le="{le}"}}"#);
        found[&place]
    };
    assert_eq!(
        [of("0.0000025"), of("0.00001"), of("0.00005"), of("10"), of("+Inf")],
        [3.0, 3.0, 4.0, 4.0, 5.0]
    );
    let sum = found[r#"nacre_modeled_latency_seconds_sum{export="ssd",op="read"}"#];
    assert!((sum - 20.000_045).abs() < 1e-12, "{sum}");
    assert_eq!(found[r#"nacre_modeled_latency_seconds_count{export="ssd",op="read"}"#], 5.0);
    let exact = LatencyHistogram::new();
    assert_eq!(exact.count(), 0, "writes: none");
    assert_eq!(found[r#"nacre_wall_latency_seconds_count{export="ssd",op="write"}"#], 0.0);
}

#[test]
fn names_with_quotes_stay_in_their_labels() {
    let found = samples(&text(&statistics("a\"b\\c\nd", &[])));
    assert_eq!(found[r#"nacre_late_answers_total{export="a\"b\\c\nd"}"#], 2.0);
}

fn requested(head: &str) -> Option<Option<String>> {
    let answer = respond(head.as_bytes(), |host| host == Some("x"), || "page\n".into());
    answer.map(|answer| answer.map(|bytes| String::from_utf8(bytes).expect("text")))
}

#[test]
fn a_scraper_gets_the_page_and_others_what_they_should() {
    let ok = requested("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap().unwrap();
    let (head, body) = ok.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
    assert!(head.contains("Content-Length: 5\r\n"));
    assert_eq!(body, "page\n");
    let status = |head: &str| requested(head).unwrap().unwrap().split(' ').nth(1).unwrap().to_string();
    assert_eq!(status("GET /metrics?name=a HTTP/1.0\r\nhost:x\r\n\r\n"), "200");
    assert_eq!(status("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "404");
    assert_eq!(status("POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), "405");
    assert_eq!(status(&format!("GET /metrics HTTP/1.1\r\nX: {}", "y".repeat(HEAD_MAX))), "431");
}

#[test]
fn a_page_that_leads_here_under_a_name_of_its_own_reads_nothing() {
    let answer_with =
        |lines: &str| requested(&format!("GET /metrics HTTP/1.1\r\n{lines}\r\n")).unwrap().unwrap();
    assert!(answer_with("Host: x\r\n").ends_with("page\n"));
    for lines in
        ["Host: rebind.example\r\n", "", "Host: x\r\nHost: y\r\n", "Host: x\r\nHost: x\r\n", "Host x\r\n"]
    {
        let refused = answer_with(lines);
        assert!(refused.starts_with("HTTP/1.1 403 ") && !refused.contains("page"), "{lines:?}: {refused}");
    }
}

#[test]
fn half_a_request_is_waited_for_and_garbage_is_not() {
    assert_eq!(requested(""), None);
    assert_eq!(requested("GET /met"), None);
    assert_eq!(requested("GET /metrics HTTP/1.1\r\nHost: x\r\n"), None);
    assert_eq!(requested("GET /metrics HTTP/1.1\r"), None);
    assert_eq!(requested("hello\r\n\r\n"), Some(None));
    assert_eq!(requested("GET /metrics\r\n\r\n"), Some(None), "HTTP/0.9");
    assert_eq!(requested("\u{16}\u{3}\u{1}"), Some(None), "a handshake of TLS");
    assert_eq!(requested(&"y".repeat(HEAD_MAX)), Some(None));
}

proptest! {
    #[test]
    fn nothing_that_is_sent_is_too_bad(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = respond(&bytes, |_| true, String::new);
    }

    #[test]
    fn every_part_of_a_request_is_waited_for(cut in 0usize..36) {
        let whole = b"GET /metrics HTTP/1.1\r\nHost: abc\r\n\r\n";
        prop_assert_eq!(whole.len(), 36);
        prop_assert_eq!(respond(&whole[..cut], |_| true, String::new), None);
    }
}
