//! Cleaning policies: which segment to clean, and where its valid pages go. One module per policy.
//!
//! Segments (erase blocks) with data have *positions*, numbered from zero. One or more erased segments are
//! spares. Adjacent positions form *partitions*. Each partition has one *active* segment, which receives the
//! pages that the write buffer drains into the partition. When it is full, the policy selects a victim in the
//! same partition. The device implements the mechanism: it copies the valid pages of the victim in order to
//! the head of an erased segment. That segment takes over the position of the victim and becomes the active
//! one. The victim is erased and becomes a spare.
//!
//! A policy receives a read-only [`View`] and returns a [`Decision`]; it cannot move a page. All policies,
//! including those of users, therefore share one mechanism.

mod redistribution;

pub mod cost_benefit;
pub mod d_choices;
pub mod external;
pub mod fifo;
pub mod greedy;
pub mod hybrid;
pub mod locality_gathering;
pub mod product_average;

#[cfg(test)]
pub(crate) use nacre_testkit::cleaning_laws as laws;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod trial;
#[cfg(test)]
pub(crate) mod workbench;

use nacre_config::{ErrorCode, Families, Family, Problem, Problems, Slot, Table, model_of};
use nacre_device::Builder;
use nacre_kernel::Random;
use nacre_kernel::state::{State, Value};

/// The family of cleaning policies.
#[derive(Debug)]
pub struct CleaningFamily;

impl Family for CleaningFamily {
    const NAME: &'static str = "cleaning";
    type Built = Box<dyn Cleaner>;
    type Context<'a> = dyn CleaningContext + 'a;
}

/// Services that the constructor of a policy can use.
pub trait CleaningContext {
    /// All component families, needed to read the configuration of a slot.
    fn families(&self) -> &dyn Families;

    /// Number of segments of the array, including spare segments.
    fn segments(&self) -> u32;

    /// The random stream with this name.
    fn random(&self, name: &str) -> Random;

    /// Returns the policy that the user registered under this name, e.g. a Python function. Returns an error
    /// if no policy has this name.
    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Cleaner>, Problems>;
}

/// Builds the policy that `slot` describes, for an array of `segments` segments.
pub fn build(
    slot: &Slot<CleaningFamily>,
    segments: u32,
    builder: &mut dyn Builder,
) -> Result<Box<dyn Cleaner>, Problems> {
    (model_of(MODELS, slot).build)(slot, &mut Context { segments, builder })
}

/// Construction context of a policy, which forwards calls to the device's builder.
struct Context<'a> {
    segments: u32,
    builder: &'a mut dyn Builder,
}

impl CleaningContext for Context<'_> {
    fn families(&self) -> &dyn Families {
        self.builder.families()
    }

    fn segments(&self) -> u32 {
        self.segments
    }

    fn random(&self, name: &str) -> Random {
        self.builder.random(name)
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Cleaner>, Problems> {
        let policy = self.builder.external_policy(CleaningFamily::NAME, path, name)?;
        let cleaner = policy.downcast::<Box<dyn Cleaner>>();
        Ok(*cleaner.expect("only cleaning policies can be brought, as every caller knows"))
    }
}

/// The policies, in documentation order.
pub static MODELS: &Table<CleaningFamily> = &[
    greedy::MODEL,
    fifo::MODEL,
    locality_gathering::MODEL,
    product_average::MODEL,
    hybrid::MODEL,
    cost_benefit::MODEL,
    d_choices::MODEL,
    external::MODEL,
];

/// A policy that selects the victim and the destinations of its valid pages.
pub trait Cleaner: State + Send {
    /// Number of positions per partition, or `None` if all positions form one partition. The last partition
    /// may have fewer positions, because spare segments have no position.
    fn partition_segments(&self) -> Option<u32> {
        None
    }

    /// Selects the segment to clean when the active segment of `partition` is full.
    ///
    /// The victim may be the active segment, but must be eligible (see [`View::fitness`]). The mechanism
    /// calls this function only if the partition has an eligible segment. The mechanism panics if the
    /// victim is not eligible, because cleaning would never end.
    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision;

    /// Number of spare segments of `partition` below which cleaning starts. A device with paced cleaning
    /// calls this function whenever the host opens a segment. The result is valid until the next call and
    /// must be within the bounds in `erased`.
    fn keeps_erased(&mut self, _view: &View<'_>, _partition: usize, erased: Erased) -> u32 {
        erased.least
    }
}

/// Bounds for the spare segments of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    /// Current number of spare segments.
    pub now: u32,
    /// Minimum number of spare segments at all times, i.e. the reserve.
    pub least: u32,
    /// Maximum number of spare segments, given the number of segments with data.
    pub most: u32,
}

/// Decision of a policy: the segment to clean, and the valid pages to move between partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Position of the segment to clean.
    pub victim: usize,
    /// Number of valid pages to move from the end of the victim to the active segment of the previous
    /// partition. Fewer pages move if that segment does not have enough space.
    pub to_lower: u32,
    /// Number of valid pages to move from the head of the victim to the active segment of the next
    /// partition. Fewer pages move if that segment does not have enough space.
    pub to_higher: u32,
    /// Number of valid pages to copy from the previous partition after the valid pages of the victim. They
    /// come from the head of the least recently cleaned segment of the previous partition. If that segment
    /// has fewer valid pages, all of them are copied. One page of the receiving segment always stays
    /// erased.
    pub from_lower: u32,
    /// Number of valid pages to copy from the end of the active segment of the next partition. The limits
    /// of `from_lower` also apply here.
    pub from_higher: u32,
}

impl Decision {
    /// A decision to clean the segment at `victim` and keep its valid pages together.
    pub fn clean(victim: usize) -> Decision {
        Decision { victim, to_lower: 0, to_higher: 0, from_lower: 0, from_higher: 0 }
    }
}

/// Reason why a segment cannot be a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The segment is in another partition or has no position.
    Elsewhere,
    /// The segment has no invalid page, so cleaning it gains no space.
    GainsNothing,
}

/// Returns the victim that `cleaner` selects in `partition`, which must have a segment with an invalid page.
///
/// # Panics
///
/// Panics if the victim is not eligible.
pub fn decide(cleaner: &mut dyn Cleaner, view: &View<'_>, partition: usize) -> Decision {
    let decision = cleaner.decide(view, partition);
    let fitness = view.fitness(partition, decision.victim);
    assert_eq!(fitness, Ok(()), "{decision:?} in partition {partition}: {:?}", view.places_of(partition));
    decision
}

/// A read-only view of the array, for a policy.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Number of pages per segment.
    pub pages_per_segment: u32,
    /// Segments by position.
    pub places: &'a [SegmentState],
    /// Partitions, in the order of their positions.
    pub partitions: &'a [Partition],
    /// Number of pages drained from the write buffer so far. [`SegmentState`] measures times in drained
    /// pages.
    pub drained: u64,
}

/// The segment at one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct SegmentState {
    /// Number of pages programmed since the erase, valid or not.
    pub programmed: u32,
    /// Number of valid pages.
    pub live: u32,
    /// Number of erases of the segment over its lifetime.
    pub erases: u32,
    /// Time of the last cleaning in drained pages. The value 0 means that the segment was never cleaned.
    pub cleaned_at: u64,
    /// Time at which the segment received its last page from the write buffer, in drained pages. When a
    /// segment is cleaned, the segment that receives its pages takes over this time.
    pub written_at: u64,
}

/// Adjacent positions that share one active segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Partition {
    /// First position.
    #[state(same)]
    pub first: usize,
    /// Number of positions.
    #[state(same)]
    pub count: usize,
    /// Position of the active segment.
    pub active: usize,
    /// Number of valid pages at all positions of the partition.
    pub live: u64,
    /// Number of pages that the write buffer drained into the partition.
    pub drained: u64,
    /// Number of pages that cleaning moved into the partition from other partitions.
    pub moved_in: u64,
    /// Number of cleanings of segments in the partition.
    pub cleanings: u64,
    /// Number of valid pages that cleanings of segments in the partition copied.
    pub copied: u64,
}

impl View<'_> {
    /// Positions of `partition`.
    pub fn places_of(&self, partition: usize) -> std::ops::Range<usize> {
        let Partition { first, count, .. } = self.partitions[partition];
        first..first + count
    }

    /// Number of invalid pages of the segment at `place`, which cleaning reclaims.
    pub fn invalid(&self, place: usize) -> u32 {
        let SegmentState { programmed, live, .. } = self.places[place];
        programmed.saturating_sub(live)
    }

    /// Whether the segment at `place` can be a victim in `partition`.
    pub fn fitness(&self, partition: usize, place: usize) -> Result<(), Unfit> {
        if !self.places_of(partition).contains(&place) {
            return Err(Unfit::Elsewhere);
        }
        if self.invalid(place) == 0 { Err(Unfit::GainsNothing) } else { Ok(()) }
    }

    /// Positions of `partition`, least recently cleaned first. Ties and positions that were never cleaned are
    /// in circular order after the active segment.
    pub fn by_age(&self, partition: usize) -> std::vec::IntoIter<usize> {
        let mut places: Vec<usize> = self.places_of(partition).collect();
        places.sort_unstable_by_key(|&place| self.age_rank(partition, place));
        places.into_iter()
    }

    /// Returns the least recently cleaned position of `partition` that has an invalid page. Ties are in the
    /// order of [`View::by_age`]. If no position has an invalid page, returns the least recently cleaned
    /// position.
    pub fn oldest(&self, partition: usize) -> usize {
        let rank =
            |&place: &usize| (self.fitness(partition, place).is_err(), self.age_rank(partition, place));
        self.places_of(partition).min_by_key(rank).expect("a partition has places")
    }

    fn age_rank(&self, partition: usize, place: usize) -> (u64, usize) {
        let Partition { count, active, .. } = self.partitions[partition];
        (self.places[place].cleaned_at, (place + count - active - 1) % count)
    }
}

/// Checks that all partitions have equal size, i.e. that `size` divides `segments`.
fn check_partitions(size: u32, segments: u32, path: &str) -> Result<(), Problems> {
    if segments.is_multiple_of(size) {
        return Ok(());
    }
    let divides = |size: &u32| segments.is_multiple_of(*size);
    let below = (1..size.min(segments)).rev().find(divides).expect("1 divides every number");
    let nearest = match (size + 1..=segments).find(divides) {
        Some(above) => format!("{below} or {above}, the nearest that divide them"),
        None => format!("at most {segments}, which is one partition"),
    };
    let problem = format!("the array's {segments} segments do not divide into partitions of this size");
    let problem = Problem::new(
        ErrorCode::ConflictingSettings,
        &format!("{path}.segments_per_partition"),
        None,
        problem,
    )
    .given(size);
    Err(problem.remedy(format!("use {nearest}, or another number of segments")).into())
}
