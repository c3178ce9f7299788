//! Opens a trace: selects format, time unit, and events, and checks the options.

use super::detect::{detect, format_named};
use super::error::TraceError;
use super::options::{Action, Options, TimeUnit};
use super::reader::{Feed, Reader};
use super::source::Source;
use super::tally::Log;
use super::{Format, OpenOptions, Several, TraceReader};

/// Maximum number of inputs of one trace, which limits memory (256 KiB per input). The limit exceeds the
/// number of processors of any machine.
const MOST_SOURCES: usize = 4096;

/// Opens a trace in one or several sources.
///
/// The format is given in `options` or detected. Invalid options cause an error here. Invalid content causes
/// an error at the first [`TraceReader::read`].
pub fn open(sources: Vec<Source>, options: &Options) -> Result<Box<dyn TraceReader>, TraceError> {
    let mut sources = sources;
    let format = choose(&mut sources, options)?;
    check(format, &sources, options)?;
    let (action, mut notes) = choose_action(format, &mut sources, options)?;
    if let Some(unit) = options.time_unit {
        notes.push(format!("times are in {}, as selected", unit.name()));
    }
    let unit = options.time_unit.or(format.time_unit).unwrap_or(TimeUnit::Ns);
    if let (None, Some(other)) = (options.time_unit, format.unit_unsaid) {
        notes.push(format!(
            "times are taken to be {}, which the file does not say; {other}: give time_unit",
            unit.name()
        ));
    }
    let page_bytes = options.page_bytes.or(format.page_bytes).unwrap_or(0);
    let mut feeds = Vec::with_capacity(sources.len());
    for mut source in sources {
        let head = source.head()?;
        let decoder = (format.open)(&OpenOptions { unit, page_bytes, head, action })?;
        let log = Log::new(source.name(), format.kind, options.strict, options.time_unit);
        feeds.push(Feed::new(source, decoder, log));
    }
    Ok(Box::new(Reader::new(format, feeds, options.time_unit, notes)))
}

fn choose(sources: &mut [Source], options: &Options) -> Result<&'static Format, TraceError> {
    if sources.is_empty() || sources.len() > MOST_SOURCES {
        return Err(TraceError::Option {
            option: "files".into(),
            problem: format!("a trace has 1 to {MOST_SOURCES} files, not {}", sources.len()),
            remedy: "name the files of one trace".into(),
        });
    }
    if let Some(kind) = &options.format {
        return format_named(kind);
    }
    for source in sources.iter_mut() {
        let name = source.name().to_string();
        let head = source.head()?;
        if !head.bytes.is_empty() {
            return detect(&name, head);
        }
    }
    let name = sources[0].name().to_string();
    detect(&name, sources[0].head()?)
}

fn check(format: &Format, sources: &[Source], options: &Options) -> Result<(), TraceError> {
    if sources.len() > 1 && format.several == Several::One {
        return Err(TraceError::Option {
            option: format!("{} files", sources.len()),
            problem: format!("the clocks and volumes of several {} files cannot be related", format.kind),
            remedy: "name one file".into(),
        });
    }
    if let Some(unit) = options.time_unit.filter(|_| !format.unit_varies) {
        return Err(TraceError::Option {
            option: format!("time unit {}", unit.name()),
            problem: match format.time_unit {
                Some(own) => format!("times of {} are in {} by definition", format.kind, own.name()),
                None => format!("{} has no times", format.kind),
            },
            remedy: "remove it".into(),
        });
    }
    let with_pages = format.page_bytes.is_some();
    match options.page_bytes {
        Some(bytes) if !with_pages || !bytes.is_power_of_two() || !(512..=1 << 30).contains(&bytes) => {
            Err(TraceError::Option {
                option: format!("page size {bytes}"),
                problem: if with_pages {
                    "it is not a power of two from 512 to 2^30".into()
                } else {
                    format!("{} gives its addresses in bytes or sectors", format.kind)
                },
                remedy: "remove it for the default of the format".into(),
            })
        }
        _ => Ok(()),
    }
}

/// Selects the event that counts as a request, for formats with several events per request. Also returns
/// notes that give the reason.
fn choose_action(
    format: &Format,
    sources: &mut [Source],
    options: &Options,
) -> Result<(Action, Vec<String>), TraceError> {
    let Some(has_queue) = format.queued else {
        if options.action.is_some() {
            return Err(TraceError::Option {
                option: "action".into(),
                problem: format!("{} records one event per request", format.kind),
                remedy: "remove it".into(),
            });
        }
        return Ok((Action::Queue, Vec::new()));
    };
    if let Some(action) = options.action {
        return Ok((action, vec![format!("requests are the {} events, as selected", action.letter())]));
    }
    for source in sources {
        if has_queue(source.head()?) {
            let note = "requests are the Q (queued) events; action D selects those issued to the driver";
            return Ok((Action::Queue, vec![note.into()]));
        }
    }
    let note =
        "requests are the D (issued to the driver) events: the head of the trace has no Q (queued) ones";
    Ok((Action::Issue, vec![note.into()]))
}
