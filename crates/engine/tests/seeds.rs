//! Stories made up from seeds.

use crate::simulation::story::stories;

#[test]
fn stories_end_well() {
    match stories(0..20_000) {
        Ok(boundaries) => println!("20000 stories, {boundaries} places to die at"),
        Err(flaws) => panic!("{flaws}"),
    }
}
