use super::*;
use crate::workbench;

fn ldpc() -> Ldpc {
    Ldpc {
        codewords: 2,
        config: Config {
            codeword: Bytes(2000),
            parity: Ratio(0.25),
            hard: Ratio(0.004),
            soft: Ratio(0.01),
            senses: 3,
            hard_decode: Time::from_us(2),
            soft_decode: Time::from_us(10),
            encode: Time::ZERO,
            decode_energy: Some(Energy(1e-6)),
            encode_energy: Some(Energy(2e-6)),
        },
    }
}

/// Tests the number of read retries that each number of bit errors requires. A codeword of 2,500 B has 20,000
/// bits. Hard decisions correct up to 80 bit errors, and each of the three read retries raises this limit by
/// 40.
#[test]
fn each_sense_puts_an_equal_number_of_bits_more_right() {
    let code = ldpc();
    assert_eq!(code.layout(), Layout { codewords: 2, codeword_bits: 20_000, spare_bytes: 1000 });
    let of = |errors| {
        let Decoding { verdict, senses, work } = code.decoding(errors);
        (verdict, senses, work.time)
    };
    assert_eq!(of(0), (Verdict::Clean, 0, Time::from_us(2)));
    assert_eq!(of(80), (Verdict::Corrected(80), 0, Time::from_us(2)));
    assert_eq!(of(81), (Verdict::Corrected(81), 1, Time::from_us(12)));
    assert_eq!(of(120), (Verdict::Corrected(120), 1, Time::from_us(12)));
    assert_eq!(of(200), (Verdict::Corrected(200), 3, Time::from_us(32)));
    assert_eq!(of(201), (Verdict::Uncorrectable, 3, Time::from_us(32)));
    assert_eq!(code.corrects(), 200);
}

#[test]
fn energy_counts_every_attempt() {
    let energy = |errors| ldpc().decoding(errors).work.energy;
    assert_eq!(energy(80), Some(Energy(1e-6)));
    assert_eq!(energy(200), Some(Energy(4e-6)));
}

#[test]
fn soft_decisions_without_further_senses_are_refused() {
    let code = |settings: &str| workbench::ecc(&format!("kind = \"ldpc\"\nsenses = 0\n{settings}"), 4096);
    for (settings, setting) in [("soft = \"2 %\"", "ecc.soft"), ("soft_decode = \"7 us\"", "ecc.soft_decode")]
    {
        let refused = code(settings).err().expect(settings).to_string();
        assert!(refused.contains(setting) && refused.contains("only hard decisions"), "{refused}");
    }
    // Settings for soft decisions do not conflict if they equal their defaults or `hard`. Hard decisions may
    // be stronger than the default of `soft`.
    for settings in ["", "soft = \"1.1 %\"", "hard = \"1 %\"\nsoft = \"1 %\"", "hard = \"2 %\""] {
        let code = code(settings).unwrap_or_else(|problems| panic!("{settings}: {problems}"));
        assert_eq!(code.decoding(1).senses, 0);
    }
}
