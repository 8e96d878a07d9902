//! The Markdown pages of the documentation, and the blocks in them.

use super::root;
use crate::test_directory::TestDirectory;
use std::fs;
use std::path::{Path, PathBuf};

/// A fenced block of a page.
pub(super) struct Block {
    /// The word behind the fence, such as `yaml`.
    pub(super) kind: String,
    /// The file that the block is: a name in backticks alone on the line before it.
    pub(super) file: Option<String>,
    pub(super) text: String,
    /// The number of the line with the fence.
    pub(super) line: usize,
}

/// A page of the documentation.
pub(super) struct Page {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Page {
    /// The name in messages: the path within the repository.
    pub(super) fn name(&self) -> String {
        let path = self.path.strip_prefix(root()).unwrap_or(&self.path);
        path.display().to_string()
    }

    /// The blocks in order.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let (mut open, mut file): (Option<Block>, Option<String>) = (None, None);
        for (at, line) in self.text.lines().enumerate() {
            match (&mut open, line.trim_start().strip_prefix("```")) {
                (Some(_), Some("")) => blocks.extend(open.take()),
                (Some(block), _) => block.text += &format!("{line}\n"),
                (None, Some(kind)) => {
                    let (kind, file) = (kind.to_owned(), file.take());
                    open = Some(Block { kind, file, text: String::new(), line: at + 1 });
                }
                (None, None) if line.is_empty() => (),
                (None, None) => {
                    let name = line.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
                    file = name.filter(|it| !it.contains(['`', ' '])).map(str::to_owned);
                }
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name());
        blocks
    }
}

/// All pages, those of the reference included.
pub(super) fn all() -> Vec<Page> {
    let mut pages = Vec::new();
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
    for name in top {
        pages.push(read(&root().join(name)));
    }
    collect(&root().join("docs"), &mut pages);
    pages
}

fn read(path: &Path) -> Page {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Page { path: path.to_owned(), text }
}

fn collect(folder: &Path, pages: &mut Vec<Page>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|it| it == "md") {
            pages.push(read(&path));
        }
    }
}

/// Every whole template in a page is valid. Those of the page of errors have tests of their own, and files of a page with
/// sessions are used there.
#[test]
fn every_template_in_the_pages_is_valid() {
    let mut count = 0;
    for page in all().iter().filter(|page| !page.path.ends_with("reference/error-codes.md")) {
        let blocks = page.blocks();
        let directory = TestDirectory::with(&[]);
        for block in &blocks {
            if let Some(file) = &block.file {
                directory.put(file, block.text.as_bytes());
            }
        }
        let has_session = blocks.iter().any(|it| it.kind == "console");
        let is_template = |it: &&Block| {
            let is_used = has_session && it.file.is_some();
            it.kind == "yaml" && it.text.contains("_template_version:") && !is_used
        };
        for block in blocks.iter().filter(is_template) {
            let file = block.file.as_deref().unwrap_or("template.yaml");
            directory.put(file, block.text.as_bytes());
            let run = directory.run(&["validate", file]);
            let found = format!("{}{}", run.out, run.err);
            assert_eq!(run.status, 0, "{}:{}: {found}", page.name(), block.line);
            count += 1;
        }
    }
    assert!(count > 3, "{count} templates were found");
}

/// A file that pages show is the same in all of them, and in `examples/tutorial`.
#[test]
fn files_in_the_pages_are_those_of_the_examples() {
    let folder = root().join("examples/tutorial");
    let tutorials = all().into_iter().filter(|page| page.path.ends_with("tutorial.md"));
    for page in tutorials {
        for block in page.blocks() {
            let Some(file) = &block.file else { continue };
            let path = folder.join(file);
            if std::env::var_os("KILN_BLESS").is_some() && !page.name().contains("zh") {
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(&path, &block.text).expect("the file is written");
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            let place = format!("{}:{}", page.name(), block.line);
            assert_eq!(kept, block.text, "{place}: {file} is another one in examples/tutorial");
        }
    }
}
