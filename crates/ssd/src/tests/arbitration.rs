//! What crosses a channel next, and how many pages a die holds meanwhile. Latencies and rates are compared with an event
//! simulation in [`super::scheduling`].

use super::*;

#[test]
fn a_die_holds_as_many_pages_as_it_has_registers() {
    // 50 us to sense, 2 us and 40.96 us to cross.
    for registers in ["registers = 1", "registers = 2", ""] {
        for how in ["first_come", "commands_first", "pages_first", "reads_first"] {
            let settings = format!("{registers}\narbitration = \"{how}\"");
            let mut device = driven(&format!(
                "channels = 1\nways = 1\npages = 128\nbus = \"100 MB/s\"\ncommand = \"2 us\"\n{settings}"
            ));
            let seen = device.closed_loop(16, 5_000, |number| unit(Op::Read, number % 1_000));
            let each = match how {
                // The die waits for its own command, and the page crosses while it senses the next one.
                "commands_first" if !registers.ends_with('1') => 52e-6,
                // A page and the next command are ready at the same moment. The page is of the older read and goes first;
                // the command waits until it is across, and a second register is of no use.
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
        // A page in 50 us, 10.54 us of the channel, 1.024 us of the link.
        assert_close(how, seen.mean_s(), 61.564e-6, 1e-6);
    }
}
