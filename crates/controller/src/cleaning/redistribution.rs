use super::View;

#[derive(Clone, Copy, Debug)]
pub struct Params { pub x: f64, pub gain: f64, pub max: f64, pub memory: f64, pub mode: u32, pub reserve: f64, pub wlow: f64, pub wmin: f64 }

pub struct Redistribution {
    pub p: Params,
    writes: Vec<f64>,
    at: Vec<u64>,
    start: u64,
}

impl Redistribution {
    pub fn new(p: Params) -> Self { Redistribution { p, writes: vec![], at: vec![], start: 0 } }

    fn learn(&mut self, view: &View<'_>) {
        let live: u64 = view.partitions.iter().map(|p| p.live).sum();
        if self.at.is_empty() {
            self.at = view.partitions.iter().map(|p| p.drained).collect();
            self.start = view.drained;
        }
        if ((view.drained - self.start) as f64) < live as f64 * self.p.wmin { return; }
        let new: Vec<f64> = view.partitions.iter().zip(&self.at).map(|(p, at)| (p.drained - at) as f64).collect();
        if self.writes.is_empty() { self.writes = new; }
        else { for (w, n) in self.writes.iter_mut().zip(new) { *w += (n - *w) / self.p.memory; } }
        self.at = view.partitions.iter().map(|p| p.drained).collect();
        self.start = view.drained;
    }

    pub fn shares(&mut self, view: &View<'_>, partition: usize) -> (u32, u32) {
        let n = view.partitions.len();
        let pages = f64::from(view.pages_per_segment);
        self.learn(view);
        let of = |q: usize| &view.partitions[q];
        let room = |q: usize| (of(q).count as f64 * pages - of(q).live as f64).max(1.0);
        let known = !self.writes.is_empty();
        let write = |q: usize| if known { self.writes[q].max(1.0) } else { 1.0 };
        let frequency = |q: usize| write(q) / room(q);
        let wanted = |q: usize| libm::sqrt(write(q) * of(q).live as f64);
        let (mut total_room, mut total_wanted) = (0.0, 0.0);
        let mut prefix = vec![(0.0, 0.0); n];
        for q in 0..n { total_room += room(q); total_wanted += wanted(q); prefix[q] = (total_room, total_wanted); }
        let scale = total_room / total_wanted;
        // pages that ought to cross the boundary behind q
        let excess = |q: usize| if known { prefix[q].1 * scale - prefix[q].0 } else { 0.0 };
        let spread = libm::log(write(0) / write(n - 1)).abs();
        let x = self.p.x * libm::sqrt(of(0).count as f64) + self.p.wlow * (spread * 0.5).min(1.0);
        let push = |q: usize, excess: f64| {
            let balance = (frequency(q) / frequency(partition)).min(1.0);
            let amount = x * pages * balance + self.p.gain * excess;
            let amount = amount.clamp(0.0, self.p.max * pages);
            let free = room(q) - if known { self.p.reserve * wanted(q) * scale } else { 0.02 * of(q).count as f64 * pages };
            (amount.min(free.max(0.0)) + 0.5) as u32
        };
        let lower = if partition > 0 { push(partition - 1, -excess(partition - 1)) } else { 0 };
        let higher = if partition + 1 < n { push(partition + 1, excess(partition)) } else { 0 };
        (lower, higher)
    }
}
