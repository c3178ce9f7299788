//! Accounting of media operations: counts by kind and cause, times, and energies.
//!
//! A medium has a few kinds of operations, e.g. reads, programs, and erases. The controller that issues an
//! operation counts it here, and charges the busy time of the hardware. Each operation of a kind has the same
//! energy. Energy is modeled only if the energies of all kinds are known, because a sum would count missing
//! energies as zero.

use nacre_config::Reader;
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Energy, Ledger, Power, Time};

/// Energy of one operation of each kind, in addition to idle power. `None` if the energies are unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies<const KINDS: usize>(Option<[Energy; KINDS]>);

impl<const KINDS: usize> Energies<KINDS> {
    /// Energies from settings. If a setting is missing, all energies are unknown.
    #[must_use]
    pub fn of(each: [Option<Energy>; KINDS]) -> Energies<KINDS> {
        let is_known = each.iter().all(Option::is_some);
        Energies(is_known.then(|| each.map(|energy| energy.expect("all are given"))))
    }

    /// Energies of operations that `parts` units perform together.
    #[must_use]
    pub fn times(self, parts: f64) -> Energies<KINDS> {
        Energies(self.0.map(|each| each.map(|energy| Energy(energy.0 * parts))))
    }

    /// Whether the energies are known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// Energy of `count` operations of one kind. Zero if the energies are unknown.
    #[must_use]
    pub fn of_many(&self, kind: usize, count: u64) -> Energy {
        self.0.map_or(Energy(0.0), |each| Energy(each[kind].0 * count as f64))
    }
}

/// Reports an error if some energies are missing, or if only idle power is given. Missing values would
/// otherwise count as zero.
pub fn check_energies(reader: &mut Reader<'_>, energies: &[(&str, Option<Energy>)], idle: Option<Power>) {
    let missing = missing(energies.iter().map(|(name, energy)| (*name, energy.is_some())));
    let given = energies.iter().find_map(|&(name, energy)| Some((name, energy?.to_string())));
    let given = given.or_else(|| Some(("idle_power", idle?.to_string())));
    report_missing(reader, given, &missing, "no energy and no idle_power");
}

/// Reports an error if only some of the powers are given.
pub fn check_powers(reader: &mut Reader<'_>, powers: &[(&str, Option<Power>)]) {
    check_together(reader, powers.iter().map(|(name, power)| (*name, power.map(|power| power.to_string()))));
}

/// Reports an error if only some of the energies are given, for a medium without idle power.
pub fn check_work(reader: &mut Reader<'_>, energies: &[(&str, Option<Energy>)]) {
    let shown = |energy: Option<Energy>| energy.map(|energy| energy.to_string());
    check_together(reader, energies.iter().map(|&(name, energy)| (name, shown(energy))));
}

/// Reports an error if only some of the settings are given. `settings` has their names and values.
pub fn check_together<'a>(
    reader: &mut Reader<'_>,
    settings: impl Iterator<Item = (&'a str, Option<String>)> + Clone,
) {
    let missing = missing(settings.clone().map(|(name, value)| (name, value.is_some())));
    let given = settings.into_iter().find_map(|(name, value)| Some((name, value?)));
    report_missing(reader, given, &missing, "none of them");
}

fn missing<'a>(settings: impl Iterator<Item = (&'a str, bool)>) -> String {
    let missing: Vec<&str> = settings.filter(|&(_, is_given)| !is_given).map(|(name, _)| name).collect();
    missing.join(", ")
}

fn report_missing(reader: &mut Reader<'_>, given: Option<(&str, String)>, missing: &str, or: &str) {
    let Some((name, given)) = given else { return };
    if !missing.is_empty() {
        let problem = format!("energy also needs {missing}");
        reader.conflict(name, &given, &problem, &format!("also set {missing}, or {or}"));
    }
}

/// Number of operations of a medium by kind and activity, and busy times, since measurement started.
#[derive(Clone, Debug, PartialEq, Value)]
pub struct Charges<const KINDS: usize> {
    busy: Ledger,
    counts: [[u64; Activity::COUNT]; KINDS],
}

impl<const KINDS: usize> Default for Charges<KINDS> {
    fn default() -> Charges<KINDS> {
        Charges { busy: Ledger::default(), counts: [[0; Activity::COUNT]; KINDS] }
    }
}

impl<const KINDS: usize> Charges<KINDS> {
    /// Charges `time` of a unit of the medium to `activity`.
    #[inline]
    pub fn charge(&mut self, activity: Activity, time: Time) {
        self.busy.charge(activity, time);
    }

    /// Refunds time that was charged but in which a unit was not busy, because power failed earlier.
    pub fn give_back(&mut self, activity: Activity, time: Time) {
        self.busy.give_back(activity, time);
    }

    /// Refunds `count` operations of one kind that never started.
    pub fn give_back_count(&mut self, kind: usize, activity: Activity, count: u64) {
        let counted = &mut self.counts[kind][activity as usize];
        *counted = counted.saturating_sub(count);
    }

    /// Counts `count` operations of one kind.
    #[inline]
    pub fn count(&mut self, kind: usize, activity: Activity, count: u64) {
        self.counts[kind][activity as usize] += count;
    }

    /// Number of operations of one kind for `activity`.
    #[inline]
    #[must_use]
    pub fn counted(&self, kind: usize, activity: Activity) -> u64 {
        self.counts[kind][activity as usize]
    }

    /// Adds the counts and charges of `other`.
    pub fn add(&mut self, other: &Charges<KINDS>) {
        self.busy.add(&other.busy);
        for (sums, counts) in self.counts.iter_mut().zip(&other.counts) {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Time and energy by activity.
    #[must_use]
    pub fn ledger(&self, energies: &Energies<KINDS>) -> Ledger {
        let mut ledger = self.busy.clone();
        for kind in 0..KINDS {
            for activity in Activity::ALL {
                let count = self.counted(kind, activity);
                if count > 0 {
                    ledger.charge_energy(activity, energies.of_many(kind, count));
                }
            }
        }
        ledger
    }
}

#[cfg(test)]
mod tests;
