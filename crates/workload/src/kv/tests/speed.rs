use crate::testing::workload;
#[test]
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "temporary")]
fn speed() {
    for extra in ["", "cache = \"1 GiB\"\n", "cache = \"16 MiB\"\n", "threads = 1\n"] {
        for method in ["hash", "btree"] {
            let t = std::time::Instant::now();
            let mut w = workload(&format!("kind = \"kv\"\nmethod = \"{method}\"\n{extra}"), 1).unwrap();
            let load = t.elapsed();
            let mut batch = Vec::new();
            for _ in 0..500 {
                batch.clear();
                w.fill(&mut batch, 4096).unwrap();
            }
            let u0 = w.units(500 * 4096).unwrap().done;
            let t = std::time::Instant::now();
            let mut c = [0u64; 4];
            for _ in 0..1000 {
                batch.clear();
                w.fill(&mut batch, 4096).unwrap();
                for r in &batch {
                    c[match r.op {
                        nacre_kernel::Op::Read => 0,
                        nacre_kernel::Op::Write if r.address < 10 << 20 => 1,
                        nacre_kernel::Op::Write => 2,
                        _ => 3,
                    }] += 1;
                }
            }
            let s = t.elapsed().as_secs_f64();
            let u = (w.units(1500 * 4096).unwrap().done - u0) as f64;
            println!(
                "{method} {extra:?}: load {load:?} {:.2} M/s, {:.2} M txn/s, per txn {:?} {:?}",
                4.096 / s,
                u / s / 1e6,
                c.map(|c| (c as f64 / u * 100.0).round() / 100.0),
                w.notes().notes
            );
        }
    }
}
