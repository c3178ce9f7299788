//! Speed of disk caches: DRAM and flash in front of a disk, with and without stored data.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Request, Time};
use nacre_machine::Checked;
use nacre_machine::stack::{build, build_alone, build_with_bytes, store_layouts};
use nacre_media::store::{Memory, Pages};

/// Number of requests per repetition.
const REQUESTS: usize = 2_000_000;
/// Page size in bytes.
const PAGE: usize = 2048;

/// Measures the caches with and without data.
pub(crate) fn measure(report: &Report) -> Result<()> {
    let mut caches = Caches::without_bytes()?;
    let seconds = best_of(|| caches.serve(REQUESTS));
    report.line("DRAM and flash disk cache, without bytes", REQUESTS as u64, seconds, Some(5.0), &[]);
    let mut caches = Caches::with_bytes()?;
    let seconds = best_of(|| caches.serve(REQUESTS));
    report.line("DRAM and flash disk cache, with bytes and BCH", REQUESTS as u64, seconds, Some(0.5), &[]);
    Ok(())
}

/// A DRAM cache of 64 MiB and a flash cache of 256 MiB in front of a disk with 512 MiB of data. The caches
/// receive Zipf requests of one page, 10 % of which are writes. Both caches are full.
pub(crate) struct Caches {
    device: Box<dyn Device>,
    requests: Vec<Request>,
    host: Host,
}

impl Caches {
    /// Creates caches that do not store data.
    pub(crate) fn without_bytes() -> Result<Caches> {
        let scenario = scenario();
        Caches::filled(&scenario, build_alone(&scenario, &NoFiles)?, false)
    }

    /// Creates caches that store data in memory, so that data is encoded and decoded.
    fn with_bytes() -> Result<Caches> {
        let scenario = scenario();
        let memory = |bytes: u32| Box::new(Memory::new(bytes as usize)) as Box<dyn Pages>;
        let layouts = store_layouts(&scenario, &NoFiles)?;
        let stores = layouts.iter().map(|(_, layout)| memory(layout.page_bytes)).collect();
        Caches::filled(&scenario, build_with_bytes(&scenario, &NoFiles, stores)?, true)
    }

    fn filled(scenario: &Checked, device: Box<dyn Device>, has_bytes: bool) -> Result<Caches> {
        let mut requests = Vec::with_capacity(REQUESTS);
        build(scenario, &NoFiles)?.workload.fill(&mut requests, REQUESTS)?;
        let page = if has_bytes { vec![0x5A; PAGE].into() } else { Payload::NONE };
        let host = Host { now: Time::ZERO, completions: Completions::new(), page };
        let mut caches = Caches { device, requests, host };
        caches.serve(REQUESTS);
        Ok(caches)
    }

    /// Serves `count` requests. Restarts the request stream when it ends.
    pub(crate) fn serve(&mut self, count: usize) {
        let mut left = count;
        while left > 0 {
            let part = left.min(self.requests.len());
            self.host.serve(&mut *self.device, &self.requests[..part]);
            left -= part;
        }
    }
}

fn scenario() -> Checked {
    checked(&format!(
        "[workload]\nkind = \"zipf\"\nrequests = {REQUESTS}\nrequest = \"2 KiB\"\nfootprint = \"512 MiB\"\n\
         theta = 0.99\nread_share = \"90 %\"\n[stack]\nkind = \"dram_disk_cache\"\ncapacity = \"64 MiB\"\n\
         [stack.backing]\nkind = \"flash_disk_cache\"\nblocks = 1024\n\
         ecc = {{ kind = \"bch\", t = 4, crc32 = true }}\n[stack.backing.backing]\npreset = \"disk_15k\"\n"
    ))
}

/// A host with one outstanding request.
struct Host {
    now: Time,
    completions: Completions,
    /// Data of a write, if the caches store data.
    page: Payload,
}

impl Host {
    fn serve(&mut self, device: &mut dyn Device, requests: &[Request]) {
        for group in requests.chunks(32) {
            device.prefetch(group);
            for request in group {
                let data = if request.op == Op::Write { self.page.clone() } else { Payload::NONE };
                device.submit(self.now, RequestId(0), request, data);
                self.completions.clear();
                device.run(Time::MAX, &mut self.completions);
                self.now = self.completions.get(0).0.at;
            }
        }
    }
}
