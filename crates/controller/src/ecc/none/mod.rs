//! No error correction: pages are returned with their bit errors.
//!
//! # Model
//! Pages do not need spare bytes, and no time or energy is used for encoding and decoding. The model does not
//! detect bit errors.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! None: without error correction, there is nothing to cite.
//!
//! # Checks
//! A page with bit errors is returned unchanged. At a bit error rate p, the share of pages with at least one
//! bit error is `1 - (1 - p)^bits`.

use super::{Codec, Decoding, Ecc, EccFamily, Layout, Misfit, Verdict, Work};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// No error correction has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<EccFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "none",
        "no error correction: pages are returned with their bit errors",
        &["definition"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_slot, page| Ok(Box::new(Bare { page: page.bytes.0 })),
};

struct Bare {
    page: u64,
}

impl Ecc for Bare {
    fn layout(&self) -> Layout {
        Layout { codewords: 1, codeword_bits: 8 * self.page, spare_bytes: 0 }
    }

    fn encoding(&self) -> Work {
        Work::default()
    }

    fn decoding(&self, errors: u32) -> Decoding {
        let verdict = if errors == 0 { Verdict::Clean } else { Verdict::Unnoticed };
        Decoding { verdict, senses: 0, work: Work::default() }
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

impl Codec for Bare {
    fn encode(&self, page: &[u8], spare: &mut [u8]) -> Result<(), Misfit> {
        let misfit =
            Misfit::of_lengths("a page without a code", [page.len(), spare.len()], [self.page as usize, 0]);
        misfit.map_or(Ok(()), Err)
    }

    fn decode(&self, page: &mut [u8], spare: &mut [u8]) -> Result<Verdict, Misfit> {
        self.encode(page, spare).map(|()| Verdict::Clean)
    }
}
