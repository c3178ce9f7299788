//! An auditor: what each byte of a device may be, from what was written, acknowledged and flushed.

use nacre_kernel::Time;
use std::collections::BTreeMap;

/// What a device may return, block by block. Every write of a block fills it with bytes that no other write and
/// no other block has, so that what was lost, torn or mixed up shows.
#[derive(Debug)]
pub struct Auditor {
    block_bytes: usize,
    /// Whether a loss of power leaves a block old or new as a whole.
    is_atomic: bool,
    blocks: BTreeMap<u64, Block>,
    writes: u64,
}

#[derive(Debug)]
struct Block {
    /// What was there before `versions`.
    base: Vec<u8>,
    versions: Vec<Version>,
}

/// One write or trim of a block.
#[derive(Debug)]
struct Version {
    content: Vec<u8>,
    /// A trim may leave what was there.
    is_trim: bool,
    acknowledged: Time,
    /// From when on the device promises that it survives.
    safe: Time,
}

impl Auditor {
    /// Of blocks of so many bytes, none of which was written.
    pub fn new(block_bytes: usize, is_atomic: bool) -> Auditor {
        Auditor { block_bytes, is_atomic, blocks: BTreeMap::new(), writes: 0 }
    }

    /// Bytes of a block.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// What the next write puts into `count` blocks from `first` on.
    pub fn next_write(&mut self, first: u64, count: u64) -> Vec<u8> {
        self.writes += 1;
        let words = |block: u64| {
            // Splitmix64: neighbouring numbers share no byte but by chance.
            let mut word = (self.writes << 24 ^ block).wrapping_add(0x9E37_79B9_7F4A_7C15);
            word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            (word ^ word >> 31).to_le_bytes()
        };
        (first..first + count)
            .flat_map(|block| words(block).into_iter().cycle().take(self.block_bytes))
            .collect()
    }

    /// `data` was written to the blocks from `first` on.
    pub fn wrote(&mut self, first: u64, data: &[u8], acknowledged: Time, safe: Time) {
        for (block, content) in (first..).zip(data.chunks(self.block_bytes)) {
            let version = Version { content: content.to_vec(), is_trim: false, acknowledged, safe };
            self.block(block).versions.push(version);
        }
    }

    /// `count` blocks from `first` on were trimmed.
    pub fn trimmed(&mut self, first: u64, count: u64, acknowledged: Time) {
        for block in first..first + count {
            let content = vec![0; self.block_bytes];
            let version = Version { content, is_trim: true, acknowledged, safe: Time::MAX };
            self.block(block).versions.push(version);
        }
    }

    /// A flush that was asked for at `asked` is done at `done`.
    pub fn flushed(&mut self, asked: Time, done: Time) {
        let versions = self.blocks.values_mut().flat_map(|block| &mut block.versions);
        versions.filter(|version| version.acknowledged <= asked).for_each(|version| {
            version.safe = version.safe.min(done);
        });
    }

    /// Panics unless `found` is what was written last to the blocks from `first` on.
    pub fn check_read(&mut self, first: u64, found: &[u8], context: &str) {
        for (number, found) in (first..).zip(found.chunks(self.block_bytes)) {
            let block = self.block(number);
            let written = block.versions.iter().rposition(|version| !version.is_trim);
            let mut allowed =
                block.versions[written.unwrap_or(0)..].iter().map(|version| &version.content[..]);
            let is_base = written.is_none() && found == block.base;
            assert!(
                is_base || allowed.any(|content| found == content),
                "{context}: block {number} is not what was written"
            );
        }
    }

    /// The power failed at `at`, and is back. Panics unless `read` gives, for every block that was written, a
    /// version that may be there. Gives how many blocks are not what was written last.
    pub fn check_after_loss(&mut self, at: Time, mut read: impl FnMut(u64, &mut [u8]), context: &str) -> u64 {
        let (mut behind, is_atomic) = (0, self.is_atomic);
        for (&number, block) in &mut self.blocks {
            let mut found = vec![0; self.block_bytes];
            read(number, &mut found);
            let is_safe = |version: &Version| version.safe <= at && !version.is_trim;
            let safe = block.versions.iter().rposition(is_safe);
            let allowed: Vec<&[u8]> = safe
                .is_none()
                .then_some(&block.base[..])
                .into_iter()
                .chain(block.versions[safe.unwrap_or(0)..].iter().map(|version| &version.content[..]))
                .collect();
            let fits = match is_atomic {
                true => allowed.iter().any(|content| found == *content),
                false => {
                    (0..found.len()).all(|byte| allowed.iter().any(|content| content[byte] == found[byte]))
                }
            };
            assert!(
                fits,
                "{context}: after a loss of power at {at}, block {number} holds {:02x?}..., and may hold one of \
                 {:02x?}",
                &found[..found.len().min(8)],
                allowed.iter().map(|content| &content[..content.len().min(8)]).collect::<Vec<_>>()
            );
            behind += u64::from(block.versions.last().is_some_and(|last| last.content != found));
            *block = Block { base: found, versions: Vec::new() };
        }
        behind
    }

    fn block(&mut self, number: u64) -> &mut Block {
        let size = self.block_bytes;
        self.blocks.entry(number).or_insert_with(|| Block { base: vec![0; size], versions: Vec::new() })
    }
}
