//! Speed of BCH codes on pages of 2 KiB: encoding, checking a page without bit errors, and correcting the
//! maximum number of bit errors.

use crate::report::{Report, best_of};
use nacre_config::{Configuration, Node, Reader, Slot};
use nacre_controller::ecc::{Codec, Ecc, EccFamily, Page, Verdict, build};
use nacre_kernel::{Bytes, Streams};
use nacre_machine::models::Models;

/// Page size in bytes.
const PAGE: usize = 2048;
/// Number of pages that are processed per repetition.
const PAGES: usize = 100_000;
/// Number of distinct pages: too many for a branch predictor to learn, but few enough to fit into a
/// processor cache.
const DIFFERENT: usize = 64;

/// A document with one setting, the error-correcting code.
#[derive(Debug, Configuration)]
struct Document {
    /// The error-correcting code.
    ecc: Slot<EccFamily>,
}

/// Measures codes that correct 4 and 12 bit errors. Budgets and rates are in bytes per second.
pub(crate) fn measure(report: &Report) {
    for (t, budgets) in [(4, [2000.0, 2000.0, 150.0]), (12, [667.0, 667.0, 50.0])] {
        let code = bch(t);
        let codec = code.codec().expect("BCH codes bytes");
        let mut pages = Pages::new(codec, code.layout().spare_bytes as usize, t);
        let seconds = [
            best_of(|| pages.encode(codec)),
            best_of(|| pages.decode(codec, false)),
            best_of(|| pages.decode(codec, true)),
        ];
        let words = ["encode", "clean", "decode"];
        for ((word, seconds), budget) in words.into_iter().zip(seconds).zip(budgets) {
            let rival = report.rival(&format!("bch/{word}/{t}"));
            let rivals: Vec<(&str, f64)> = rival.map(|rate| ("bchlib", rate)).into_iter().collect();
            let what = format!("BCH t = {t}, 2 KiB, {word}, bytes");
            report.line(&what, (PAGES * PAGE) as u64, seconds, Some(budget), &rivals);
        }
    }
}

fn bch(t: u32) -> Box<dyn Ecc> {
    let text = format!("[ecc]\nkind = \"bch\"\nm = 15\nt = {t}\n");
    let node = Node::parse_toml(&text, "bench").expect("it is TOML");
    let families = Models::new();
    let mut reader = Reader::new(&families);
    let document = Document::read(&node, &mut reader).expect("it is legal");
    build(&document.ecc, Page { families: &families, bytes: Bytes(PAGE as u64) }).expect("it fits")
}

/// Pages that the benchmark processes in rotation.
struct Pages {
    pages: Vec<(Vec<u8>, Vec<u8>)>,
    /// Positions of the bits that are inverted in each page.
    wrong: Vec<Vec<usize>>,
    t: u32,
}

impl Pages {
    fn new(codec: &dyn Codec, spare_bytes: usize, t: u32) -> Pages {
        let mut random = Streams::new(1).stream("bench.codes");
        let mut page = || {
            let data: Vec<u8> = (0..PAGE).map(|_| random.bits() as u8).collect();
            let mut spare = vec![0; spare_bytes];
            codec.encode(&data, &mut spare).expect("its length is right");
            (data, spare)
        };
        let pages = (0..DIFFERENT).map(|_| page()).collect();
        let part = 8 * PAGE / t as usize;
        let mut places = || (0..t as usize).map(|n| n * part + random.below(part as u64) as usize).collect();
        let wrong = (0..DIFFERENT).map(|_| places()).collect();
        Pages { pages, wrong, t }
    }

    fn encode(&mut self, codec: &dyn Codec) {
        for number in 0..PAGES {
            let (data, spare) = &mut self.pages[number % DIFFERENT];
            codec.encode(data, spare).expect("its length is right");
        }
    }

    fn decode(&mut self, codec: &dyn Codec, is_wrong: bool) {
        let expected = if is_wrong { Verdict::Corrected(self.t) } else { Verdict::Clean };
        for number in 0..PAGES {
            let (data, spare) = &mut self.pages[number % DIFFERENT];
            if is_wrong {
                self.wrong[number % DIFFERENT].iter().for_each(|place| data[place / 8] ^= 1 << (place % 8));
            }
            assert_eq!(codec.decode(data, spare), Ok(expected));
        }
    }
}
