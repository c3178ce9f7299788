//! The disk caches: DRAM over flash over a disk, without bytes and with them.

use crate::Result;
use crate::report::{Report, best_of};
use crate::streams::{NoFiles, checked};
use nacre_kernel::{Breakdown, Data, Device, Op, Request, Time};
use nacre_machine::stack::{build, build_with_bytes, store_layouts};
use nacre_media::store::{Memory, Pages};

/// Requests per repeat.
const REQUESTS: usize = 2_000_000;
/// Bytes of a page.
const PAGE: usize = 2048;

/// Measures requests of one page under Zipf's law, a tenth of them writes, to 64 MiB of DRAM over 256 MiB of flash over a
/// disk of 512 MiB of data: when both caches are full.
pub(crate) fn measure(report: &Report) -> Result<()> {
    let scenario = checked(&format!(
        "[workload]\nkind = \"zipf\"\nrequests = {REQUESTS}\nrequest = \"2 KiB\"\nfootprint = \"512 MiB\"\n\
         theta = 0.99\nread_share = \"90 %\"\n[stack]\nkind = \"dram_disk_cache\"\ncapacity = \"64 MiB\"\n\
         [stack.backing]\nkind = \"flash_disk_cache\"\nblocks = 1024\n\
         ecc = {{ kind = \"bch\", t = 4, crc32 = true }}\n[stack.backing.backing]\npreset = \"disk_15k\"\n"
    ));
    let mut built = build(&scenario, &NoFiles)?;
    let mut requests = Vec::with_capacity(REQUESTS);
    built.workload.fill(&mut requests, REQUESTS)?;
    let mut host = Host { now: Time::ZERO, breakdown: Breakdown::new(), page: vec![0x5A; PAGE] };
    host.serve(&mut *built.device, &requests, false);
    let seconds = best_of(|| host.serve(&mut *built.device, &requests, false));
    report.line("DRAM and flash disk cache, without bytes", REQUESTS as u64, seconds, Some(5.0), &[]);
    let memory = |bytes: u32| Box::new(Memory::new(bytes as usize)) as Box<dyn Pages>;
    let stores =
        store_layouts(&scenario, &NoFiles)?.iter().map(|(_, layout)| memory(layout.page_bytes)).collect();
    let mut device = build_with_bytes(&scenario, &NoFiles, stores)?;
    let mut host = Host { now: Time::ZERO, breakdown: Breakdown::new(), page: vec![0x5A; PAGE] };
    host.serve(&mut *device, &requests, true);
    let seconds = best_of(|| host.serve(&mut *device, &requests, true));
    report.line("DRAM and flash disk cache, with bytes and BCH", REQUESTS as u64, seconds, Some(0.5), &[]);
    Ok(())
}

/// One request after the other.
struct Host {
    now: Time,
    breakdown: Breakdown,
    page: Vec<u8>,
}

impl Host {
    fn serve(&mut self, device: &mut dyn Device, requests: &[Request], has_bytes: bool) -> Time {
        for group in requests.chunks(32) {
            device.prefetch(group);
            for request in group {
                self.breakdown.clear();
                let data = match (has_bytes, request.op) {
                    (true, Op::Read) => Data::Read(&mut self.page),
                    (true, _) => Data::Write(&self.page),
                    (false, _) => Data::None,
                };
                self.now = device.submit(self.now, request, data, &mut self.breakdown).done;
            }
            device.advance(self.now);
        }
        self.now
    }
}
