//! Closed forms of the cleaning cost: number of pages programmed by garbage collection per page drained from
//! the write buffer.
//!
//! Utilization refers to segments with data and excludes spare segments.

/// Returns the cost of cleaning segments in which the fraction `v` of pages is valid.
pub fn at(v: f64) -> f64 {
    v / (1.0 - v)
}

/// Returns the cost of FIFO cleaning of many large segments under uniform writes: v = exp(-(1 - v) / u)
/// (desnoyers-2012). Greedy cleaning has the same limit.
pub fn fifo(u: f64) -> f64 {
    fifo_mixed(u, &[(1.0, 1.0)])
}

/// Like [`fifo`], for several classes of pages that are mixed in every segment. Each class has a fraction f
/// of the data and a fraction r of the writes: c = sum of r / (exp(a) - 1) with a = (1 - v) r / (f u) and v =
/// c / (1 + c).
pub fn fifo_mixed(u: f64, kinds: &[(f64, f64)]) -> f64 {
    // Bisection: if `v` is below the fixed point, the cost for `v` is lower than the fraction of valid pages
    // that the writes leave.
    let (mut low, mut high) = (0.0, u);
    for _ in 0..100 {
        let v = (low + high) / 2.0;
        let cost: f64 = kinds.iter().map(|&(f, r)| r / (libm::exp((1.0 - v) * r / (f * u)) - 1.0)).sum();
        if at(v) < cost { low = v } else { high = v }
    }
    at(low)
}

/// Returns a lower bound of the cost of locality gathering, with perfectly sorted pages and optimally
/// divided free space: [u / (1 - u)] (sum of sqrt(f r))^2. The fraction `hot` of the data receives the
/// fraction 1 - `hot` of the writes.
pub fn sorted(u: f64, hot: f64) -> f64 {
    let sum = 2.0 * (hot * (1.0 - hot)).sqrt();
    at(u) * sum * sum
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_laws_give_the_published_numbers() {
        for (u, cost) in [(0.5, 0.255), (0.6, 0.480), (0.7, 0.876), (0.8, 1.693), (0.9, 4.179), (0.95, 9.17)]
        {
            crate::assert_close("FIFO", super::fifo(u), cost, 1e-3);
        }
        for (hot, cost) in [(0.2, 2.034), (0.1, 2.533), (0.05, 3.074)] {
            crate::assert_close(
                "mixed",
                super::fifo_mixed(0.8, &[(hot, 1.0 - hot), (1.0 - hot, hot)]),
                cost,
                1e-3,
            );
        }
        crate::assert_close("sorted 10/90", super::sorted(0.8, 0.1), 1.44, 1e-9);
    }
}
