use super::super::Summary;
use super::super::statistics::{assert_mean, settled_mean};
use super::*;
use crate::drive::poisson;
use crate::queueing::md1_wait;
use Arbitration::{CommandsFirst, FirstCome, PagesFirst};

const ALL: [Arbitration; 3] = [FirstCome, PagesFirst, CommandsFirst];

/// Creates a channel with the times `[command, sense, transfer]` in microseconds.
fn channel(dies: usize, registers: usize, arbitration: Arbitration, times_us: [u64; 3]) -> Channel {
    let [command, sense, transfer] = times_us.map(Time::from_us);
    Channel { dies, registers, arbitration, command, sense, transfer, completion: Time::ZERO }
}

/// Returns the completion times in microseconds of reads on `dies` that arrive simultaneously.
fn done_us(channel: &Channel, dies: &[usize]) -> Vec<u64> {
    let visits = serve(channel, dies, Load::Open(&vec![Time::ZERO; dies.len()]));
    visits.iter().map(|visit| visit.done.as_ps() / Time::from_us(1).as_ps()).collect()
}

#[test]
fn one_read_takes_its_command_its_sense_and_its_transfer() {
    for arbitration in ALL {
        for registers in [1, 2, 4] {
            assert_eq!(done_us(&channel(1, registers, arbitration, [1, 10, 4]), &[0]), [15]);
        }
    }
}

#[test]
fn a_client_sends_its_next_read_when_the_last_one_is_done_behind_the_channel() {
    let slow = Channel { completion: Time::from_us(5), ..channel(1, 1, FirstCome, [1, 10, 4]) };
    let visits = serve(&slow, &[0, 0], Load::Closed { clients: 1 });
    assert_eq!((visits[0].done, visits[1].done), (Time::from_us(20), Time::from_us(40)));
    // The channel is free during the completion time.
    assert_eq!(done_us(&slow, &[0, 0]), [20, 35]);
}

#[test]
fn what_crosses_first_by_hand() {
    // Reads 0 and 2 are on die 0, and read 1 is on die 1. Commands are transferred from 0 to 1 and from 1 to
    // 2, and pages are sensed at 11 and 12. Page 0 is transferred from 11 to 15. With one register, command 2
    // is ready at 15 and is sent after page 1 (15 to 19), or before it (15 to 16). With two registers,
    // command 2 is ready at 11, like page 0 of an older read.
    for (registers, arbitration, expected) in [
        (1, FirstCome, [15, 19, 34]),
        (1, PagesFirst, [15, 19, 34]),
        (1, CommandsFirst, [15, 20, 30]),
        // The order is page 0, command 2 (15 to 16) because page 1 is only ready at 12, page 1, and page 2
        // (26 to 30).
        (2, FirstCome, [15, 20, 30]),
        (2, PagesFirst, [15, 19, 34]),
        // The order is command 2 (11 to 12), pages 0 and 1, and page 2, which is sensed at 22.
        (2, CommandsFirst, [16, 20, 26]),
    ] {
        let found = done_us(&channel(2, registers, arbitration, [1, 10, 4]), &[0, 1, 0]);
        assert_eq!(found, expected, "{registers} registers, {arbitration:?}");
    }
}

#[test]
fn a_die_with_full_registers_takes_no_command() {
    // Commands are sent from 0 to 1 and from 3 to 4. Pages are sensed at 3 and 6, and page 0 is transferred
    // from 4 to 14. Only then is a register free.
    let reads = [0; 4];
    assert_eq!(done_us(&channel(1, 2, CommandsFirst, [1, 2, 10]), &reads), [14, 25, 36, 46]);
    // With a third register, command 2 is also sent at 14, because the channel is busy until then.
    assert_eq!(done_us(&channel(1, 3, CommandsFirst, [1, 2, 10]), &reads), [14, 25, 36, 46]);
    // With one register, nothing overlaps.
    assert_eq!(done_us(&channel(1, 1, CommandsFirst, [1, 2, 10]), &reads), [13, 26, 39, 52]);
}

#[test]
fn what_arrives_when_the_channel_is_free_takes_part() {
    // Page 0 is sensed at 11. A command for die 1 that is ready at the same time may be sent first.
    let channel = channel(2, 1, CommandsFirst, [1, 10, 4]);
    for (late_ps, expected) in [(0, 16), (1, 15)] {
        let times = [Time::ZERO, Time::from_us(11) + Time::from_ps(late_ps)];
        let visits = serve(&channel, &[0, 1], Load::Open(&times));
        assert_eq!(visits[0].done, Time::from_us(expected));
    }
}

#[test]
fn a_closed_loop_saturates_die_or_channel() {
    // Returns the reads per second of `clients` clients that read the dies in rotation, without the first and
    // the last reads.
    let per_s = |channel: Channel, clients| {
        let dies: Vec<usize> = (0..10_000).map(|read| read % channel.dies).collect();
        let visits = serve(&channel, &dies, Load::Closed { clients });
        8000.0 / (visits[9000].done - visits[1000].done).as_secs_f64()
    };
    let assert_us = |channel: Channel, clients, reads: f64, us: f64| {
        let (found, expected) = (per_s(channel, clients), reads / us * 1e6);
        assert!(
            (found / expected - 1.0).abs() < 1e-3,
            "{channel:?}, {clients}: {found}, expected {expected}"
        );
    };
    for arbitration in ALL {
        // A die with one register performs all phases sequentially.
        assert_us(channel(1, 1, arbitration, [1, 30, 4]), 8, 1.0, 35.0);
        // One client has one outstanding read.
        assert_us(channel(4, 1, arbitration, [1, 30, 4]), 1, 1.0, 35.0);
    }
    // If commands have priority, the dies are not synchronized: four dies have the throughput of four
    // separate dies, and 16 dies keep the channel busy.
    assert_us(channel(4, 1, CommandsFirst, [1, 30, 4]), 4, 4.0, 35.0);
    for registers in [1, 2, 4] {
        assert_us(channel(16, registers, CommandsFirst, [1, 30, 4]), 256, 1.0, 5.0);
    }
    // If pages have priority, the dies stay synchronized: all pages are transferred, then all commands. The
    // commands end before the first page is ready.
    for (dies, clients) in [(4, 4), (16, 256)] {
        let turn_us = 4.0 * dies as f64 + 1.0 + 30.0;
        assert_us(channel(dies, 1, PagesFirst, [1, 30, 4]), clients, dies as f64, turn_us);
    }
    // Four pages have also waited longer than the first command, which is ready when the first page was
    // transferred.
    assert_us(channel(4, 1, FirstCome, [1, 30, 4]), 4, 4.0, 47.0);
    // With two registers, a die senses during the transfer of its last page if the command was sent first.
    assert_us(channel(1, 2, CommandsFirst, [1, 30, 4]), 8, 1.0, 31.0);
    // Otherwise, the page is sent first, because it is ready at the same time and belongs to an older read.
    assert_us(channel(1, 2, PagesFirst, [1, 30, 4]), 8, 1.0, 35.0);
    assert_us(channel(1, 2, FirstCome, [1, 30, 4]), 8, 1.0, 35.0);
}

#[test]
fn one_die_with_one_register_waits_as_pollaczek_and_khinchine_have_it() {
    let service = 35e-6;
    let rate = 0.7 / service;
    for arbitration in ALL {
        assert_mean("flash one die", service + md1_wait(rate, service), 0.03, |random| {
            let times: Vec<Time> = poisson(random.clone(), rate).take(20_000).collect();
            let channel = channel(1, 1, arbitration, [1, 30, 4]);
            let visits = serve(&channel, &vec![0; times.len()], Load::Open(&times));
            settled_mean(&visits.iter().map(|visit| visit.latency().as_secs_f64()).collect::<Vec<_>>())
        });
    }
}

#[test]
fn dies_behind_a_channel_that_takes_no_time_wait_each_by_itself() {
    let sense = 30e-6;
    let rate_of_each = 0.6 / sense;
    for registers in [1, 4] {
        assert_mean("flash eight dies", sense + md1_wait(rate_of_each, sense), 0.02, |random| {
            let dies: Vec<usize> = (0..20_000).map(|_| random.below(8) as usize).collect();
            let times: Vec<Time> = poisson(random.clone(), 8.0 * rate_of_each).take(dies.len()).collect();
            let visits = serve(&channel(8, registers, FirstCome, [0, 30, 0]), &dies, Load::Open(&times));
            settled_mean(&visits.iter().map(|visit| visit.latency().as_secs_f64()).collect::<Vec<_>>())
        });
    }
}

#[test]
fn the_mean_number_under_way_of_a_closed_loop_is_its_clients() {
    // Little's law: rate x mean latency over a long run.
    let dies: Vec<usize> = (0..20_000).map(|read| read * read % 7).collect();
    for arbitration in ALL {
        let summary =
            Summary::of(&serve(&channel(7, 2, arbitration, [1, 30, 4]), &dies, Load::Closed { clients: 16 }));
        let under_way = summary.per_second * summary.mean_s;
        assert!((under_way / 16.0 - 1.0).abs() < 0.01, "{under_way}");
    }
}
