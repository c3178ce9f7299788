//! Speed of replacement policies: requests per second on a Zipf stream in memory.

use crate::report::{Report, best_of};
use crate::streams::{REQUESTS, STREAMS, Stream};
use nacre_config::{FieldType, Node, Origin, Reader, Slot, Value};
use nacre_hierarchy::replacement::{Context, MODELS, Replacement, ReplacementFamily};
use nacre_machine::models::Models;

/// Policies with their speed budgets in millions of requests per second. The first budget is for blocks
/// that fit into the processor caches, if this case is measured. The second is for blocks that do not fit.
const BUDGETS: [(&str, Option<f64>, f64); 6] = [
    ("lru", Some(20.0), 8.0),
    ("fifo", None, 12.0),
    ("sieve", None, 12.0),
    ("arc", None, 10.0),
    ("s3_fifo", Some(10.0), 4.0),
    ("w_tinylfu", None, 8.0),
];

/// Kind of the policies that users provide, e.g. in Python. These policies are not measured.
const ELSEWHERE: &str = "external";

/// Measures every policy on every stream.
pub(crate) fn measure(report: &Report) {
    for stream in STREAMS {
        let keys = stream.keys(REQUESTS);
        for model in MODELS.iter().filter(|model| model.descriptor.kind != ELSEWHERE) {
            let kind = model.descriptor.kind;
            let seconds = best_of(|| policy(kind, stream.cache_blocks()).replay(&keys));
            let budget = BUDGETS.iter().find(|(name, ..)| *name == kind);
            let budget =
                budget.and_then(|&(_, inside, outside)| if stream.is_small { inside } else { Some(outside) });
            let mut rivals = Vec::new();
            if kind == "lru" {
                rivals.push(("quick_cache", keys.len() as f64 / best_of(|| quick_cache(&keys, stream)).best));
            }
            rivals.extend(report.rival(&format!("{kind}/{}", stream.name)).map(|rate| ("libCacheSim", rate)));
            report.line(&format!("{kind}, {}", stream.name), keys.len() as u64, seconds, budget, &rivals);
        }
    }
}

/// Creates a policy of kind `kind` with default settings. `capacity` is a number of blocks.
pub(crate) fn policy(kind: &str, capacity: usize) -> Box<dyn Replacement> {
    let models = Models::new();
    let mut reader = Reader::new(&models);
    let origin = Origin::Override("bench".into());
    let node = Node { value: Value::Text(kind.into()), origin };
    let slot = Slot::<ReplacementFamily>::read(&node, &mut reader).expect("a model of the table");
    let model = MODELS.iter().find(|model| model.descriptor.kind == kind).expect("a model of the table");
    (model.build)(&slot, &mut Context { families: &models, capacity }).expect("a legal capacity")
}

fn quick_cache(keys: &[u64], stream: Stream) -> u64 {
    let mut cache = quick_cache::unsync::Cache::new(stream.cache_blocks());
    let mut hits = 0;
    for &key in keys {
        if cache.get(&key).is_some() {
            hits += 1;
        } else {
            cache.insert(key, ());
        }
    }
    hits
}
