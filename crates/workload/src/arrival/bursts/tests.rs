use crate::Pacing;
use crate::testing::{check_repeatable, gap_moments, index_of_dispersion, problems, requests, workload};
use nacre_kernel::Time;

fn settings(idle_rate: &str) -> String {
    format!(
        "kind = \"uniform\"\nrequests = 1_000_000\nfootprint = \"1 MiB\"\n\
         arrival = {{ kind = \"bursts\", rate = \"100 kHz\", idle_rate = \"{idle_rate}\", on = \"1 ms\", off = \"3 ms\" }}"
    )
}

#[test]
fn the_mean_rate_is_that_of_the_two_states() {
    // The first case has 10,000 bursts. The standard error of the mean cycle is below 1 %, and the tolerance
    // is five times that.
    for (idle_rate, expected) in [("0 /s", 25e3), ("20 kHz", 40e3)] {
        let (mean, _) = gap_moments(&requests(&settings(idle_rate)));
        assert!((mean * expected - 1.0).abs() < 0.05, "mean gap {mean} at {idle_rate}");
    }
}

#[test]
fn counts_over_long_windows_are_as_variable_as_the_closed_form_says() {
    for (idle_rate, slow) in [("0 /s", 0.0), ("20 kHz", 20e3)] {
        let (fast, leave_burst, leave_pause) = (100e3f64, 1e3f64, 1e3 / 3.0);
        let excess = 2.0 * (fast - slow) * (fast - slow) * leave_burst * leave_pause
            / ((leave_burst + leave_pause)
                * (leave_burst + leave_pause)
                * (fast * leave_pause + slow * leave_burst));
        let requests = requests(&settings(idle_rate));
        let index = index_of_dispersion(&requests, Time::from_ms(100));
        // A window of 100 ms is 133 relaxation times, so the index is 0.75 % below the limit. With 250
        // windows, five standard errors are 5 * 9 %.
        assert!((index / (1.0 + excess) - 1.0).abs() < 0.45, "index {index}, limit {}", 1.0 + excess);
    }
}

#[test]
fn within_a_burst_gaps_are_those_of_its_rate() {
    let requests = requests(&settings("0 /s"));
    let gaps = requests.windows(2).map(|pair| pair[1].arrival - pair[0].arrival);
    let (mut inside, mut pauses) = (0.0f64, 0u32);
    for gap in gaps {
        // Within a burst, gaps have a mean of 10 us, so a gap of 150 us has probability exp(-15).
        if gap > Time::from_us(150) {
            pauses += 1;
        } else {
            inside += gap.as_secs_f64();
        }
    }
    // 4.9 % of the pauses are shorter than 150 us and count as gaps in bursts, with a mean of 75 us instead
    // of 10 us.
    let mean = inside / (1_000_000 - pauses) as f64;
    assert!((mean / 10e-6 - 1.0).abs() < 0.02, "mean gap inside {mean}");
    // A burst without arrivals (1 %) joins two pauses. There are 10,000 bursts, and the tolerance is 5 %.
    assert!((f64::from(pauses) / 9_420.0 - 1.0).abs() < 0.05, "{pauses} pauses");
}

#[test]
fn it_is_an_open_loop_and_repeatable() {
    let settings = settings("20 kHz").replace("1_000_000", "5_000");
    assert_eq!(workload(&settings, 1).unwrap().pacing(), Pacing::Open);
    check_repeatable(&settings);
}

#[test]
fn pauses_that_outlast_simulated_time_are_refused() {
    let settings = settings("0 /s").replace("3 ms", "213 d").replace("1_000_000", "100_000");
    let mut workload = workload(&settings, 1).unwrap();
    let error = workload.fill(&mut Vec::new(), 100_000).unwrap_err().to_string();
    assert!(error.contains("would arrive more than 213 days after the start"), "{error}");
}

#[test]
fn a_burst_has_a_length_and_a_rate() {
    let settings = "kind = \"uniform\"\nrequests = 3\nfootprint = \"1 MiB\"\n\
                    arrival = { kind = \"bursts\", rate = \"0 /s\", off = \"1 s\" }";
    assert_eq!(
        problems(settings),
        [
            "workload.arrival.rate (test.toml:5): it is too small, given \"0 /s\"; the smallest allowed is 0.000001 /s",
            "workload.arrival.on (test.toml:5): it is missing; give a duration such as \"6.7 us\"",
        ]
    );
}
