//! Parsing of a template or environment into a tree: as JSON first, then as YAML.

use crate::codes;
use crate::diagnostic::{Diagnostic, Label};
use crate::document::{Entry, Node};
use crate::json;
use crate::limits::Limits;
use crate::source::{FileId, Span};
use crate::yaml;
use std::borrow::Cow;

/// The maximum number of warnings about one text: a hostile text can cause a hundred thousand.
const MAX_WARNINGS: usize = 100;

/// Reads a document; without a tree, the last of the diagnostics is an error and says why.
///
/// Empty text is null. If the text is neither JSON nor YAML, the error as YAML is reported,
/// and the error as JSON, too, if it looks like JSON.
pub fn read(file: FileId, text: &str, limits: &Limits) -> (Option<Node>, Vec<Diagnostic>) {
    let (node, findings) = json::read(file, text, limits);
    let failure = findings.last().filter(|last| last.code == &codes::SYNTAX && last.is_error());
    let Some(as_json) = failure else { return (node, findings) };
    let (node, mut findings) = yaml::read(file, text, limits);
    if let (None, Some(last), Some(span)) = (&node, findings.last_mut(), as_json.span())
        && text.trim_start().starts_with(['{', '['])
    {
        let note = format!("as JSON: {}", as_json.message);
        last.labels.push(Label { span, text: note });
    }
    (node, findings)
}

/// Reads a document from bytes: UTF-8, or UTF-16 if it begins with a byte order mark.
///
/// Spans count the bytes of the text in UTF-8, which [`decode`] returns.
pub fn read_bytes(file: FileId, bytes: &[u8], limits: &Limits) -> (Option<Node>, Vec<Diagnostic>) {
    if let Err(error) = check_size(file, bytes.len(), limits) {
        return (None, vec![*error]);
    }
    match decode(file, bytes) {
        Ok(text) => read(file, &text, limits),
        Err(error) => (None, vec![*error]),
    }
}

/// The text that bytes stand for: UTF-8, or UTF-16 if they begin with a byte order mark.
pub fn decode(file: FileId, bytes: &[u8]) -> Result<Cow<'_, str>, Box<Diagnostic>> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => {
            return std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
                let at = error.valid_up_to();
                let byte = bytes.get(at).copied().unwrap_or_default();
                let message = format!("the byte 0x{byte:02X} at offset {at} is not UTF-8");
                let span = Span::new(file, at, at + 1);
                Box::new(Diagnostic::error(&codes::SYNTAX, message).at(span))
            });
        }
    };
    let refuse = |at: usize, message: String| {
        Box::new(Diagnostic::error(&codes::SYNTAX, message).at(Span::new(file, at, at + 1)))
    };
    let (pairs, odd) = bytes.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(refuse(bytes.len() - 1, "half a character of UTF-16 at the end".into()));
    }
    let mut text = String::with_capacity(bytes.len());
    let mut at = 2;
    for decoded in char::decode_utf16(pairs.iter().skip(1).map(|pair| unit(*pair))) {
        let Ok(c) = decoded else {
            return Err(refuse(at, format!("half a character of UTF-16 at offset {at}")));
        };
        at += 2 * c.len_utf16();
        text.push(c);
    }
    Ok(Cow::Owned(text))
}

/// Rejects text above the size limit, in Heat's words.
pub(crate) fn check_size(
    file: FileId,
    bytes: usize,
    limits: &Limits,
) -> Result<(), Box<Diagnostic>> {
    let max = limits.max_bytes;
    if bytes <= max {
        return Ok(());
    }
    let message = format!(
        "Request limit exceeded: \
         Template size ({bytes} bytes) exceeds maximum allowed size ({max} bytes)."
    );
    Err(Box::new(Diagnostic::error(&codes::TOO_LARGE, message).at(Span::start_of(file))))
}

/// The message about a list or map that is nested too deeply.
pub(crate) fn too_deep(max_depth: usize) -> String {
    format!("lists and maps may be nested {max_depth} levels deep")
}

/// The beginning of a name, for a message: the name itself may be as long as the text.
pub(crate) fn excerpt(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match name.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(name),
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
    }
}

/// Warns of a duplicate key in a mapping, up to the maximum number of warnings.
pub(crate) fn warn_duplicate(findings: &mut Vec<Diagnostic>, first: &Entry, again: Span) {
    if findings.len() >= MAX_WARNINGS {
        return;
    }
    let key = excerpt(&first.key);
    let message = format!("duplicate key `{key}`; the last value is used");
    let warning = Diagnostic::warning(&codes::DUPLICATE_KEY, message)
        .label(again, "this value replaces the earlier one")
        .label(first.key_span, "first occurrence");
    findings.push(warning);
}
