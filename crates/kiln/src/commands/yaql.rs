//! `kiln yaql`: evaluates a query.

use crate::cli::Yaql;
use crate::load::{self, LoadedDocument};
use crate::render::data;
use crate::render::names::Names;
use crate::render::terminal::Terminal;
use crate::render::texts::{MaskedRanges, SourceTexts};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_template::document::{Data as Read, Node};
use kiln_template::{Diagnostic, Sources, Span, codes, suggest};
use kiln_yaql::{Data, Environment, Error, ErrorKind, Expression, Options};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::Arc;

/// The file name of the expression in findings.
const NAME: &str = "expression";

pub(super) fn run(arguments: &Yaql, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let mut sources = Sources::new();
    let data = match &arguments.data {
        None => Data::Null,
        Some(path) => match load::document(path, &mut sources)? {
            LoadedDocument::Read(node) => as_data(&node),
            LoadedDocument::Refused(found) => {
                tell(&found, &sources, streams)?;
                return Ok(Verdict::Bad);
            }
        },
    };
    let root = match arguments.as_template {
        true => Data::Map(vec![("data".into(), data)]),
        false => data,
    };
    let usual = Options::default();
    let options = Options {
        limit_iterators: arguments.limit_iterators.unwrap_or(usual.limit_iterators),
        memory_quota: arguments.memory_quota.unwrap_or(usual.memory_quota),
        environment: Some(Arc::new(QueryLimits)),
        ..usual
    };
    let result = Expression::parse(&arguments.expression)
        .and_then(|expression| expression.evaluate(root.into(), &options))
        .and_then(|value| value.to_data());
    match result {
        Ok(result) => {
            writeln!(streams.out, "{}", data::json(&result, streams.out_is_terminal))?;
            Ok(Verdict::Good)
        }
        Err(error) => {
            let found = finding(&error, &arguments.expression, &options, &mut sources);
            tell(&[found], &sources, streams)?;
            Ok(Verdict::Bad)
        }
    }
}

fn tell(found: &[Diagnostic], sources: &Sources, streams: &mut Streams<'_>) -> io::Result<()> {
    let names = Names::default();
    let texts = SourceTexts::of(found, sources, &names, &MaskedRanges::new());
    let terminal = Terminal::new(&texts, &names, streams.width, streams.err_styled);
    found.iter().try_for_each(|found| writeln!(streams.err, "{}", terminal.finding(found)))
}

/// Turns an error into a finding that points into the expression.
fn finding(
    error: &Error,
    expression: &str,
    options: &Options,
    sources: &mut Sources,
) -> Diagnostic {
    let file = sources.add(NAME, expression);
    let mut found = Diagnostic::error(&codes::FUNCTION_FAILED, error.to_string());
    // Errors have character offsets, findings byte offsets.
    let byte =
        |at: usize| expression.char_indices().nth(at).map_or(expression.len(), |(byte, _)| byte);
    let end = expression.len();
    let place = match (error.kind(), error.span()) {
        (ErrorKind::UnexpectedEnd, None) => Some(end..end),
        (_, span) => span.map(|span| byte(span.start)..byte(span.end)),
    };
    if let Some(place) = place {
        found = found.at(Span::new(file, place.start, place.end));
    }
    found.help = match error.kind() {
        ErrorKind::UnknownFunction(name) | ErrorKind::UnknownMethod { name, .. } => {
            suggest::did_you_mean(name, kiln_yaql::function_names())
        }
        ErrorKind::CollectionTooLarge(_) => Some("--limit-iterators allows more".into()),
        ErrorKind::MemoryQuota => {
            Some(format!("--memory-quota allows more than {} bytes", options.memory_quota))
        }
        _ => None,
    };
    found
}

/// Converts a document to data. The recursion is bounded by the depth of the document.
fn as_data(node: &Node) -> Data {
    match &node.data {
        Read::Null => Data::Null,
        Read::Bool(flag) => Data::Bool(*flag),
        Read::Int(number) => Data::Int(number.clone()),
        Read::Float(number) => Data::Float(*number),
        Read::Text(text) => Data::Text(text.clone()),
        Read::List(items) => Data::List(items.iter().map(as_data).collect()),
        Read::Map(map) => {
            Data::Map(map.iter().map(|entry| (entry.key.clone(), as_data(&entry.value))).collect())
        }
    }
}

/// The resource limits of queries.
struct QueryLimits;

impl Environment for QueryLimits {
    fn now(&self) -> Option<i64> {
        load::now().as_micros().try_into().ok()
    }

    fn random(&self) -> Option<u64> {
        Some(RandomState::new().build_hasher().finish())
    }
}
