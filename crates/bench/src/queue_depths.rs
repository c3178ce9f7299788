//! Speed of event-driven devices for several queue depths. The processor time per request should not depend
//! on the depth.

use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_machine::run;
use std::ops::ControlFlow;

/// Queue depths of the closed loops.
const DEPTHS: [u32; 4] = [8, 32, 512, 4096];

/// A device and the requests of one run, with the speed budget at depth 32.
struct Case {
    name: &'static str,
    stack: &'static str,
    requests: u64,
    budget: Option<f64>,
}

const CASES: [Case; 5] = [
    Case {
        name: "measured, one server",
        stack: "kind = \"measured\"\nread = \"10 us\"\nwrite = \"20 us\"\ncapacity = \"16 GiB\"",
        requests: 2_000_000,
        budget: None,
    },
    Case {
        name: "measured, 64 servers, exponential",
        stack: "kind = \"measured\"\nread = { kind = \"exponential\", mean = \"10 us\" }\nwrite = \"20 us\"\n\
                parallelism = 64\ncapacity = \"16 GiB\"",
        requests: 2_000_000,
        budget: None,
    },
    Case {
        name: "network, 256 servers",
        stack: "preset = \"network_store\"\ncapacity = \"16 GiB\"",
        requests: 2_000_000,
        budget: None,
    },
    Case {
        name: "disk_15k, shortest access of 32",
        stack: "preset = \"disk_15k\"",
        requests: 500_000,
        budget: Some(1.5),
    },
    Case {
        name: "disk_15k, first come",
        stack: "preset = \"disk_15k\"\nscheduling = \"first_come\"",
        requests: 1_000_000,
        budget: None,
    },
];

/// Measures whole runs of single devices with reads and writes over 8 GiB.
pub(crate) fn measure(report: &Report) {
    for Case { name, stack, requests, budget } in CASES {
        for depth in DEPTHS {
            let scenario = checked(&format!(
                "[workload]\nkind = \"uniform\"\nrequests = {requests}\nfootprint = \"8 GiB\"\nread_share = \"70 %\"\n\
                 arrival = {{ kind = \"closed\", queue_depth = {depth} }}\n[stack]\n{stack}\n"
            ));
            let seconds = best_of(|| {
                let ran = run(&scenario, &NoFiles, &mut |_| ControlFlow::Continue(()));
                ran.expect("a legal scenario").record.cost
            });
            let budget = budget.filter(|_| depth == 32);
            report.line(&format!("{name}, depth {depth}"), requests, seconds, budget, &[]);
        }
    }
}
