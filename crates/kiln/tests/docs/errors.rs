//! The reference of errors, `docs/reference/error-codes.md`: the findings with their pages, and the error types of the APIs.

use super::{compare, root};
use kiln_engine::ErrorType;
use kiln_template::codes;
use std::fmt::Write;
use std::fs;

const HEAD: &str = "\
# Errors

Every mistake in a template has a code, which `kiln validate` shows and `kiln explain CODE` explains; the API sends it in `error.findings`. This page has
the same explanations, then the [error types](#error-types) of the APIs. Generated: `KILN_BLESS=1 cargo nextest run -p kiln docs::errors` writes it.
";

#[test]
fn the_page_of_the_errors_is_in_step() {
    let mut page = HEAD.to_owned();
    for code in codes::ALL {
        let path = root().join("crates/kiln/src/explain").join(format!("{}.md", code.id));
        let text = fs::read_to_string(path).expect("the page of a code");
        _ = write!(
            page,
            "\n## {}: {}\n\nThe API answers with the error type `{}`.\n\n{}",
            code.id,
            code.title,
            code.kind,
            samples(&text)
        );
    }
    page.push_str(
        "\n## Error types\n\nThe body of a failed request of the native API is `{\"code\": STATUS, \"title\": …, \"explanation\": …, \"error\": \
         {\"type\": TYPE, \"message\": …}}`; AWS tools get the code of the last column.\n\n\
         | status | type | AWS code |\n|---|---|---|\n",
    );
    for it in ErrorType::ALL {
        _ = writeln!(page, "| {} | `{}` | `{:?}` |", it.status(), it.name(), it.aws());
    }
    compare("error-codes.md", &page);
}

/// The page with the roles of its samples in words.
fn samples(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let file = line.split_whitespace().nth(2);
        let named = file.map(|it| format!(", `{it}`")).unwrap_or_default();
        match line.split_whitespace().nth(1) {
            Some("fails") if line.starts_with("```") => {
                _ = writeln!(out, "Fails{named}:\n\n```yaml")
            }
            Some("works") if line.starts_with("```") => {
                _ = writeln!(out, "Works{named}:\n\n```yaml")
            }
            Some("with") if line.starts_with("```") => _ = writeln!(out, "With{named}:\n\n```yaml"),
            _ => _ = writeln!(out, "{line}"),
        }
    }
    out
}
