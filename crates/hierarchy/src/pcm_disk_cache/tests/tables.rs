//! Tests of the tables: sizes, accesses, times, and energy.

use super::toml;
use crate::workbench::MODELS;
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, Op, Request, Streams, Time};
use nacre_testkit::{Host, Workbench, assert_close};

const NONE: &str = "ecc = \"none\"\nwear_leveling = \"none\"\nbit_error_rate = 0";

fn host(options: &str) -> Host {
    let built = Workbench::new(MODELS, 1).build(&toml(&format!("{NONE}\n{options}")));
    Host::new(built.unwrap_or_else(|problems| panic!("{options}: {problems}")))
}

fn page(op: Op, page: u64) -> Request {
    Request { arrival: Time::ZERO, address: page * 2048, bytes: 2048, volume: 0, op }
}

fn column(host: &Host, name: &str) -> f64 {
    let columns = host.report().columns;
    columns.iter().find(|column| column.name == name).expect("the column exists").values[0]
}

/// Reads 100 pages twice through a cache of 32 frames, so that all reads miss, and all reads except the first
/// 32 evict a page.
fn read_past(cache: &mut Host) -> Time {
    let mut now = Time::ZERO;
    for key in (0..100).chain(0..100) {
        now = cache.ask(now, page(Op::Read, key), Payload::NONE).0 + Time::from_ms(1);
    }
    cache.rest();
    now
}

/// Every miss looks up a page and updates the entries of the page that enters and of the page that leaves.
/// Tables in DRAM have 32 entries of 15 B, and use a share of a chip's idle power in proportion to this size.
#[test]
fn energy_is_that_of_the_accesses_and_of_the_share_of_a_chip() {
    let accesses = 200.0 * 1e-9 + (200.0 + 168.0) * 3e-9;
    let energies = "lookup_energy = \"1 nJ\", update_energy = \"3 nJ\"";
    let mut cache = host(&format!("tables = {{ kind = \"pcm\", {energies} }}"));
    read_past(&mut cache);
    assert_eq!((cache.count("table_lookups"), cache.count("table_updates")), (200, 368));
    assert_eq!(column(&cache, "tables.hash_bytes"), 32.0 * 8.0);
    assert_eq!(column(&cache, "tables.page_status_bytes"), 32.0 * 7.0);
    assert_close("in PCM", column(&cache, "tables.energy_j"), accesses, 1e-9);
    assert_close("of the port", cache.report().energy(Activity::Translate).0, accesses, 1e-9);
    let dram =
        format!("tables = {{ kind = \"dram\", idle_power = \"80 mW\", chip = \"15 KiB\", {energies} }}");
    let mut cache = host(&dram);
    read_past(&mut cache);
    let idle = 0.08 * 32.0 * 15.0 / (15.0 * 1024.0);
    let report = cache.device.report(Time::from_s(2));
    let energy = report.columns.iter().find(|column| column.name == "tables.energy_j").expect("it is known");
    assert_close("in DRAM", energy.values[0], accesses + 2.0 * idle, 1e-9);
    assert_close("idle", report.idle_energy.expect("it is known").0, 2.0 * idle, 1e-9);
}

/// If the energies of table accesses are unknown, the record does not report the energy of the tables.
#[test]
fn unknown_energies_are_left_out() {
    for tables in ["tables = \"pcm\"", "tables = \"dram\""] {
        let mut cache = host(tables);
        read_past(&mut cache);
        assert!(cache.report().columns.iter().all(|column| column.name != "tables.energy_j"), "{tables}");
        assert_eq!(cache.report().energy(Activity::Translate).0, 0.0);
    }
}

/// An update occupies the port, so a lookup that arrives during the update waits for its end. The page itself
/// does not wait.
#[test]
fn an_update_delays_the_next_lookup() {
    let mut cache = host("lookup = \"1 us\"\nupdate = \"7 us\"");
    let settle = Time::from_ms(10);
    cache.latency(Time::ZERO, page(Op::Write, 1));
    let write = cache.submit(settle, page(Op::Write, 1));
    let read = cache.submit(settle + Time::from_us(2), page(Op::Read, 5));
    assert_eq!(cache.wait(write).latency, Time::from_us(1 + 50));
    // The update lasts from 1 to 8 us, the lookup until 9 us, and the backing takes 100 us.
    assert_eq!(cache.wait(read).latency, Time::from_us(7 + 100));
}

/// Tables in DRAM are rebuilt after a power loss: every frame is read once, on all banks in parallel.
#[test]
fn tables_in_dram_are_rebuilt_by_reading_every_frame() {
    for (tables, scan) in [("pcm", Time::ZERO), ("dram", Time::from_ns(125 * 32 / 4))] {
        let mut cache = host(&format!("tables = \"{tables}\""));
        let now = read_past(&mut cache);
        cache.device.power_fail(now, &mut Streams::new(1).stream("loss"));
        let back = now + Time::from_ms(1);
        assert_eq!(cache.device.recover(back).done, back + scan, "{tables}");
    }
}

/// If one of the energies of the tables is given, all of them are required.
#[test]
fn a_part_of_the_energies_is_an_error() {
    for (tables, missing) in [
        ("{ kind = \"pcm\", lookup_energy = \"1 nJ\" }", "update_energy"),
        ("{ kind = \"dram\", idle_power = \"80 mW\" }", "lookup_energy, update_energy"),
    ] {
        let text = toml(&format!("{NONE}\ntables = {tables}"));
        let problems = Workbench::new(MODELS, 1).build(&text).err().expect(tables).to_string();
        assert!(problems.contains(&format!("energy also needs {missing}")), "{problems}");
    }
}
