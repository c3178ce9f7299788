//! Addresses of objects that a trace identifies by numbers instead of addresses.

/// Default distance between adjacent objects in bytes.
pub(super) const OBJECT_BYTES: u64 = 4096;
/// Maximum address of an object, in bytes. The limit leaves space for the object itself.
const LAST_PLACE: u64 = 1 << 61;

/// Places objects at equal distances, and collects notes for the user.
pub(super) struct Objects {
    distance: u64,
    /// Number of accesses to objects whose number was too large for an address.
    wrapped: u64,
    /// Size of the objects so far, if they all have the same size.
    size: Size,
}

enum Size {
    None,
    One(u64),
    Several,
}

impl Objects {
    /// Creates a mapping in which adjacent objects start `distance` bytes apart.
    pub(super) fn new(distance: u64) -> Objects {
        Objects { distance, wrapped: 0, size: Size::None }
    }

    /// Address of the object with the number `id`. If the number is too large, its upper bits are dropped.
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

    /// Notes on the addresses, for the user.
    pub(super) fn notes(&self) -> Vec<String> {
        let distance = self.distance;
        let mut notes = vec![format!(
            "object i begins at byte i * {distance}; the option page (--page) sets this distance"
        )];
        if let Size::One(size) = self.size
            && size != distance
        {
            notes.push(format!(
                "all objects have {size} B: if their ids are numbers of blocks of this size, neighbors are \
                 {distance} B apart instead of {size} B; then set page = {size}"
            ));
        }
        if self.wrapped > 0 {
            notes.push("some object ids are too large for addresses and lost their upper bits".into());
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
