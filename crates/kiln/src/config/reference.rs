//! The reference page of all options, `docs/configuration.md`.

#[cfg(test)]
mod tests {
    use crate::config::option::OptionRow;
    use crate::config::{ACCEPTED, AcceptedRow, rows};
    use std::fmt::Write;
    use std::path::Path;

    /// The page: a table for each section.
    fn page() -> String {
        let mut page = "\
# Configuration

All options of a configuration file (`kiln server --config FILE`). The format is that of oslo.config, and the names are those of
Heat, so an existing `heat.conf` works unchanged; the section `[kiln]` has what Heat does not have. `kiln config list` prints these
tables; `kiln config list --config FILE` prints the effective values and where they come from.

The options of Heat that set nothing are [at the end](#options-that-set-nothing), each with the reason. When a server starts, it warns of
options that are not supported or not known, and lists those that are always on or not needed in one line.

This page is generated from the table of options in `crates/kiln/src/config/options/`: `KILN_BLESS=1 cargo test -p kiln
configuration` writes it.
"
        .to_owned();
        let mut rows: Vec<&OptionRow> = rows().collect();
        rows.sort_by_key(|row| (row.section != "DEFAULT", row.section, row.name));
        let mut section = "";
        for row in rows {
            if row.section != section {
                section = row.section;
                let head = "| option | type | default | meaning |\n|---|---|---|---|";
                writeln!(page, "\n## [{section}]\n\n{head}").unwrap();
            }
            writeln!(page, "{}", line(row)).unwrap();
        }
        let head = "| options | status | reason |\n|---|---|---|";
        writeln!(page, "\n## Options that set nothing\n\n{head}").unwrap();
        let mut accepted: Vec<&AcceptedRow> = ACCEPTED.iter().collect();
        accepted.sort_by_key(|row| (row.section != "DEFAULT", row.section));
        for AcceptedRow { section, names, acceptance, reason } in accepted {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            writeln!(page, "| `[{section}]` {} | {acceptance} | {reason} |", names.join(", "))
                .unwrap();
        }
        page
    }

    fn line(row: &OptionRow) -> String {
        let code = |text: String| match text.as_str() {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let range = row.setting.range().map(|range| format!(" ({range})")).unwrap_or_default();
        let older: Vec<String> =
            row.deprecated.iter().map(|(section, name)| format!("`[{section}] {name}`")).collect();
        let older = match older.as_slice() {
            [] => String::new(),
            names => format!(" Older names: {}.", names.join(", ")),
        };
        let default = code(row.setting.default());
        let kind = row.setting.type_name();
        format!("| `{}` | {kind}{range} | {default} | {}{older} |", row.name, row.help)
    }

    #[test]
    fn the_reference_of_the_configuration_is_in_step() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        let page = page();
        if std::env::var_os("KILN_BLESS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == page, "docs/configuration.md is stale: run with KILN_BLESS=1");
    }
}
