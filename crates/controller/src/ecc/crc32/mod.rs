//! CRC-32: bit errors are detected but not corrected.
//!
//! # Model
//! Four spare bytes hold the CRC-32 of the page, most significant byte first. The CRC is the CRC-32 of IEEE
//! 802.3: polynomial 0x04c11db7, reflected, with an initial value and a final XOR of all ones. A page with
//! bit errors is uncorrectable.
//!
//! # Not modeled
//! In simulations without data, the model detects all errors. With a real CRC-32, a share of 2^-32 of the
//! pages with many bit errors passes the check. A simulation is too short to encounter such a page.
//!
//! # Sources
//! IEEE 802.3, clause 3.2.9.
//!
//! # Checks
//! The CRC of "123456789" is 0xcbf43926, the check value in CRC catalogs. The tests invert random pairs of
//! bits in a page. The CRC detects every pair, because its Hamming distance is four for up to 91,607 bits.

use super::{Codec, Decoding, Ecc, EccFamily, Layout, Misfit, Verdict, Work};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::{Energy, Time};

#[cfg(test)]
mod tests;

/// Size of the checksum, in bytes.
const SPARE: usize = 4;

/// Error detection by CRC-32.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Time to compute or check the checksum of a page, in addition to its transfer.
    #[config(
        default = "0 s",
        max = "1 s",
        source = "assumed: computed during the transfer over the channel"
    )]
    pub time: Time,
    /// Energy to compute or check the checksum of a page.
    pub energy: Option<Energy>,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<EccFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "crc32",
        "bit errors are detected but not corrected",
        &["IEEE 802.3, clause 3.2.9"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, page| {
        let config: Config = slot.config(page.families);
        let work = Work { time: config.time, energy: config.energy };
        Ok(Box::new(Checksum { page: page.bytes.0, work }))
    },
};

struct Checksum {
    page: u64,
    work: Work,
}

impl Checksum {
    fn check_lengths(&self, page: &[u8], spare: &[u8]) -> Result<(), Misfit> {
        let wanted = [self.page as usize, SPARE];
        Misfit::of_lengths("a page with a CRC-32", [page.len(), spare.len()], wanted).map_or(Ok(()), Err)
    }
}

impl Ecc for Checksum {
    fn layout(&self) -> Layout {
        let spare_bytes = SPARE as u64;
        Layout { codewords: 1, codeword_bits: 8 * (self.page + spare_bytes), spare_bytes }
    }

    fn encoding(&self) -> Work {
        self.work
    }

    fn decoding(&self, errors: u32) -> Decoding {
        let verdict = if errors == 0 { Verdict::Clean } else { Verdict::Uncorrectable };
        Decoding { verdict, senses: 0, work: self.work }
    }

    fn corrects(&self) -> u32 {
        0
    }

    fn of_strength(&self, _bits: u32) -> Option<Box<dyn Ecc>> {
        None
    }

    fn codec(&self) -> Option<&dyn Codec> {
        Some(self)
    }
}

impl Codec for Checksum {
    fn encode(&self, page: &[u8], spare: &mut [u8]) -> Result<(), Misfit> {
        self.check_lengths(page, spare)?;
        spare.copy_from_slice(&crc32fast::hash(page).to_be_bytes());
        Ok(())
    }

    fn decode(&self, page: &mut [u8], spare: &mut [u8]) -> Result<Verdict, Misfit> {
        self.check_lengths(page, spare)?;
        let is_right = *spare == crc32fast::hash(page).to_be_bytes();
        Ok(if is_right { Verdict::Clean } else { Verdict::Uncorrectable })
    }
}
