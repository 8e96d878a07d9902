//! Plain tables: columns as wide as needed, with two spaces between them.

use super::{BOLD, printable, styled};
use std::io::{self, Write};

/// Writes a table. The last column is not padded.
pub(crate) fn write<const N: usize>(
    out: &mut dyn Write,
    is_styled: bool,
    head: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let mut widths = head.map(width);
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(&printable(cell)).max(*widest);
        }
    }
    line(out, &widths, &head, |cell| styled(is_styled, BOLD, cell).into_owned())?;
    rows.iter().try_for_each(|row| {
        let cells = row.each_ref().map(|cell| printable(cell));
        line(out, &widths, &cells.each_ref().map(|cell| &**cell), str::to_owned)
    })
}

fn line<const N: usize>(
    out: &mut dyn Write,
    widths: &[usize; N],
    cells: &[&str; N],
    style: impl Fn(&str) -> String,
) -> io::Result<()> {
    for (at, (cell, widest)) in cells.iter().zip(widths).enumerate() {
        let is_last = cells[at + 1..].iter().all(|cell| cell.is_empty());
        write!(out, "{}", style(cell))?;
        if is_last {
            break;
        }
        write!(out, "{:blanks$}", "", blanks = widest - width(cell) + 2)?;
    }
    writeln!(out)
}

/// The width of text, counting each character as one column.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_have_no_blanks_at_their_ends() {
        let mut out = Vec::new();
        let rows = [["a".into(), "long cell".into()], ["bcdé".into(), String::new()]];
        write(&mut out, false, ["N", "ABOUT"], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "N     ABOUT\na     long cell\nbcdé\n");
    }
}
