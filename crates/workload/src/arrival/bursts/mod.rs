//! Bursts: an open loop with alternating bursts and pauses of random length.
//!
//! # Model
//! The lengths of bursts and pauses are exponentially distributed. Requests arrive as a Poisson process, with
//! the rate `rate` during a burst and `idle_rate` during a pause. The result is a Markov-modulated Poisson
//! process with two states. The process starts with a burst. The mean rate is (`rate` * `on` + `idle_rate` *
//! `off`) / (`on` + `off`).
//!
//! # Not modeled
//! The model omits a daily rhythm, burstiness on several time scales, and heavy-tailed pauses.
//!
//! # Sources
//! fischer-1993: Fischer and Meier-Hellstern, "The Markov-modulated Poisson process (MMPP) cookbook",
//! Performance Evaluation 18, section 2.
//!
//! # Checks
//! The tests compare the mean rate and the share of time in each state with their closed forms. Over long
//! windows, the index of dispersion of counts is 1 + 2 (l1 - l2)^2 r1 r2 / ((r1 + r2)^2 (l1 r2 + l2 r1)).
//! Here, l1 is `rate`, l2 is `idle_rate`, r1 is 1 / `on`, and r2 is 1 / `off`.

use super::{Arrival, ArrivalClock, ArrivalFamily};
use crate::error::WorkloadError;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Rate, Request, Time};

/// Bursts and pauses of random length.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Mean request rate within a burst.
    #[config(min = "0.000001 /s", max = "1000 GHz")]
    pub rate: Rate,
    /// Mean request rate between bursts.
    #[config(default = "0 /s", max = "1000 GHz", source = "assumed: no requests during pauses")]
    pub idle_rate: Rate,
    /// Mean length of a burst.
    #[config(min = "1 ns")]
    pub on: Time,
    /// Mean length of a pause.
    #[config(min = "1 ns")]
    pub off: Time,
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<ArrivalFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "bursts",
        "bursts and pauses of random length, with Poisson arrivals in each burst and pause (open loop)",
        &["fischer-1993"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let states = [(config.rate, config.on), (config.idle_rate, config.off)];
        Ok(Box::new(Bursts::new(states, builder.random(slot.path()), slot.path())))
    },
};

/// One of the two states of the process.
struct Phase {
    /// Mean gap between arrivals in picoseconds, or infinity if the state has no arrivals.
    gap_ps: f64,
    /// Mean length in picoseconds.
    length_ps: f64,
}

#[derive(State)]
struct Bursts {
    #[state(skip = "from the configuration")]
    states: [Phase; 2],
    in_pause: bool,
    /// Time from the latest arrival to the end of the state, in picoseconds.
    left_ps: f64,
    random: Random,
    clock: ArrivalClock,
}

impl Bursts {
    fn new(states: [(Rate, Time); 2], mut random: Random, path: &str) -> Bursts {
        let states =
            states.map(|(rate, length)| Phase { gap_ps: 1e12 / rate.0, length_ps: length.as_ps() as f64 });
        let left_ps = random.exponential() * states[0].length_ps;
        Bursts { states, in_pause: false, left_ps, random, clock: ArrivalClock::new(path) }
    }

    /// Time to the next arrival in picoseconds. At the end of a state, the gap is sampled again, which is
    /// correct because exponential gaps are memoryless.
    #[inline]
    fn gap_ps(&mut self) -> f64 {
        let mut passed = 0.0;
        loop {
            let state = &self.states[usize::from(self.in_pause)];
            if state.gap_ps.is_finite() {
                let gap = self.random.exponential() * state.gap_ps;
                if gap < self.left_ps {
                    self.left_ps -= gap;
                    return passed + gap;
                }
            }
            passed += self.left_ps;
            if passed > Time::MAX.as_ps() as f64 {
                return passed;
            }
            self.in_pause = !self.in_pause;
            self.left_ps = self.random.exponential() * self.states[usize::from(self.in_pause)].length_ps;
        }
    }
}

impl Arrival for Bursts {
    fn stamp(&mut self, requests: &mut [Request]) -> Result<(), WorkloadError> {
        for request in requests {
            let gap = (self.gap_ps() + 0.5) as u64;
            request.arrival = self.clock.after(Time::from_ps(gap))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
