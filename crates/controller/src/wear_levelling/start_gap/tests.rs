use super::*;
use nacre_kernel::Streams;

fn start_gap(rows: u64, interval: u32, domains: u32, randomise: bool) -> StartGap {
    let scatter = randomise.then(|| Feistel::new(rows, &mut Streams::new(1).stream("keys")));
    StartGap::new(rows, &Config { interval, domains, randomise }, scatter)
}

/// Every row has a place of its own, and the way back is exact.
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
        for randomise in [false, true] {
            let mut leveller = start_gap(rows, 1, domains, randomise);
            let mut data = vec![None; leveller.physical_rows() as usize];
            (0..rows).for_each(|row| data[leveller.physical(row) as usize] = Some(row));
            // Twice all the way round, in every domain.
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

/// The gap moves one of N rows at a time, each in its turn, so each moves once in N moves; the first stay
/// begins in the middle. The line vulnerability factor of akel-2011 section 3.3 is this product.
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

/// akel-2011 section 3.3: 262,144 rows and an interval of 128 make 32 million writes.
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

/// A domain counts its own writes: hammering one leaves the others still.
#[test]
fn domains_rotate_on_their_own() {
    let mut leveller = start_gap(12, 2, 3, false);
    let moves: Vec<Option<Move>> = (0..4).map(|_| leveller.written(5)).collect();
    assert_eq!(moves, [None, Some(Move { from: 8, to: 9 }), None, Some(Move { from: 7, to: 8 })]);
    assert!((0..4).chain(8..12).all(|row| leveller.physical(row) == row / 4 * 5 + row % 4));
}

#[test]
fn the_network_permutes_any_number_of_rows_and_scatters_neighbours() {
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
    // Two random numbers are so close with probability 1/16; five standard deviations.
    assert!((together.count() as f64 - 1024.0).abs() < 5.0 * 31.0, "neighbours are far apart");
}
