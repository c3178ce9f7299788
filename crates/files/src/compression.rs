//! Compressed files, which are recognized by content when read and by name when written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// zstd compression level, which is a good compromise between speed and size for traces.
const ZSTD_LEVEL: i32 = 9;
/// xz compression level, which is the default of xz.
const XZ_LEVEL: u32 = 6;

/// Decompresses `source` if it starts with the magic number of gzip, zstd, or xz. Concatenated members are
/// decompressed one after the other.
pub fn decompressed(mut source: Box<dyn BufRead + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    let head = source.fill_buf()?;
    let buffered = |reader: Box<dyn io::Read + Send>| BufReader::with_capacity(super::BUFFER_BYTES, reader);
    Ok(if head.starts_with(&[0x1f, 0x8b]) {
        Box::new(buffered(Box::new(flate2::bufread::MultiGzDecoder::new(source))))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(buffered(Box::new(zstd::stream::read::Decoder::with_buffer(source)?)))
    } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        Box::new(buffered(Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(source))))
    } else {
        source
    })
}

/// Writer to a file, with the compression that the suffix of the file selects.
pub(crate) enum Compressor {
    /// Uncompressed.
    Plain(BufWriter<File>),
    /// gzip.
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    /// Zstandard.
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<File>>),
    /// xz.
    Xz(liblzma::write::XzEncoder<BufWriter<File>>),
}

impl Compressor {
    /// Creates a writer to `file`, with the compression that the suffix of `path` selects.
    pub(crate) fn new(file: BufWriter<File>, path: &Path) -> io::Result<Compressor> {
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => {
                Compressor::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Some("zst") => Compressor::Zstd(zstd::stream::write::Encoder::new(file, ZSTD_LEVEL)?),
            Some("xz") => Compressor::Xz(liblzma::write::XzEncoder::new(file, XZ_LEVEL)),
            _ => Compressor::Plain(file),
        })
    }

    /// Writes buffered data and returns the file. Returns an error e.g. if the disk is full.
    pub(crate) fn finish(self) -> io::Result<File> {
        let file = match self {
            Compressor::Plain(file) => file,
            Compressor::Gzip(encoder) => encoder.finish()?,
            Compressor::Zstd(encoder) => encoder.finish()?,
            Compressor::Xz(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// Returns the writer for the uncompressed data.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        match self {
            Compressor::Plain(writer) => writer,
            Compressor::Gzip(writer) => writer,
            Compressor::Zstd(writer) => writer,
            Compressor::Xz(writer) => writer,
        }
    }
}
