//! Closed forms of queueing theory (Kleinrock, *Queueing Systems*, vol. 1). Times are in seconds.

/// Returns the mean wait of M/G/1 (Pollaczek-Khinchine): `lambda E[S^2] / (2 (1 - rho))`.
pub fn mg1_wait(lambda: f64, mean_service: f64, mean_square_service: f64) -> f64 {
    lambda * mean_square_service / (2.0 * (1.0 - lambda * mean_service))
}

/// Returns the mean wait of M/D/1 with the constant service time `service`.
pub fn md1_wait(lambda: f64, service: f64) -> f64 {
    mg1_wait(lambda, service, service * service)
}

/// Returns the mean wait of M/M/1 with the mean service time `service`.
pub fn mm1_wait(lambda: f64, service: f64) -> f64 {
    mg1_wait(lambda, service, 2.0 * service * service)
}

/// Returns the probability that an arrival waits, with `servers` servers and a load of `load` erlangs (Erlang
/// C formula).
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for n in 0..servers {
        sum += term;
        term *= load / f64::from(n + 1);
    }
    let waiting = term * f64::from(servers) / (f64::from(servers) - load);
    waiting / (sum + waiting)
}

/// Returns the mean wait of M/M/c with the mean service time `service`.
pub fn mmc_wait(servers: u32, lambda: f64, service: f64) -> f64 {
    let load = lambda * service;
    erlang_c(servers, load) * service / (f64::from(servers) - load)
}

/// Returns the mean waits of two classes at one server with non-preemptive priority of the first class
/// (Cobham 1954). The arrival rates are `lambdas`, and the service times are fixed.
pub fn priority_waits(lambdas: [f64; 2], services: [f64; 2]) -> [f64; 2] {
    let loads = [0, 1].map(|class| lambdas[class] * services[class]);
    let residual = (loads[0] * services[0] + loads[1] * services[1]) / 2.0;
    [residual / (1.0 - loads[0]), residual / ((1.0 - loads[0]) * (1.0 - loads[0] - loads[1]))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_agree_where_they_meet() {
        assert!((mmc_wait(1, 0.8, 1.0) - mm1_wait(0.8, 1.0)).abs() < 1e-12);
        assert!((md1_wait(0.8, 1.0) - 2.0).abs() < 1e-12);
        assert!((mm1_wait(0.8, 1.0) - 4.0).abs() < 1e-12);
        // For two servers and one erlang, the states have the weights 1, 1, and 1 (the sum of all states with
        // waiting requests).
        assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
    }
}
