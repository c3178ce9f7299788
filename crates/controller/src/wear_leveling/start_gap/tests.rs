use super::*;
use nacre_kernel::Streams;
use nacre_kernel::state;

const ENDURANCE: u64 = 1_000_000;

fn start_gap(rows: u64, interval: u32, domains: u32, randomize: bool) -> StartGap {
    let adaptation =
        Config { adapt: false, window: 1, watched: 1, stay_share: Ratio(1.0), interval, domains, randomize };
    configured(rows, &adaptation)
}

/// Adaptive start-gap. Writes may use 25 % of the endurance of a row before the row moves.
fn adapting(rows: u64, interval: u32, domains: u32, window: u32) -> StartGap {
    let (adapt, watched, stay_share) = (true, 4, Ratio(0.25));
    configured(rows, &Config { adapt, window, watched, stay_share, interval, domains, randomize: false })
}

fn configured(rows: u64, config: &Config) -> StartGap {
    let scatter = config.randomize.then(|| Feistel::new(rows, &mut Streams::new(1).stream("keys")));
    StartGap::new(rows, ENDURANCE, config, scatter)
}

/// Checks that all rows have different physical rows and that the inverse is exact.
fn assert_bijection(leveller: &StartGap, rows: u64) {
    let mut taken = vec![false; leveller.physical_rows() as usize];
    for row in 0..rows {
        let physical = leveller.physical(row);
        assert!(!std::mem::replace(&mut taken[physical as usize], true), "two rows in {physical}");
        assert_eq!(leveller.logical(physical), Some(row));
    }
    for (physical, taken) in taken.into_iter().enumerate() {
        assert_eq!(leveller.logical(physical as u64).is_some(), taken, "physical row {physical}");
    }
}

#[test]
fn data_that_is_moved_as_told_is_where_the_mapping_says_at_every_step() {
    for (rows, domains) in [(1, 1), (2, 1), (3, 1), (5, 1), (8, 1), (8, 4), (12, 3), (17, 1)] {
        for randomize in [false, true] {
            let mut leveller = start_gap(rows, 1, domains, randomize);
            let mut data = vec![None; leveller.physical_rows() as usize];
            (0..rows).for_each(|row| data[leveller.physical(row) as usize] = Some(row));
            // The test covers two full rotations of every domain.
            for step in 0..2 * (rows + 1) * (rows + 1) * u64::from(domains) {
                let Move { from, to } = leveller.written(step % rows).expect("each write moves the gap");
                data[to as usize] = data[from as usize];
                assert_bijection(&leveller, rows);
                for row in 0..rows {
                    assert_eq!(
                        data[leveller.physical(row) as usize],
                        Some(row),
                        "step {step} of {rows} rows"
                    );
                }
            }
        }
    }
}

/// The gap moves one of N rows at a time, in rotation, so each row moves once in N moves. The test starts
/// between two moves of the row. N times the interval is the line vulnerability factor of akel-2011, section
/// 3.3.
#[test]
fn a_row_stays_in_one_place_for_rows_times_the_interval_writes() {
    let (rows, interval) = (13, 7);
    let mut leveller = start_gap(rows, interval, 1, false);
    let (mut at, mut since, mut stays) = (leveller.physical(4), 0, Vec::new());
    for write in 1..=6 * rows * u64::from(interval) {
        leveller.written(4);
        if leveller.physical(4) != at {
            stays.push(write - since);
            (at, since) = (leveller.physical(4), write);
        }
    }
    assert_eq!(stays.len(), 6);
    assert_eq!(stays[1..], [rows * u64::from(interval); 5]);
}

/// Each physical row is the gap once in N + 1 moves. After these moves, `start` is higher by one.
#[test]
fn the_gap_is_back_at_a_place_after_one_row_more_times_the_interval_writes() {
    let (rows, interval) = (13, 7);
    let mut leveller = start_gap(rows, interval, 1, false);
    let mut moved_into_4 = Vec::new();
    for write in 1..=6 * (rows + 1) * u64::from(interval) {
        if leveller.written(write % rows).is_some_and(|moved| moved.to == 4) {
            moved_into_4.push(write);
        }
    }
    assert_eq!(moved_into_4.len(), 6);
    let apart: Vec<u64> = moved_into_4.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(apart, [(rows + 1) * u64::from(interval); 5]);
    assert_eq!(leveller.domains[0].start, 6);
}

/// With 262,144 rows and an interval of 128, every row moves within 32 million writes (akel-2011, section
/// 3.3).
#[test]
fn the_rows_of_an_onyx_bank_have_all_moved_after_32_million_writes() {
    let rows = 262_144;
    let mut leveller = start_gap(rows, 128, 1, false);
    (1..rows * 128).for_each(|_| {
        leveller.written(0);
    });
    assert_eq!((leveller.physical(0), leveller.physical(1)), (0, 2), "all rows but the first have moved");
    assert!(leveller.written(0).is_some());
    assert!((0..rows).all(|row| leveller.physical(row) == row + 1), "after {} writes", rows * 128);
    assert_eq!(rows * 128, 33_554_432);
}

/// Domains count writes separately. If all writes go to one domain, the rows of other domains do not move.
#[test]
fn domains_rotate_on_their_own() {
    let mut leveller = start_gap(12, 2, 3, false);
    let moves: Vec<Option<Move>> = (0..4).map(|_| leveller.written(5)).collect();
    assert_eq!(moves, [None, Some(Move { from: 8, to: 9 }), None, Some(Move { from: 7, to: 8 })]);
    assert!((0..4).chain(8..12).all(|row| leveller.physical(row) == row / 4 * 5 + row % 4));
}

#[test]
fn the_network_permutes_any_number_of_rows_and_scatters_neighbors() {
    for bound in [1, 2, 3, 16, 1000, 4096] {
        let network = Feistel::new(bound, &mut Streams::new(2).stream("keys"));
        let mut seen = vec![false; bound as usize];
        for number in 0..bound {
            let there = network.forth(number);
            assert!(!std::mem::replace(&mut seen[there as usize], true), "{there} of {bound} twice");
            assert_eq!(network.back(there), number);
        }
    }
    let network = Feistel::new(1 << 18, &mut Streams::new(2).stream("keys"));
    let together = (0..1 << 14).filter(|&row| network.forth(row).abs_diff(network.forth(row + 1)) < 1 << 13);
    // Two random numbers are this close with a probability of 1/16. The tolerance is five standard
    // deviations.
    assert!((together.count() as f64 - 1024.0).abs() < 5.0 * 31.0, "neighbors are far apart");
}

/// Compares single writes with calls of `written_often`.
#[test]
fn many_writes_at_once_are_the_same_as_one_after_the_other() {
    let mut random = Streams::new(4).stream("bursts");
    for (rows, interval, domains, adapts) in [
        (1, 1, 1, false),
        (7, 1, 1, false),
        (8, 3, 2, false),
        (30, 5, 3, false),
        (30, 5, 3, true),
        (64, 9, 1, true),
    ] {
        let make = || match adapts {
            true => adapting(rows, interval, domains, 200),
            false => start_gap(rows, interval, domains, true),
        };
        let (mut at_once, mut one_by_one) = (make(), make());
        if let (Some(one), Some(other)) = (&mut at_once.adaptation, &mut one_by_one.adaptation) {
            // Small domains would never need adaptation.
            (one.stay_per_row, other.stay_per_row) = (1.7, 1.7);
        }
        for _ in 0..400 {
            let (row, times) = (random.below(rows), 1 + random.below(500));
            let (mut left, mut moves) = (times, Vec::new());
            while left > 0 {
                let (place, before) = (at_once.physical(row), times - left);
                let written = at_once.written_often(row, left);
                assert!((1..=left).contains(&written.writes));
                let copies = (0..written.moves)
                    .map(|index| (before + written.first + index * written.every, written.to - index));
                moves.extend(copies);
                left -= written.writes;
                assert!(at_once.physical(row) == place || written.moves > 0);
            }
            let told = (1..=times).filter_map(|write| Some((write, one_by_one.written(row)?.to)));
            assert_eq!(moves, told.collect::<Vec<_>>(), "{times} writes to row {row} of {rows}");
            assert!((0..rows).all(|row| at_once.physical(row) == one_by_one.physical(row)));
            assert_eq!(at_once.interval(), one_by_one.interval());
        }
    }
}

/// A domain has 4096 rows, and a row may receive 250,000 writes before it moves. The interval becomes 61 if
/// one row receives all writes, and 122 if one row receives half of the writes.
#[test]
fn the_interval_follows_the_share_of_the_row_written_most_and_goes_back() {
    let intervals =
        |leveller: &StartGap| leveller.domains.iter().map(|domain| domain.interval).collect::<Vec<_>>();
    let mut leveller = adapting(8192, 1000, 2, 512);
    (0..512).for_each(|_| {
        leveller.written(5);
    });
    assert_eq!(intervals(&leveller), [61, 1000], "the other domain is not concerned");
    (0..512).for_each(|write| {
        leveller.written(if write % 2 == 0 { 5 } else { write });
    });
    assert_eq!(intervals(&leveller)[0], 122);
    let mut seen = Vec::new();
    let mut random = Streams::new(8).stream("rows");
    for _ in 0..5 {
        (0..512).for_each(|_| {
            leveller.written(random.below(4096));
        });
        seen.push(intervals(&leveller)[0]);
    }
    assert_eq!(seen, [244, 488, 976, 1000, 1000], "even writes: it doubles until it is what it was");
}

/// Four counters detect every row that receives more than 1/5 of the writes.
#[test]
fn a_row_with_many_writes_is_found_among_others() {
    let mut watch = Watch::new(4);
    let mut random = Streams::new(6).stream("rows");
    let mut counts = [0_u64; 2];
    for _ in 0..30_000 {
        let hot = random.chance(0.4);
        counts[usize::from(hot)] += 1;
        watch.note(if hot { 7 } else { 100 + random.below(1000) }, 1);
    }
    let (share, found) = (counts[1] as f64 / 30_000.0, watch.close());
    assert!(found <= share && found > share - 0.2, "{found} of {share}");
    assert_eq!(watch.close(), 0.0, "a window begins empty");
}

#[test]
fn registers_are_saved_and_restored_and_foreign_ones_are_refused() {
    let mut leveller = adapting(64, 9, 4, 50);
    (0..5000).for_each(|write| {
        leveller.written(write * 7 % 64);
    });
    let bytes = state::saved(&leveller).unwrap();
    let mut restored = adapting(64, 9, 4, 50);
    state::restored(&mut restored, &bytes).unwrap();
    for write in 0..5000 {
        assert_eq!(leveller.written(write * 5 % 64), restored.written(write * 5 % 64), "write {write}");
    }
    assert!(state::restored(&mut adapting(64, 9, 2, 50), &bytes).is_err(), "fewer domains");
    assert!(state::restored(&mut adapting(32, 9, 4, 50), &bytes).is_err(), "fewer rows");
}

/// qureshi-2009: start-gap with a Feistel network reaches 97 % of the ideal lifetime under uneven writes. 90
/// % of the writes go to 10 % of the rows, which are adjacent. The gap passes through the array four times
/// before the first row is worn out, so hot and cold rows alternate in every location.
#[test]
fn scattered_rows_reach_97_percent_of_the_ideal_life_under_uneven_writes() {
    let life = |randomize, rows: u64, interval: u32, endurance: u32| {
        let mut leveller = start_gap(rows, interval, 1, randomize);
        let mut wear = vec![0_u32; rows as usize + 1];
        let mut random = Streams::new(12).stream("rows");
        for programs in 0_u64.. {
            let hot = rows / 10;
            let row = if random.chance(0.9) { random.below(hot) } else { hot + random.below(rows - hot) };
            let place = leveller.physical(row);
            let moved = leveller.written(row).map_or(place, |moved| moved.to);
            wear[place as usize] += 1;
            wear[moved as usize] += u32::from(moved != place);
            if wear[place as usize].max(wear[moved as usize]) > endurance {
                return programs as f64 * f64::from(interval + 1)
                    / f64::from(interval)
                    / (rows as f64 * f64::from(endurance));
            }
        }
        unreachable!("some row wears out")
    };
    let ideal = life(true, 256, 100, 51_200 * 2);
    assert!(ideal > 0.97, "{ideal}");
    // If the gap passes through only 1/8 of the array, these writes also wear the neighbors of hot rows.
    let (scattered, side_by_side) = (life(true, 2048, 16, 4096), life(false, 2048, 16, 4096));
    assert!(side_by_side < 0.25 && scattered > 2.0 * side_by_side, "{scattered} and {side_by_side}");
}
