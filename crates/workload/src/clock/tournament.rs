//! The places of a closed loop: which of them falls free first.

use nacre_kernel::Time;
use nacre_kernel::state::State;
use std::hint::select_unpredictable;

/// A place, and when it falls free.
type Place = (Time, u32);

/// Places that fall free at times of their own, played off against each other in pairs (a tree of losers: Knuth, "The Art of
/// Computer Programming" 3, 5.4.1).
///
/// The place that is first is given another time with every request. Which pairs it plays in follows from its number
/// alone, so that a processor reads them ahead, and who loses is chosen without a branch. A heap's ways depend on
/// the times: on each level a processor waits or guesses.
#[derive(Clone, Debug, State)]
#[state(after = "Tournament::check")]
pub(super) struct Tournament {
    /// How many there are. Up to a power of two others play, which are never free.
    #[state(same)]
    places: u32,
    first: Place,
    /// Who lost in each pair. Pair 1 is the last one, and those who won in pairs 2 n and 2 n + 1 play in pair n. Nobody
    /// plays in pair 0.
    losers: Vec<Place>,
}

impl Tournament {
    /// So many `places`, at least one, that are free at `time`.
    pub(super) fn new(places: u32, time: Time) -> Tournament {
        let count = (places as usize).next_power_of_two();
        let place = |number| (if number < places as usize { time } else { Time::MAX }, number as u32);
        let mut winners: Vec<Place> = (0..count).chain(0..count).map(place).collect();
        let mut losers = vec![(Time::ZERO, 0); count];
        for pair in (1..count).rev() {
            (winners[pair], losers[pair]) = (winners[2 * pair], winners[2 * pair + 1]);
        }
        Tournament { places, first: winners[1], losers }
    }

    /// When the place that is first falls free.
    #[inline]
    pub(super) fn first(&self) -> Time {
        self.first.0
    }

    /// The place that is first falls free at `time` instead.
    #[inline]
    pub(super) fn replace_first(&mut self, time: Time) {
        let mut winner = (time, self.first.1);
        let mut pair = (self.losers.len() + winner.1 as usize) / 2;
        while pair > 0 {
            let place = self.losers[pair];
            let wins = place.0 < winner.0;
            let choose = |one: Place, other: Place| {
                (select_unpredictable(wins, one.0, other.0), select_unpredictable(wins, one.1, other.1))
            };
            self.losers[pair] = choose(winner, place);
            winner = choose(place, winner);
            pair /= 2;
        }
        self.first = winner;
    }

    /// Plays all again. Errors: what was read is no tournament.
    fn check(&mut self) -> Result<(), String> {
        let wrong = || String::from("the places of a closed loop are out of order");
        let count = self.losers.len();
        let mut winners = vec![None; 2 * count];
        for &place in self.losers[1..].iter().chain([&self.first]) {
            let leaf = winners.get_mut(count + place.1 as usize).ok_or_else(wrong)?;
            if place.1 >= self.places && place.0 != Time::MAX {
                return Err(wrong());
            }
            *leaf = Some(place);
        }
        let time = |place: Option<Place>| place.map(|(time, _)| time);
        for pair in (1..count).rev() {
            let (loser, played) = (Some(self.losers[pair]), [winners[2 * pair], winners[2 * pair + 1]]);
            winners[pair] = if played[0] == loser { played[1] } else { played[0] };
            if !played.contains(&loser) || time(winners[pair]) > time(loser) {
                return Err(wrong());
            }
        }
        if winners[1] == Some(self.first) { Ok(()) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::Streams;
    use nacre_kernel::state::{restored, saved};

    #[test]
    fn the_place_that_is_free_first_is_first() {
        let mut random = Streams::new(1).stream("times");
        for places in 1..70 {
            let origin = Time::from_ns(random.below(10));
            let mut tournament = Tournament::new(places, origin);
            let mut free = vec![origin; places as usize];
            for _ in 0..500 {
                let first = (0..free.len()).min_by_key(|&place| free[place]).expect("there is a place");
                assert_eq!(tournament.first(), free[first]);
                // Few different times, so that many fall free together.
                free[first] += Time::from_ns(random.below(20));
                tournament.replace_first(free[first]);
                tournament.check().expect("it is one");
            }
        }
    }

    #[test]
    fn a_state_that_no_games_lead_to_is_refused() {
        let mut tournament = Tournament::new(5, Time::ZERO);
        (1..20).for_each(|time| tournament.replace_first(Time::from_ns(time)));
        let state = saved(&tournament).expect("it can be saved");
        restored(&mut Tournament::new(5, Time::ZERO), &state).expect("it was saved");
        restored(&mut Tournament::new(6, Time::ZERO), &state).expect_err("it has five places");
        let broken: [fn(&mut Tournament); 5] = [
            |one| one.first.0 = Time::MAX,
            |one| one.first.1 = 8,
            |one| one.losers[3] = one.losers[2],
            |one| one.losers.swap(1, 7),
            |one| one.losers.iter_mut().for_each(|place| place.0 = place.0.min(Time::from_s(1))),
        ];
        for breaks in broken {
            let mut one = tournament.clone();
            breaks(&mut one);
            let state = saved(&one).expect("it can be saved");
            restored(&mut Tournament::new(5, Time::ZERO), &state).expect_err("no games lead to it");
        }
    }
}
