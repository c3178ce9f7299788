//! Tests of reclaim unit handles.

use super::*;
use nacre_testkit::cleaning_laws as laws;

const SUPERBLOCKS: f64 = 1024.0;

/// A writer of part of the drive's units, with the function that selects its next unit.
struct Writer {
    first: u64,
    units: u64,
    next: Box<dyn FnMut(u64) -> u64>,
}

/// Lets all `writers` write in rotation. Returns the steady-state write amplification of each handle, and
/// that of the whole drive.
fn amplifications(settings: &str, writers: &mut [Writer]) -> (Vec<f64>, f64) {
    let pages = if settings.contains("pages") { "" } else { "pages = 128\n" };
    let settings = format!(
        "{pages}blocks = {SUPERBLOCKS}\nover_provisioning = \"28 %\"\nbuffer = \"1 MiB\"\n{settings}"
    );
    let mut device = driven(&settings);
    let count = device.unit_count();
    let mut write = |device: &mut Driven, count: u64| {
        for number in 0..count {
            let volume = (number % writers.len() as u64) as u32;
            let Writer { first, units, next } = &mut writers[volume as usize];
            let request = unit(Op::Write, *first + next(*units) % *units);
            device.precondition_with(&[Request { volume, ..request }]);
        }
    };
    write(&mut device, 4 * count);
    device.restart_ledger();
    write(&mut device, 2 * count);
    device.check_invariants();
    let report = device.report();
    let column = |name: &str| report.columns.iter().find(|column| column.name == name);
    let by_handle =
        column("handles.write_amplification").map_or_else(Vec::new, |column| column.values.clone());
    if let (Some(host), Some(wear)) = (column("handles.units_host"), &report.wear) {
        let moved = column("handles.units_moved").expect("of one table").values.iter().sum::<f64>();
        assert_eq!(host.values.iter().sum::<f64>(), wear.host as f64, "every unit came through a handle");
        assert_eq!(moved, (wear.cleaned + wear.leveled) as f64, "and every unit that moved");
    }
    (by_handle, report.wear.unwrap().write_amplification().unwrap())
}

fn at_random(name: &str, first: u64, units: u64) -> Writer {
    let mut random = random(name);
    Writer { first, units, next: Box::new(move |units| random.below(units)) }
}

/// Creates a writer of random units that alternates between even and odd units, i.e. between two planes.
fn at_random_in_turn(name: &str, first: u64, units: u64) -> Writer {
    let (mut random, mut turn) = (random(name), 0);
    let next = move |units| {
        turn += 1;
        random.below(units / 2) * 2 + turn % 2
    };
    Writer { first, units, next: Box::new(next) }
}

fn in_order(first: u64, units: u64) -> Writer {
    let mut next = 0;
    let next = move |_| {
        next += 1;
        next - 1
    };
    Writer { first, units, next: Box::new(next) }
}

/// Returns the usable capacity in units of the drive of these tests.
fn all_units() -> u64 {
    driven(&format!("pages = 128\nblocks = {SUPERBLOCKS}\nover_provisioning = \"28 %\"\n")).unit_count()
}

#[test]
fn a_log_with_a_separate_handle_is_never_copied_and_leaves_its_spare_space_to_the_others() {
    let all = all_units();
    let log = all / 2;
    // The write frontiers of a log and of data fill up at the same time. This also applies to allocation by
    // plane.
    let writers = || [in_order(0, log), at_random_in_turn("data", log, all - log)];
    // The blocks of this die of two planes have as many pages as the superblocks of four dies.
    let planes = "channels = 1\nways = 1\nplanes = 2\npages = 256\n";
    for (isolation, others, units_of_superblock) in [
        ("initially", String::new(), 512.0),
        ("persistently", String::new(), 512.0),
        ("initially", format!("{planes}allocation = \"static\""), 256.0),
        ("persistently", format!("{planes}allocation = \"dynamic\""), 256.0),
    ] {
        let (_, together) = amplifications(&others, &mut writers());
        let settings = format!("{others}\nfdp = {{ {isolation}_isolated = 2 }}");
        let (by_handle, apart) = amplifications(&settings, &mut writers());
        let [of_log, of_data] = by_handle[..] else { panic!("two handles: {by_handle:?}") };
        // All pages of a log superblock are invalid before greedy garbage collection selects it.
        assert!(of_log < 1.001, "{settings}: {of_log}");
        // Number of superblocks per region for the data: all superblocks except those of the log, half of
        // each open superblock, and the mean number of erased superblocks.
        let idle = 1.5 + 3.5;
        let regions = all as f64 * 1.28 / SUPERBLOCKS / units_of_superblock;
        let superblocks = |units: u64| units as f64 / units_of_superblock / regions.round();
        let law = 1.0 + laws::fifo(superblocks(all - log) / (SUPERBLOCKS - superblocks(log) - idle));
        assert_close(&format!("{settings}: uniform data apart from a log"), of_data, law, 0.03);
        assert_close("both were written as often", apart, (of_log + of_data) / 2.0, 0.001);
        assert!(apart < together, "{settings}: {apart} apart, {together} together");
    }
}

#[test]
fn tenants_alike_amplify_as_one() {
    let all = all_units();
    let writers = || [at_random("one", 0, all / 2), at_random("other", all / 2, all / 2)];
    let (none, together) = amplifications("fdp = { initially_isolated = 1 }", &mut writers());
    assert!(none.is_empty(), "there is nothing to tell apart");
    for isolation in ["initially", "persistently"] {
        let settings = format!("fdp = {{ {isolation}_isolated = 2 }}");
        let (by_handle, apart) = amplifications(&settings, &mut writers());
        assert_close(&format!("{isolation}, in all"), apart, together, 0.03);
        for of_handle in by_handle {
            assert_close(isolation, of_handle, apart, 0.03);
        }
    }
}

#[test]
fn volumes_go_round_the_handles() {
    let all = all_units();
    let third = all / 3;
    let writers =
        || [0, 1, 2].map(|number| at_random(["a", "b", "c"][number as usize], number * third, third));
    let (by_handle, _) = amplifications("fdp = { initially_isolated = 2 }", &mut writers());
    assert_eq!(by_handle.len(), 2);
    let mut device = driven("fdp = { initially_isolated = 2 }");
    for volume in 0..3 {
        device.precondition_with(&[Request { volume, ..unit(Op::Write, u64::from(volume)) }]);
    }
    let report = device.report();
    let host = report.columns.iter().find(|column| column.name == "handles.units_host").unwrap();
    assert_eq!(host.values, [2.0, 1.0]);
}

/// Checks that a handle without host writes has no write amplification, even if garbage collection moves
/// data that was written through the handle earlier.
#[test]
fn a_handle_that_nothing_is_written_through_has_no_amplification() {
    let mut device = driven("fdp = { initially_isolated = 3 }\nblocks = 64\nover_provisioning = \"28 %\"");
    let (count, mut random) = (device.unit_count(), random("unused"));
    let mut write = |device: &mut Driven, volumes: u64, writes: u64| {
        for number in 0..writes {
            let request = unit(Op::Write, random.below(count));
            device.precondition_with(&[Request { volume: (number % volumes) as u32, ..request }]);
        }
    };
    write(&mut device, 2, 3 * count);
    device.restart_ledger();
    write(&mut device, 1, count);
    let report = device.report();
    let of = |name: &str| {
        let found = report.columns.iter().find(|column| column.name == name);
        found.expect("it is in the table of handles").values.clone()
    };
    let (written, moved) = (of("handles.units_host"), of("handles.units_moved"));
    assert!(written[0] > 0.0 && moved[1] > 0.0, "{written:?} {moved:?}");
    assert_eq!((written[1], written[2], moved[2]), (0.0, 0.0, 0.0));
    let amplification = of("handles.write_amplification");
    assert_eq!(amplification[0], (written[0] + moved[0]) / written[0]);
    assert!(amplification[1].is_nan(), "{} is of nothing written", amplification[1]);
    assert!(amplification[2].is_nan(), "{} is of nothing at all", amplification[2]);
}

#[test]
fn handles_that_the_drive_cannot_have_are_refused() {
    for (settings, problem) in [
        (
            "fdp = { initially_isolated = 2 }\ngarbage_collection.policy = \"locality_gathering\"",
            "a policy with partitions decides",
        ),
        (
            "fdp = { initially_isolated = 64 }\nbuffer = \"256 KiB\"",
            "one open operation for each placement handle",
        ),
        ("fdp = { initially_isolated = 64 }\nblocks = 64\nbuffer = \"4 MiB\"", "no blocks are left for data"),
    ] {
        let refused = problems(settings);
        assert!(refused.contains(problem), "{settings}: {refused}");
    }
}

#[test]
fn timed_writes_of_tenants_go_through_their_handles_too() {
    ["", "allocation = \"static\"", "allocation = \"dynamic\"\npage = \"8 KiB\"\npages = 32"]
        .iter()
        .for_each(|allocation| writes_through_handles(allocation));
}

fn writes_through_handles(allocation: &str) {
    let handles = "fdp = { persistently_isolated = 2 }\nblocks = 64\nover_provisioning = \"40 %\"";
    let mut device = driven(&format!("{handles}\n{allocation}"));
    let count = device.unit_count();
    let mut random = random("timed");
    for number in 0..3 * count {
        let volume = (number % 2) as u32;
        let request = unit(Op::Write, u64::from(volume) * (count / 2) + random.below(count / 2));
        device.ask(device.now, &Request { volume, ..request });
    }
    device.check_invariants();
    let report = device.report();
    let host = report.columns.iter().find(|column| column.name == "handles.units_host").unwrap();
    // Units that are overwritten in the buffer are counted only once as host units of a handle.
    let coalesced = counter(&report, "units_coalesced") as f64;
    assert_eq!(host.values[0] + host.values[1] + coalesced, 3.0 * count as f64);
    assert!((host.values[0] - host.values[1]).abs() <= 1.0 + coalesced, "{:?}", host.values);
}

#[test]
fn wear_leveling_keeps_the_data_of_handles_apart() {
    ["", "allocation = \"static\"", "allocation = \"dynamic\""]
        .iter()
        .for_each(|allocation| levels_apart(allocation));
}

fn levels_apart(allocation: &str) {
    let settings = "fdp = { persistently_isolated = 2 }\nblocks = 64\ngarbage_collection.wear_spread = 4";
    let mut device = driven(&format!("{settings}\n{allocation}"));
    let count = device.unit_count();
    let mut random = random("leveled");
    for number in 0..count {
        let volume = (2 * number / count) as u32;
        device.precondition_with(&[Request { volume, ..unit(Op::Write, number) }]);
    }
    // A quarter of each half is overwritten repeatedly, and the remaining data stays cold.
    for number in 0..20 * count {
        let volume = (number % 2) as u32;
        let request = unit(Op::Write, u64::from(volume) * (count / 2) + random.below(count / 8));
        device.precondition_with(&[Request { volume, ..request }]);
        if number % count == 0 {
            device.check_invariants();
        }
    }
    device.check_invariants();
    let wear = device.report().wear.unwrap();
    assert!(wear.leveled > 0);
    let (least, most) =
        wear.block_erases.iter().fold((u32::MAX, 0), |(least, most), &of| (least.min(of), most.max(of)));
    assert!(most - least <= 16, "erases between {least} and {most}");
}

#[test]
fn a_tenant_gets_as_many_reads_done_as_it_has_slots() {
    // Every read occupies a die for 50 us. The number of dies is so large that collisions are rare.
    let settings = "channels = 64\nways = 8\nblocks = 16\npages = 8\nbus = \"10 GB/s\"\nlink = \"100 GB/s\"\n\
                    buffer = \"8 MiB\"\nunwritten = \"flash\"\nover_provisioning = \"100 %\"\n";
    for (depths, places) in [("[6, 2]", [6.0, 2.0]), ("[4, 4]", [4.0, 4.0]), ("[7, 1]", [7.0, 1.0])] {
        let mut device = driven(&format!("{settings}queue = {{ kind = \"by_tenant\", depths = {depths} }}"));
        let count = device.unit_count();
        let (mut random, end) = (random("shares"), Time::from_ms(40));
        // Each tenant has 32 outstanding requests, which is far more than its slots.
        let mut read = |device: &mut Driven, volume| {
            let request = unit(Op::Read, random.below(count));
            device.submit(device.now, &Request { volume, ..request })
        };
        let mut outstanding: Vec<(usize, u32)> =
            (0..64).map(|number| (read(&mut device, number % 2), number % 2)).collect();
        let mut done = [0.0; 2];
        while device.run_once(end) > 0 {
            for (number, volume) in &mut outstanding {
                if device.seen(*number).done < Time::MAX {
                    done[*volume as usize] += 1.0;
                    *number = read(&mut device, *volume);
                }
            }
        }
        for (volume, places) in places.into_iter().enumerate() {
            let law = places * end.as_secs_f64() / 50e-6;
            assert_close(&format!("{depths}: tenant {volume}"), done[volume], law, 0.06);
        }
    }
}

#[test]
fn a_tenant_without_slots_is_refused() {
    for (depths, problem) in [("[1, 0]", "a tenant without slots waits forever"), ("[]", "the list is empty")]
    {
        let refused = problems(&format!("queue = {{ kind = \"by_tenant\", depths = {depths} }}"));
        assert!(refused.contains(problem), "{depths}: {refused}");
    }
}
