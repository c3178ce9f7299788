//! Objects that have numbers and no addresses: where each is placed.

/// The distance between neighboring objects, unless the user gives another.
pub(super) const OBJECT_BYTES: u64 = 4096;
/// Places of objects are kept below this, which leaves room for the object itself.
const LAST_PLACE: u64 = 1 << 61;

/// Places objects at equal distances, and what there is to say about that.
pub(super) struct Objects {
    distance: u64,
    /// Objects whose number was too large to be a place.
    wrapped: u64,
    /// The size of the objects so far, while they have one.
    size: Size,
}

enum Size {
    None,
    One(u64),
    Several,
}

impl Objects {
    /// Places at this distance in bytes.
    pub(super) fn new(distance: u64) -> Objects {
        Objects { distance, wrapped: 0, size: Size::None }
    }

    /// Where the object of a number begins. A number that is too large loses its upper bits.
    #[inline]
    pub(super) fn place(&mut self, id: u64, bytes: u64) -> u64 {
        let places = LAST_PLACE / self.distance;
        self.wrapped += u64::from(id >= places);
        match self.size {
            Size::One(size) if size == bytes => {}
            Size::Several => {}
            Size::None => self.size = Size::One(bytes),
            Size::One(_) => self.size = Size::Several,
        }
        (id & (places - 1)) * self.distance
    }

    /// What the user should know about the addresses.
    pub(super) fn notes(&self) -> Vec<String> {
        let distance = self.distance;
        let mut notes = vec![format!(
            "object i begins at byte i * {distance}; the option page (--page) sets this distance"
        )];
        if let Size::One(size) = self.size
            && size != distance
        {
            notes.push(format!(
                "all objects have {size} B: if their ids count blocks of this size, neighbors lie {distance} B apart \
                 here and {size} B apart there; give page = {size}"
            ));
        }
        if self.wrapped > 0 {
            notes.push("some object ids are too large to be places and lost their upper bits".into());
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_all_objects_share_is_named_where_the_distance_is_another() {
        let mut objects = Objects::new(4096);
        assert_eq!([objects.place(1, 512), objects.place(9, 512)], [4096, 9 * 4096]);
        assert_eq!(objects.notes().len(), 2);
        assert!(objects.notes()[1].starts_with("all objects have 512 B"), "{:?}", objects.notes());
        objects.place(10, 1024);
        assert_eq!(objects.notes().len(), 1, "objects of several sizes do not say what ids count");
    }
}
