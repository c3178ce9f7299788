use super::{CLASSES, Config, Files, POPULARITY, size};
use crate::server::{Script, Server, Step};
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
    // 45 times the sizes of the first files: 102.4 B, 1 KiB, 10 KiB and 100 KiB.
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
                Step::Read(address, size) => {
                    assert!(address + u64::from(size) <= end);
                    bytes += f64::from(size);
                }
                Step::Write(address, size) => {
                    assert!(address + u64::from(size) <= end);
                    writes += 1;
                }
                Step::Work(_) => {}
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
