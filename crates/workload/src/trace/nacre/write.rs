//! Writer of the format. It writes block by block, which limits memory and keeps an incomplete file readable.

use super::column::{DECIMAL_UNITS, Layout, PADDING, differences, offsets, pack};
use super::{
    BLOCK_MARK, BLOCK_RECORDS, COLUMNS, LONGEST_NAMES, LONGEST_PROVENANCE, MAGIC, TRAILER_MARK, VERSION,
};
use crate::trace::error::TraceError;
use crate::trace::write::{Sink, TraceWriter, WriteOptions, Written};
use nacre_kernel::Request;

pub(super) struct Writer {
    sink: Sink,
    /// Requests collected for the current block, one column per field.
    columns: [Vec<u64>; COLUMNS],
    records: u64,
    names: Vec<u8>,
    block: Vec<u8>,
}

impl Writer {
    pub(super) fn new(
        sink: Box<dyn std::io::Write + Send>,
        options: &WriteOptions,
    ) -> Result<Writer, TraceError> {
        let provenance = options.provenance.as_bytes();
        if provenance.len() > LONGEST_PROVENANCE {
            return Err(TraceError::CannotHold {
                format: "nacre",
                what: format!("a provenance of {} bytes", provenance.len()),
                remedy: format!("shorten it to {LONGEST_PROVENANCE}"),
            });
        }
        let mut header = Vec::with_capacity(64 + provenance.len());
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&0u16.to_le_bytes());
        header.extend_from_slice(&(provenance.len() as u32).to_le_bytes());
        header.extend_from_slice(&u64::MAX.to_le_bytes());
        header.extend_from_slice(&i64::MIN.to_le_bytes());
        header.extend_from_slice(provenance);
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        let mut sink = Sink::new(sink);
        sink.write(&header)?;
        let columns = std::array::from_fn(|_| Vec::with_capacity(BLOCK_RECORDS));
        Ok(Writer { sink, columns, records: 0, names: Vec::new(), block: Vec::new() })
    }

    fn write_block(&mut self) -> Result<(), TraceError> {
        let count = self.columns[0].len();
        if count == 0 {
            return Ok(());
        }
        let layouts: [Layout; COLUMNS] = std::array::from_fn(|i| match i {
            0 => differences(&self.columns[0], &DECIMAL_UNITS),
            1 => {
                let (near, far) = (differences(&self.columns[1], &[]), offsets(&self.columns[1]));
                if near.width < far.width { near } else { far }
            }
            _ => offsets(&self.columns[i]),
        });
        let payload: usize = layouts.iter().map(|layout| layout.size(count)).sum::<usize>() + PADDING;
        let block = &mut self.block;
        block.clear();
        block.extend_from_slice(&BLOCK_MARK);
        block.extend_from_slice(&(count as u32).to_le_bytes());
        block.extend_from_slice(&(payload as u32).to_le_bytes());
        block.extend_from_slice(&[0; 4]);
        layouts.iter().for_each(|layout| layout.store(block));
        block.extend_from_slice(&[0; 8]);
        let begin = block.len();
        for (values, layout) in self.columns.iter().zip(layouts) {
            pack(values, layout, block);
        }
        block.extend_from_slice(&[0; PADDING]);
        let check = crc32fast::hash(&block[begin..]);
        block[12..16].copy_from_slice(&check.to_le_bytes());
        let check = crc32fast::hash(&block[..begin - 4]);
        block[begin - 4..begin].copy_from_slice(&check.to_le_bytes());
        self.sink.write(block)?;
        self.records += count as u64;
        self.columns.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

impl TraceWriter for Writer {
    fn write(&mut self, batch: &[Request]) -> Result<(), TraceError> {
        let mut rest = batch;
        while !rest.is_empty() {
            let room = BLOCK_RECORDS - self.columns[0].len();
            let (now, later) = rest.split_at(room.min(rest.len()));
            let [arrival, address, bytes, volume, op] = &mut self.columns;
            arrival.extend(now.iter().map(|request| request.arrival.as_ps()));
            address.extend(now.iter().map(|request| request.address));
            bytes.extend(now.iter().map(|request| u64::from(request.bytes)));
            volume.extend(now.iter().map(|request| u64::from(request.volume)));
            op.extend(now.iter().map(|request| request.op as u64));
            if self.columns[0].len() == BLOCK_RECORDS {
                self.write_block()?;
            }
            rest = later;
        }
        Ok(())
    }

    fn name_volumes(&mut self, names: &[String]) {
        self.names.clear();
        for name in names {
            let cut = name.len().min(usize::from(u16::MAX));
            self.names.extend_from_slice(&(cut as u16).to_le_bytes());
            self.names.extend_from_slice(&name.as_bytes()[..cut]);
        }
        if self.names.len() > LONGEST_NAMES {
            self.names.clear();
        }
    }

    fn finish(&mut self) -> Result<Written, TraceError> {
        self.write_block()?;
        let mut trailer = Vec::with_capacity(32 + self.names.len());
        trailer.extend_from_slice(&TRAILER_MARK);
        trailer.extend_from_slice(&(self.names.len() as u32).to_le_bytes());
        trailer.extend_from_slice(&self.records.to_le_bytes());
        trailer.extend_from_slice(&self.names);
        trailer.extend_from_slice(&crc32fast::hash(&trailer).to_le_bytes());
        self.sink.write(&trailer)?;
        Ok(Written { records: self.records, bytes: self.sink.finish()?, ..Written::default() })
    }
}
