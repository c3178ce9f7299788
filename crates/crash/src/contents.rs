//! Contents of blocks: bytes that identify the block and the write that stored them.

/// Content of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A repeated word. The word is zero for blocks that were never written or were trimmed.
    Word(u64),
    /// A mixture of several contents, which is possible after a power loss.
    Mixed(Box<[u8]>),
}

impl Content {
    pub(crate) const ZERO: Content = Content::Word(0);

    /// Content that write number `write` stores in `block`. The word is a bijective function of the pair of
    /// write and block, so no other write or block has the same bytes.
    pub(crate) fn of(write: u32, block: u64) -> Content {
        Content::Word(mix((u64::from(write) << 32) | (block & 0xFFFF_FFFF)))
    }

    /// Converts the data `bytes` of a block to a content.
    pub(crate) fn found(bytes: &[u8]) -> Content {
        let word = u64::from_le_bytes(bytes[..8].try_into().expect("a block has a word"));
        let content = Content::Word(word);
        if content.is(bytes) { content } else { Content::Mixed(bytes.into()) }
    }

    /// Whether `bytes` equal this content.
    #[inline]
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        match self {
            Content::Word(word) => bytes.as_chunks::<8>().0.iter().all(|chunk| *chunk == word.to_le_bytes()),
            Content::Mixed(mixed) => **mixed == *bytes,
        }
    }

    /// The byte at `index`.
    pub(crate) fn byte(&self, index: usize) -> u8 {
        match self {
            Content::Word(word) => word.to_le_bytes()[index % 8],
            Content::Mixed(mixed) => mixed[index],
        }
    }

    /// Fills `block` with this content.
    pub(crate) fn fill(&self, block: &mut [u8]) {
        match self {
            Content::Word(word) => {
                block.as_chunks_mut::<8>().0.iter_mut().for_each(|chunk| *chunk = word.to_le_bytes());
            }
            Content::Mixed(mixed) => block.copy_from_slice(mixed),
        }
    }

    /// Whether each word of `bytes` is zero or was stored by one of the first `writes` writes.
    pub(crate) fn all_were_written(bytes: &[u8], writes: u32) -> bool {
        bytes.as_chunks::<8>().0.iter().all(|chunk| {
            let word = u64::from_le_bytes(*chunk);
            word == 0 || (1..=writes).contains(&((unmix(word) >> 32) as u32))
        })
    }

    /// Describes the content in messages. `writes` is the number of writes so far.
    pub(crate) fn describe(&self, writes: u32) -> String {
        match self {
            Content::Word(0) => "zeros".into(),
            Content::Word(word) => {
                let origin = unmix(*word);
                let (write, block) = ((origin >> 32) as u32, origin & 0xFFFF_FFFF);
                match (1..=writes).contains(&write) {
                    true => format!("the data of write {write} to block {block}"),
                    false => "bytes that were never written".into(),
                }
            }
            Content::Mixed(_) => "a mixture of several writes".into(),
        }
    }
}

const FIRST: u64 = 0xBF58_476D_1CE4_E5B9;
const SECOND: u64 = 0x94D0_49BB_1331_11EB;

/// The finalizer of splitmix64 (Steele, Lea and Flood 2014). It is bijective, and the results of adjacent
/// numbers share bytes only by chance.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(FIRST);
    let number = (number ^ (number >> 27)).wrapping_mul(SECOND);
    number ^ (number >> 31)
}

/// Inverse of [`mix`].
fn unmix(word: u64) -> u64 {
    let unshift = |word: u64, by: u32| (1..=64 / by).fold(word, |found, _| word ^ (found >> by));
    let word = unshift(word, 31).wrapping_mul(inverse(SECOND));
    let word = unshift(word, 27).wrapping_mul(inverse(FIRST));
    unshift(word, 30)
}

/// Multiplicative inverse of the odd `number` modulo 2^64, computed with Newton's iteration. Each step
/// doubles the number of correct bits.
fn inverse(number: u64) -> u64 {
    (0..6).fold(number, |guess, _| guess.wrapping_mul(2u64.wrapping_sub(number.wrapping_mul(guess))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_tell_which_write_of_which_block_they_are() {
        for (write, block) in [(1, 0), (7, 4_000_000_000), (u32::MAX, 3), (123_456, 654_321)] {
            let mut bytes = [0; 512];
            Content::of(write, block).fill(&mut bytes);
            assert_eq!(Content::found(&bytes), Content::of(write, block));
            let text = Content::found(&bytes).describe(u32::MAX);
            assert_eq!(text, format!("the data of write {write} to block {block}"));
        }
        assert_eq!(Content::of(9, 1).describe(8), "bytes that were never written");
    }
}
