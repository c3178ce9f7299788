use crate::testing::{check_repeatable, gaps, problems, requests};

fn settings(requests: u64, arrival: &str) -> String {
    format!(
        "kind = \"uniform\"\nrequests = {requests}\nfootprint = \"1 MiB\"\narrival = {{ kind = \"rhythm\", {arrival} }}"
    )
}

#[test]
fn each_step_has_its_share_of_the_requests_and_the_span_repeats() {
    let arrival = "rate = \"1 kHz\", span = \"40 s\", weights = [1, 0, 5, 2]";
    let requests = requests(&settings(80_000, arrival));
    let mut counts = [0u64; 4];
    for request in &requests {
        counts[(request.arrival.as_secs_f64() / 10.0) as usize % 4] += 1;
    }
    // Two spans of 40,000 Poisson arrivals with weights 1 : 0 : 5 : 2. The tolerance is 5 square roots.
    for (count, expected) in counts.iter().zip([10_000.0, 0.0, 50_000.0, 20_000.0]) {
        assert!((*count as f64 - expected).abs() <= 5.0 * f64::sqrt(expected), "{counts:?}");
    }
    let end = requests.last().unwrap().arrival.as_secs_f64();
    assert!((end - 80.0).abs() < 1.5, "{end}");
}

#[test]
fn gaps_have_the_distribution_that_was_given() {
    let arrival = "rate = \"1 kHz\", span = \"1 h\", weights = [3], gaps = [0, 0, 1, 2, 17]";
    let found = gaps(&requests(&settings(100_000, arrival)));
    // The mean of the quantiles is (0 + .5 + 1.5 + 9.5) / 4 = 2.875, which corresponds to 1 ms.
    for (share, gap) in [(0.25, 0.0), (0.5, 1.0), (0.75, 2.0), (0.875, 9.5), (1.0, 17.0)] {
        let within = found.iter().filter(|&&found| found <= gap / 2875.0 + 1e-9).count() as f64 / 1e5;
        assert!((within - share).abs() < 0.008, "{gap}: {within}, {share}");
    }
    assert!((found.iter().sum::<f64>() / 100.0 - 1.0).abs() < 0.02);
}

#[test]
fn a_tail_takes_the_place_of_the_last_step() {
    let arrival = "rate = \"1 kHz\", span = \"1 h\", weights = [3], gaps = [0, 0, 1, 2, 1000], tail = [2, 2, 2, 4, 1000]";
    let found = gaps(&requests(&settings(200_000, arrival)));
    // The steps have means of 0, .5, 1.5, and (2 + 2 + 3 + 502) / 4 for the tail. A quarter of their sum,
    // 32.3125, corresponds to 1 ms.
    let mean = (0.0 + 0.5 + 1.5 + 127.25) / 4.0;
    for (share, gap) in [(0.25, 0.0), (0.5, 1.0), (0.75, 1.999), (0.875, 2.0), (0.9375, 4.0), (1.0, 1000.0)] {
        let within = found.iter().filter(|&&found| found <= gap / mean / 1e3 + 1e-9).count() as f64 / 2e5;
        assert!((within - share).abs() < 0.006, "{gap}: {within}, {share}");
    }
    assert!((found.iter().sum::<f64>() / 200.0 - 1.0).abs() < 0.05);
}

#[test]
fn it_is_repeatable_and_its_mistakes_are_named() {
    check_repeatable(&settings(3000, "rate = \"1 kHz\", span = \"1 s\", weights = [1, 2]"));
    let wrong = "rate = \"1 kHz\", weights = [0, 0], gaps = [3, 1]";
    let found = problems(&settings(10, wrong)).join("\n");
    assert!(found.contains("all are zero") && found.contains("increasing"), "{found}");
    let found = problems(&settings(10, "rate = \"1 kHz\", weights = [1], tail = [3, 4]")).join("\n");
    assert!(found.contains("`gaps` is missing"), "{found}");
}
