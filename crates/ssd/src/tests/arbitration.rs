//! Tests of the order of transfers on a channel, and of the number of pages in the registers of a die.
//! [`super::scheduling`] compares latencies and rates with an event simulation.

use super::*;

#[test]
fn a_die_holds_as_many_pages_as_it_has_registers() {
    // Sensing takes 50 us, and transfers take 2 us and 40.96 us.
    for registers in ["registers = 1", "registers = 2", ""] {
        for how in ["first_come", "commands_first", "pages_first", "reads_first"] {
            let settings = format!("{registers}\narbitration = \"{how}\"");
            let mut device = driven(&format!(
                "channels = 1\nways = 1\npages = 128\nbus = \"100 MB/s\"\ncommand = \"2 us\"\n{settings}"
            ));
            let seen = device.closed_loop(16, 5_000, |number| unit(Op::Read, number % 1_000));
            let each = match how {
                // The die waits for its next command, and the page is transferred while the die senses the
                // next page.
                "commands_first" if !registers.ends_with('1') => 52e-6,
                // A page and the next command become ready at the same time. The page belongs to the older
                // read and is transferred first. The command waits for this transfer, so a second register
                // does not help.
                _ => 92.96e-6,
            };
            assert_close(&settings, seen.per_second(), 1.0 / each, 0.01);
        }
    }
}

#[test]
fn a_read_alone_takes_as_long_however_the_channel_chooses() {
    for how in ["first_come", "commands_first", "pages_first", "reads_first"] {
        let mut device = driven(&format!("arbitration = \"{how}\""));
        let seen = device.closed_loop(1, 10, |number| unit(Op::Read, number));
        // The latency is 50 us of sensing, 10.54 us on the channel, and 1.024 us on the link.
        assert_close(how, seen.mean_s(), 61.564e-6, 1e-6);
    }
}
