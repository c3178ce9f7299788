use super::{CLASSES, Config, Files, POPULARITY, size};
use crate::server::{Script, Server, ServiceStep};
use crate::testing::check_chi_square;
use nacre_kernel::{Bytes, Ratio, Streams, Time};

fn files() -> Files {
    let server = Server { clients: 1, think: Time::ZERO, processors: 1 };
    let config = Config {
        server,
        answers: None,
        directories: 20,
        theta: 1.0,
        read: Bytes(64 << 10),
        logged: Ratio(0.05),
        request: Time::from_us(500),
        send: Time::from_us(200),
    };
    let streams = Streams::new(1);
    Files::new(config, streams.stream("files"), streams.stream("order"))
}

#[test]
fn a_directory_is_five_megabytes() {
    // The sizes of the first files, 102.4 B, 1 KiB, 10 KiB, and 100 KiB, are multiplied by 45.
    let bytes = 45.0 * 102.4 * 1111.0;
    let found = files().directory as f64;
    assert!(found >= bytes && found < bytes + 36.0 * 2048.0, "{found}, expected {bytes} and unused ends");
}

#[test]
fn shares_and_sizes_are_those_of_the_benchmark() {
    assert!((POPULARITY.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let mut files = files();
    let (mut steps, mut bytes, mut writes) = (Vec::new(), 0.0, 0);
    let count = 200_000;
    let end = files.reach();
    for _ in 0..count {
        steps.clear();
        files.next(&mut steps);
        for step in &steps {
            match *step {
                ServiceStep::Read(address, size) => {
                    assert!(address + u64::from(size) <= end);
                    bytes += f64::from(size);
                }
                ServiceStep::Write(address, size) => {
                    assert!(address + u64::from(size) <= end);
                    writes += 1;
                }
                ServiceStep::Work(_) => {}
            }
        }
    }
    let rounded = |class, number| size(class, number).next_multiple_of(512) as f64;
    let mean: f64 = (0..4)
        .flat_map(|class| (0..9).map(move |number| (class, number)))
        .map(|(class, number)| CLASSES[class].0 * POPULARITY[number] * rounded(class, number))
        .sum();
    let found = bytes / f64::from(count);
    assert!((found / mean - 1.0).abs() < 0.03, "{found} B, expected {mean}");
    assert!((f64::from(writes) / f64::from(count) - 0.05).abs() < 0.003, "{writes} writes");
}

/// Compares request counts with the exact probability of each file: the product of the probabilities of its
/// directory (Zipf's law), its class, and its number in the class.
#[test]
fn every_file_is_asked_for_by_its_shares() {
    let mut files = files();
    let directories = files.order.len();
    let mut ranks = vec![0; directories];
    files.order.iter().enumerate().for_each(|(rank, &place)| ranks[place as usize] = rank);
    let (mut steps, mut counts, answers) = (Vec::new(), vec![0_u64; directories * 36], 400_000);
    for _ in 0..answers {
        steps.clear();
        files.next(&mut steps);
        let first =
            steps.iter().find_map(|step| if let ServiceStep::Read(at, _) = step { Some(*at) } else { None });
        let (place, within) = (first.unwrap() / files.directory, first.unwrap() % files.directory);
        let file =
            files.starts.as_flattened().iter().position(|&start| start == within).expect("a file begins");
        counts[ranks[place as usize] * 36 + file] += 1;
    }
    let harmonic: f64 = (1..=directories).map(|rank| 1.0 / rank as f64).sum();
    let expected = |at: usize| {
        let (rank, class, number) = (at / 36 + 1, at % 36 / 9, at % 9);
        answers as f64 / rank as f64 / harmonic * CLASSES[class].0 * POPULARITY[number]
    };
    // Files of the rarest class are combined, so that every expected count is at least five.
    let (mut seen, mut wanted, mut rare) = (Vec::new(), Vec::new(), (0, 0.0));
    for (at, &count) in counts.iter().enumerate() {
        if expected(at) < 5.0 {
            rare = (rare.0 + count, rare.1 + expected(at));
        } else {
            seen.push(count);
            wanted.push(expected(at));
        }
    }
    seen.push(rare.0);
    wanted.push(rare.1);
    assert!(seen.len() > 500, "{} files are common", seen.len());
    check_chi_square(&seen, &wanted);
}
