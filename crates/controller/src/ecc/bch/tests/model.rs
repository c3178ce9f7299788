//! Tests of the code as a component: settings and page layout.

use super::super::super::{Decoding, Ecc, Layout, Verdict};
use super::places;
use crate::workbench;
use nacre_kernel::{Energy, Streams, Time};

fn ecc(toml: &str, page: u64) -> Box<dyn Ecc> {
    workbench::ecc(&format!("kind = \"bch\"\n{toml}"), page).unwrap()
}

fn time(code: &dyn Ecc, errors: u32) -> Time {
    code.decoding(errors).work.time
}

/// Decoding 2 KiB takes 30 us at t = 2, as in roberts-2009. The time is proportional to t and to the size
/// of the codeword.
#[test]
fn decoding_takes_time_in_proportion_to_strength_and_data() {
    assert_eq!(time(&*ecc("t = 2", 2048), 2), Time::from_us(30));
    assert_eq!(time(&*ecc("t = 4", 2048), 0), Time::from_us(60));
    assert_eq!(time(&*ecc("t = 12", 2048), 1), Time::from_us(180));
    assert_eq!(time(&*ecc("t = 4", 512), 0), Time::from_us(15));
    let quick = ecc("t = 4\ncheck = \"2 us\"", 2048);
    assert_eq!((time(&*quick, 0), time(&*quick, 1)), (Time::from_us(2), Time::from_us(60)));
}

#[test]
fn energy_is_known_where_it_is_given() {
    assert_eq!(ecc("t = 4", 2048).decoding(1).work.energy, None);
    let known = ecc("t = 4\ndecode_energy = \"50 nJ\"\nencode_energy = \"20 nJ\"", 2048);
    let Some(Energy(energy)) = known.decoding(1).work.energy else { panic!("it is known") };
    assert!((energy - 200e-9).abs() < 1e-15);
    assert_eq!(known.encoding().energy, Some(Energy(20.0 * 1e-9)));
}

#[test]
fn a_part_of_the_energies_is_a_mistake() {
    for (given, missing) in [("decode_energy", "encode_energy"), ("encode_energy", "decode_energy")] {
        for code in ["kind = \"bch\"\nt = 4", "kind = \"ldpc\""] {
            let toml = format!("{code}\n{given} = \"1 uJ\"");
            let problems = workbench::ecc(&toml, 2048).err().expect(&toml).to_string();
            let place = format!("{given} (test.toml:");
            let expected =
                format!("energy also needs {missing}, given 0.000001 J; also set {missing}, or none of them");
            assert!(problems.contains(&place) && problems.contains(&expected), "{code}: {problems}");
        }
    }
}

#[test]
fn the_spare_bytes_of_a_page_of_64_hold_34_bits_of_strength_or_32_beside_a_crc() {
    let layout = |toml| ecc(toml, 2048).layout();
    assert_eq!(layout("t = 12"), Layout { codewords: 1, codeword_bits: 16_564, spare_bytes: 23 });
    assert_eq!(layout("t = 34").spare_bytes, 64);
    assert_eq!(layout("t = 32\ncrc32 = true").spare_bytes, 64);
    // 1 KiB and 8 bits of parity fit GF(2^14) and take 14 B per codeword.
    let cut = ecc("t = 8\ncodeword = \"1 KiB\"", 16_384).layout();
    assert_eq!(cut, Layout { codewords: 16, codeword_bits: 8304, spare_bytes: 16 * 14 });
}

#[test]
fn the_share_of_pages_that_fail_is_a_binomial_tail() {
    for (t, expected) in [(4, 2.6e-2), (8, 5.7e-5)] {
        let failure = ecc(&format!("t = {t}"), 2048).page_failure(1e-4);
        assert!((failure / expected - 1.0).abs() < 0.01, "t = {t}: {failure}");
    }
    // Two codewords with half of the data each fail less often than one codeword that has to correct all bit
    // errors.
    let [whole, halves] =
        ["t = 8", "t = 8\ncodeword = \"1 KiB\""].map(|toml| ecc(toml, 2048).page_failure(1e-4));
    assert!(halves < whole / 100.0, "{halves} and {whole}");
}

#[test]
fn without_bytes_more_than_t_wrong_bits_are_uncorrectable() {
    let code = ecc("t = 4", 2048);
    let verdict = |errors| {
        let Decoding { verdict, senses, .. } = code.decoding(errors);
        assert_eq!(senses, 0);
        verdict
    };
    assert_eq!(
        [0, 1, 4, 5].map(verdict),
        [Verdict::Clean, Verdict::Corrected(1), Verdict::Corrected(4), Verdict::Uncorrectable]
    );
}

#[test]
fn pages_of_several_codewords_are_put_right_each_by_itself() {
    let code = ecc("t = 3\ncodeword = \"512 B\"\ncrc32 = true", 2048);
    let codec = code.codec().unwrap();
    let mut random = Streams::new(1).stream("page");
    let page: Vec<u8> = (0..2048).map(|_| random.bits() as u8).collect();
    let mut spare = vec![0; code.layout().spare_bytes as usize];
    codec.encode(&page, &mut spare).unwrap();
    let mut read = page.clone();
    (0..4).for_each(|codeword| read[512 * codeword + 7] ^= 0x15);
    let mut read_spare = spare.clone();
    assert_eq!(codec.decode(&mut read, &mut read_spare), Ok(Verdict::Corrected(12)));
    assert!(read == page && read_spare == spare);
    // One codeword is lost, and the other three are intact.
    (0..4).for_each(|codeword| read[512 * codeword + 7] ^= 0x15);
    read[9] ^= 1;
    assert_eq!(codec.decode(&mut read, &mut read_spare), Ok(Verdict::Uncorrectable));
    assert_eq!((read[7] ^ page[7], read[9] ^ page[9], read[512..] == page[512..]), (0x15, 1, true));
}

/// With the checksum, no pattern of three bit errors is decoded to another codeword. Without the checksum,
/// a code with t = 2 would decode about a third of these patterns to another codeword.
#[test]
fn with_a_checksum_no_other_codeword_comes_out() {
    let code = ecc("t = 2\nm = 13\ncrc32 = true", 1000);
    let codec = code.codec().unwrap();
    let mut random = Streams::new(1).stream("checksum");
    let (page, mut spare) = (vec![0x3c; 1000], vec![0; code.layout().spare_bytes as usize]);
    codec.encode(&page, &mut spare).unwrap();
    for _ in 0..1000 {
        let mut read = page.clone();
        places(3, 8000, &mut random).into_iter().for_each(|place| read[place / 8] ^= 1 << (place % 8));
        assert_eq!(codec.decode(&mut read, &mut spare.clone()), Ok(Verdict::Uncorrectable));
    }
}

#[test]
fn a_page_that_does_not_fit_is_refused_with_a_remedy() {
    let refused = |toml: &str, page| {
        let problems = workbench::ecc(&format!("kind = \"bch\"\n{toml}"), page);
        problems.err().expect("it does not fit").to_string()
    };
    let text = refused("t = 4\nm = 13", 2048);
    assert!(text.contains("16384 bits and 52 bits of parity are 16436"), "{text}");
    assert!(text.contains("m to a larger field"), "{text}");
    let text = refused("t = 4\ncodeword = \"1000 B\"", 2048);
    assert!(text.contains("a page of 2 KiB is not a whole number of codewords"), "{text}");
    let text = refused("t = 41", 2048);
    assert!(text.contains("ecc.t"), "{text}");
}
