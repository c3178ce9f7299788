//! Volumes of a trace, numbered densely in the order of first appearance.

use super::error::Fault;
use rustc_hash::FxHashMap;

/// Maximum number of volumes of a trace. The 2020 trace of Alibaba has 1000 volumes, and that of Tencent has
/// 4995. If a file has more volumes than this maximum, it was misread.
pub const MAX_VOLUMES: usize = 1 << 20;

/// Names and numbers of volumes.
#[derive(Debug)]
pub struct Volumes {
    names: Vec<String>,
    by_number: FxHashMap<u64, u32>,
    by_name: FxHashMap<Box<[u8]>, u32>,
    last_number: Option<(u64, u32)>,
    last_name: (Vec<u8>, u32),
}

impl Volumes {
    /// Creates a table without volumes.
    pub fn new() -> Volumes {
        Volumes {
            names: Vec::new(),
            by_number: FxHashMap::default(),
            by_name: FxHashMap::default(),
            last_number: None,
            last_name: (Vec::new(), u32::MAX),
        }
    }

    /// Returns the dense number of the volume that has number `number` in the file.
    #[inline]
    pub fn numbered(&mut self, number: u64) -> Result<u32, Fault> {
        match self.last_number {
            Some((last, index)) if last == number => Ok(index),
            _ => self.find_number(number, |number| number.to_string()),
        }
    }

    /// Returns the dense number of the volume that has number `number` in the file. `name` generates the name
    /// of a new volume.
    #[inline]
    pub fn numbered_as(&mut self, number: u64, name: fn(u64) -> String) -> Result<u32, Fault> {
        match self.last_number {
            Some((last, index)) if last == number => Ok(index),
            _ => self.find_number(number, name),
        }
    }

    fn find_number(&mut self, number: u64, name: fn(u64) -> String) -> Result<u32, Fault> {
        let index = match self.by_number.get(&number) {
            Some(&index) => index,
            None => {
                let index = self.add(name(number))?;
                self.by_number.insert(number, index);
                index
            }
        };
        self.last_number = Some((number, index));
        Ok(index)
    }

    /// Returns the dense number of the volume that has the name `name` in the file.
    #[inline]
    pub fn named(&mut self, name: &[u8]) -> Result<u32, Fault> {
        if self.last_name.1 != u32::MAX && self.last_name.0 == name {
            return Ok(self.last_name.1);
        }
        self.find_name(name)
    }

    fn find_name(&mut self, name: &[u8]) -> Result<u32, Fault> {
        let index = match self.by_name.get(name) {
            Some(&index) => index,
            None => {
                let index = self.add(name.escape_ascii().to_string())?;
                self.by_name.insert(name.into(), index);
                index
            }
        };
        self.last_name.0.clear();
        self.last_name.0.extend_from_slice(name);
        self.last_name.1 = index;
        Ok(index)
    }

    fn add(&mut self, name: String) -> Result<u32, Fault> {
        if self.names.len() >= MAX_VOLUMES {
            return Err(Fault::TOO_MANY_VOLUMES);
        }
        self.names.push(name);
        Ok(self.names.len() as u32 - 1)
    }

    /// Names of the volumes, indexed by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Default for Volumes {
    fn default() -> Volumes {
        Volumes::new()
    }
}
