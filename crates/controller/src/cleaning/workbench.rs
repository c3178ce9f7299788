//! Cleaning mechanism without timing, with a simple page table. Tests of policies use this mechanism, and
//! tests of the device compare the device's mechanism with it.

use super::{Cleaner, Decision, Partition, SegmentState, View};
use nacre_kernel::{Random, Streams};

/// Marks an invalid or erased page.
const NONE: u32 = u32::MAX;

/// An array of segments with one spare segment, and its mapping of logical pages.
#[derive(Clone)]
pub(crate) struct Array {
    pages: u32,
    /// Physical page of each logical page.
    table: Vec<u32>,
    /// Logical page in each physical page, or `NONE` for invalid and erased pages.
    content: Vec<u32>,
    segment_at: Vec<u32>,
    place_of: Vec<usize>,
    partition_of: Vec<usize>,
    erases: Vec<u32>,
    spare: u32,
    places: Vec<SegmentState>,
    partitions: Vec<Partition>,
    drained: u64,
    /// Number of pages that cleaning programmed.
    copied: u64,
}

impl Array {
    /// An array of `segments` segments with `pages` pages each. The data segments are filled in logical order
    /// up to the utilization `live`.
    pub(crate) fn new(segments: u32, pages: u32, live: f64, cleaner: &dyn Cleaner) -> Array {
        let places = segments as usize - 1;
        let size = cleaner.partition_segments().map_or(places + 1, |size| size as usize);
        let mut array = Array {
            pages,
            table: Vec::new(),
            content: vec![NONE; (segments * pages) as usize],
            segment_at: (0..segments - 1).collect(),
            place_of: (0..segments as usize).collect(),
            partition_of: (0..places).map(|place| place / size).collect(),
            erases: vec![0; segments as usize],
            spare: segments - 1,
            places: vec![SegmentState::default(); places],
            partitions: Vec::new(),
            drained: 0,
            copied: 0,
        };
        for first in (0..places).step_by(size) {
            let count = size.min(places - first);
            array.partitions.push(Partition { first, count, active: first, ..Partition::default() });
        }
        let total = (f64::from(pages) * places as f64 * live).round() as usize;
        for place in 0..places {
            for _ in total * place / places..total * (place + 1) / places {
                array.table.push(NONE);
                array.program(place, array.table.len() as u32 - 1);
            }
        }
        array
    }

    /// Number of logical pages.
    pub(crate) fn len(&self) -> u32 {
        self.table.len() as u32
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            pages_per_segment: self.pages,
            places: &self.places,
            partitions: &self.partitions,
            drained: self.drained,
        }
    }

    /// Writes logical page `page` and drains it.
    pub(crate) fn write(&mut self, page: u32, cleaner: &mut dyn Cleaner) {
        let old = self.table[page as usize];
        let place = self.place_of[(old / self.pages) as usize];
        let partition = self.partition_of[place];
        self.invalidate(page);
        self.drained += 1;
        while !self.find_room(partition) {
            let decision = cleaner.decide(&self.view(), partition);
            self.clean(partition, decision);
        }
        let active = self.partitions[partition].active;
        self.program(active, page);
        self.places[active].written_at = self.drained;
        self.partitions[partition].drained += 1;
    }

    /// Writes and drains pages that the generator `writes` selects. The number of writes is `turnovers` times
    /// the number of logical pages. Returns the number of pages programmed by cleaning per written page.
    pub(crate) fn cost(&mut self, turnovers: f64, writes: &mut Writes, cleaner: &mut dyn Cleaner) -> f64 {
        let (copied, count) = (self.copied, (turnovers * f64::from(self.len())) as u64);
        for _ in 0..count {
            self.write(writes.draw(), cleaner);
        }
        (self.copied - copied) as f64 / count as f64
    }

    /// Panics if the state is inconsistent.
    pub(crate) fn check(&self) {
        let live: u64 = self.places.iter().map(|place| u64::from(place.live)).sum();
        assert_eq!(live, self.table.len() as u64, "every logical page is live once");
        for (page, &physical) in self.table.iter().enumerate() {
            assert_eq!(self.content[physical as usize], page as u32);
        }
        for partition in &self.partitions {
            let of = &self.places[partition.first..partition.first + partition.count];
            assert_eq!(partition.live, of.iter().map(|place| u64::from(place.live)).sum::<u64>());
        }
    }

    /// If the active segment is full, makes a segment with erased pages active. Returns false if the
    /// partition has no such segment, so that a segment must be cleaned.
    fn find_room(&mut self, partition: usize) -> bool {
        if self.room(partition) == 0 {
            let mut places = self.view().places_of(partition);
            let Some(open) = places.find(|&place| self.places[place].programmed < self.pages) else {
                return false;
            };
            self.partitions[partition].active = open;
        }
        true
    }

    fn room(&self, partition: usize) -> u32 {
        self.pages - self.places[self.partitions[partition].active].programmed
    }

    fn invalidate(&mut self, page: u32) {
        let old = self.table[page as usize];
        let place = self.place_of[(old / self.pages) as usize];
        self.content[old as usize] = NONE;
        self.places[place].live -= 1;
        self.partitions[self.partition_of[place]].live -= 1;
    }

    fn program(&mut self, place: usize, page: u32) {
        let physical = self.segment_at[place] * self.pages + self.places[place].programmed;
        assert!(self.places[place].programmed < self.pages, "the active segment has room");
        self.table[page as usize] = physical;
        self.content[physical as usize] = page;
        self.places[place].programmed += 1;
        self.places[place].live += 1;
        self.partitions[self.partition_of[place]].live += 1;
    }

    fn clean(&mut self, partition: usize, decision: Decision) {
        let Decision { victim, to_lower, to_higher, from_lower, from_higher } = decision;
        let view = self.view();
        let gains =
            view.invalid(victim) > 0 || view.places_of(partition).all(|place| view.invalid(place) == 0);
        assert!(
            gains && view.places_of(partition).contains(&victim),
            "{victim} is not a victim in {partition}"
        );
        let segment = self.segment_at[victim];
        let first = (segment * self.pages) as usize;
        let pages = &self.content[first..first + self.pages as usize];
        let live: Vec<u32> = pages.iter().copied().filter(|&page| page != NONE).collect();
        live.iter().for_each(|&page| self.invalidate(page));
        let fresh = std::mem::replace(&mut self.spare, segment);
        self.erases[segment as usize] += 1;
        self.segment_at[victim] = fresh;
        self.place_of[fresh as usize] = victim;
        self.places[victim] = SegmentState {
            erases: self.erases[fresh as usize],
            cleaned_at: self.drained,
            written_at: self.places[victim].written_at,
            ..SegmentState::default()
        };
        let lower = self.push_out(partition.checked_sub(1), to_lower, live.len());
        let higher = Some(partition + 1).filter(|&to| to < self.partitions.len());
        let higher = self.push_out(higher, to_higher, live.len() - lower.1);
        self.partitions[partition].active = victim;
        for (at, &page) in live.iter().enumerate() {
            let to = match () {
                () if at < higher.1 => higher.0,
                () if at >= live.len() - lower.1 => lower.0,
                () => partition,
            };
            self.program(self.partitions[to].active, page);
            self.partitions[to].moved_in += u64::from(to != partition);
        }
        let mut taken = 0;
        if let Some(lower) = partition.checked_sub(1).filter(|_| from_lower > 0) {
            let mut places = self.view().places_of(lower);
            let first = places.next().expect("a partition has places");
            let older = |first: usize, place: usize| {
                if self.places[place].cleaned_at < self.places[first].cleaned_at { place } else { first }
            };
            let oldest = places.fold(first, older);
            let pages: Vec<u32> = self.live_at(oldest).take(from_lower as usize).collect();
            taken += self.take_in(victim, &pages);
        }
        if let Some(higher) = self.partitions.get(partition + 1).filter(|_| from_higher > 0) {
            let mut pages: Vec<u32> = self.live_at(higher.active).collect();
            pages.reverse();
            pages.truncate(from_higher as usize);
            taken += self.take_in(victim, &pages);
        }
        let copied = live.len() as u64 + taken;
        self.copied += copied;
        self.partitions[partition].copied += copied;
        self.partitions[partition].cleanings += 1;
    }

    /// The valid logical pages at position `place`, in the order of their physical pages.
    fn live_at(&self, place: usize) -> impl Iterator<Item = u32> + '_ {
        let first = (self.segment_at[place] * self.pages) as usize;
        self.content[first..first + self.pages as usize].iter().copied().filter(|&page| page != NONE)
    }

    /// Moves `pages` from other positions to `place`, but leaves one page there erased. Returns the number of
    /// moved pages.
    fn take_in(&mut self, place: usize, pages: &[u32]) -> u64 {
        let room = (self.pages - self.places[place].programmed).saturating_sub(1) as usize;
        let partition = self.partition_of[place];
        for &page in pages.iter().take(room) {
            self.invalidate(page);
            self.program(place, page);
            self.partitions[partition].moved_in += 1;
        }
        pages.len().min(room) as u64
    }

    /// Returns the destination and the number of pages to move. This number is `wanted`, limited by the
    /// `live` valid pages of the victim and by the free space of `to`.
    fn push_out(&self, to: Option<usize>, wanted: u32, live: usize) -> (usize, usize) {
        to.map_or((0, 0), |to| (to, (wanted.min(self.room(to)) as usize).min(live)))
    }
}

/// A generator of page numbers to write. A configured share of the writes goes to a configured share of the
/// pages.
#[derive(Clone)]
pub(crate) struct Writes {
    random: Random,
    order: Vec<u32>,
    hot: u64,
    to_hot: f64,
}

impl Writes {
    /// A generator that sends the share `to_hot` of the writes to a share `hot` of the `pages` pages. The
    /// hot pages are the first pages or, if `scattered`, pages at random positions.
    pub(crate) fn new(pages: u32, hot: f64, to_hot: f64, scattered: bool, seed: u64) -> Writes {
        let mut random = Streams::new(seed).stream("writes");
        let mut order: Vec<u32> = (0..pages).collect();
        if scattered {
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last as u64 + 1) as usize);
            }
        }
        Writes { random, order, hot: (f64::from(pages) * hot) as u64, to_hot }
    }

    pub(crate) fn draw(&mut self) -> u32 {
        let pages = self.order.len() as u64;
        let at = if self.random.chance(self.to_hot) {
            self.random.below(self.hot)
        } else {
            self.hot + self.random.below(pages - self.hot)
        };
        self.order[at as usize]
    }
}
