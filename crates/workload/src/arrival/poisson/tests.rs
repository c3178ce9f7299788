use crate::testing::{
    check_chi_square, check_repeatable, drain, gap_moments, gaps, index_of_dispersion, problems, requests,
    workload,
};
use crate::{Pacing, WorkloadError};
use nacre_kernel::Time;

const SETTINGS: &str = "kind = \"uniform\"\nrequests = 400_000\nfootprint = \"1 MiB\"\n\
                        arrival = { kind = \"poisson\", rate = \"20 kHz\" }";

#[test]
fn the_gaps_are_exponential() {
    let requests = requests(SETTINGS);
    let (mean, squared_variation) = gap_moments(&requests);
    // The standard error of the mean of n exponential gaps is 1/sqrt(n) = 0.16 %. That of the squared
    // coefficient of variation is sqrt(8/n) = 0.45 %.
    assert!((mean / 50e-6 - 1.0).abs() < 0.008, "mean gap {mean}");
    assert!((squared_variation - 1.0).abs() < 0.0225, "squared coefficient of variation {squared_variation}");
    // Classes of equal probability.
    let mut counts = [0u64; 64];
    for gap in gaps(&requests) {
        counts[((1.0 - libm::exp(-gap * 20e3)) * 64.0) as usize] += 1;
    }
    check_chi_square(&counts, &[400_000.0 / 64.0; 64]);
}

#[test]
fn counts_are_as_variable_as_they_are_large_at_every_window() {
    let requests = requests(SETTINGS);
    for window in [Time::from_us(50), Time::from_ms(1), Time::from_ms(10)] {
        // The tolerance is 5 standard deviations of sqrt(2 / windows).
        let windows = 20.0 / window.as_secs_f64();
        let index = index_of_dispersion(&requests, window);
        assert!((index - 1.0).abs() < 5.0 * (2.0 / windows).sqrt(), "index {index} at {window}");
    }
}

#[test]
fn it_is_an_open_loop_and_repeatable() {
    assert_eq!(workload(SETTINGS, 1).unwrap().pacing(), Pacing::Open);
    check_repeatable(&SETTINGS.replace("400_000", "5_000"));
}

#[test]
fn times_past_the_end_of_simulated_time_are_the_users_mistake() {
    let settings = SETTINGS.replace("20 kHz", "1 /h").replace("400_000", "6_000");
    let mut workload = workload(&settings, 1).unwrap();
    let error = drain(&mut *workload, 1000).unwrap_err();
    let WorkloadError::TooLong { path, request } = &error else { panic!("{error}") };
    // One request per hour for 213.5 days gives 5,124 requests, within 5 standard deviations.
    assert!(path == "workload.arrival" && (4_766..5_482).contains(request), "{error}");
    assert!(error.to_string().ends_with("use fewer requests or a higher rate"), "{error}");
}

#[test]
fn a_rate_is_required() {
    let settings = SETTINGS.replace(", rate = \"20 kHz\"", "");
    let expected =
        "workload.arrival.rate (test.toml:5): it is missing; give a rate such as \"20 kHz\" or \"500 /s\"";
    assert_eq!(problems(&settings), [expected]);
}
