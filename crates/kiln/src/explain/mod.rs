//! The pages that explain diagnostic codes, one file per code.
//!
//! A page is a few sentences, then samples in fences. The first word after `yaml` is the role of a sample:
//! it `fails` with this code, it `works`, or it is used `with` the others. A file name may follow;
//! without one the sample is the template.

/// The source of a page.
pub(crate) struct Page {
    /// The code that the page explains.
    pub(crate) code: &'static str,
    text: &'static str,
}

/// A sample of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample<'a> {
    /// The role of the sample.
    pub(crate) role: SampleRole,
    /// The file name.
    pub(crate) file: &'a str,
    /// The text.
    pub(crate) text: &'a str,
}

/// The role of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleRole {
    /// The sample causes the finding.
    Fails,
    /// The corrected sample.
    Works,
    /// A file that both samples use.
    With,
}

impl Page {
    /// The page of a code, ignoring case.
    pub(crate) fn find(code: &str) -> Option<&'static Page> {
        PAGES.iter().find(|page| page.code.eq_ignore_ascii_case(code))
    }

    /// The text before the samples.
    pub(crate) fn sentences(&self) -> &'static str {
        self.text.split("```").next().unwrap_or_default().trim_end()
    }

    /// The samples in order.
    pub(crate) fn samples(&self) -> Vec<Sample<'static>> {
        // Fences come in pairs, so every second part is a sample.
        let fenced = self.text.split("```").skip(1).step_by(2);
        fenced.filter_map(sample).collect()
    }
}

fn sample(fenced: &str) -> Option<Sample<'_>> {
    let (head, text) = fenced.split_once('\n')?;
    let mut words = head.split_whitespace().skip(1);
    let role = match words.next()? {
        "fails" => SampleRole::Fails,
        "works" => SampleRole::Works,
        "with" => SampleRole::With,
        _ => return None,
    };
    Some(Sample { role, file: words.next().unwrap_or("template.yaml"), text })
}

macro_rules! page {
    ($code:literal) => {
        Page { code: $code, text: include_str!(concat!($code, ".md")) }
    };
}

/// All pages, sorted by code.
static PAGES: &[Page] = &[
    page!("K0101"),
    page!("K0102"),
    page!("K0103"),
    page!("K0104"),
    page!("K0105"),
    page!("K0106"),
    page!("K0107"),
    page!("K0201"),
    page!("K0202"),
    page!("K0203"),
    page!("K0204"),
    page!("K0301"),
    page!("K0302"),
    page!("K0303"),
    page!("K0304"),
    page!("K0305"),
    page!("K0306"),
    page!("K0307"),
    page!("K0308"),
    page!("K0401"),
    page!("K0402"),
    page!("K0403"),
    page!("K0404"),
    page!("K0405"),
    page!("K0406"),
    page!("K0407"),
    page!("K0408"),
    page!("K0409"),
    page!("K0410"),
    page!("K0411"),
    page!("K0412"),
    page!("K0413"),
    page!("K0414"),
    page!("K0501"),
    page!("K0502"),
    page!("K0503"),
    page!("K0504"),
    page!("K0601"),
    page!("K0602"),
    page!("K0603"),
    page!("K0604"),
    page!("K0701"),
    page!("K0702"),
    page!("K0703"),
    page!("K0704"),
    page!("K0705"),
    page!("K0801"),
    page!("K0901"),
    page!("K0902"),
    page!("K0903"),
    page!("K0904"),
    page!("K0905"),
    page!("K0906"),
    page!("K0907"),
    page!("K1001"),
    page!("K1002"),
    page!("K1003"),
    page!("K1004"),
    page!("K1101"),
    page!("K1102"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_template::codes;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let pages: Vec<&str> = PAGES.iter().map(|page| page.code).collect();
        let codes: Vec<&str> = codes::ALL.iter().map(|code| code.id).collect();
        assert_eq!(pages, codes);
    }

    #[test]
    fn pages_are_sentences_and_then_samples() {
        for page in PAGES {
            assert!(page.sentences().ends_with('.'), "{}", page.code);
            let fences = page.text.lines().filter(|line| line.starts_with("```yaml ")).count();
            let samples = page.samples();
            assert_eq!(samples.len(), fences, "{}", page.code);
            assert!(samples.iter().all(|sample| sample.text.ends_with('\n')), "{}", page.code);
            let count = |role| samples.iter().filter(|sample| sample.role == role).count();
            assert_eq!(count(SampleRole::Fails), count(SampleRole::Works), "{}", page.code);
        }
    }
}
