//! The sample of `docs/write-a-resource-type.md`: it compiles, and the page shows it as it is.

mod pool;
mod pool_test;

#[test]
fn the_page_shows_the_sample_as_it_is() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/write-a-resource-type.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for (file, text) in
        [("pool.rs", include_str!("pool.rs")), ("pool_test.rs", include_str!("pool_test.rs"))]
    {
        let shown = format!("```rust\n{text}```\n");
        assert!(
            page.contains(&shown),
            "copy tests/sample/{file} into docs/write-a-resource-type.md"
        );
    }
}
