//! Stories made up from seeds.

use crate::simulation::story::stories;

#[test]
fn stories_end_well() {
    match stories(0..20_000) {
        Ok(stories) => println!("20000 stories, {} places to die at", stories.boundaries),
        Err(flaws) => panic!("{flaws}"),
    }
}

/// Seeds beyond the usual ones whose stories once ended badly.
const KEPT: [u64; 3] = [39_588, 61_684, 148_360];

#[test]
fn stories_that_once_ended_badly_end_well() {
    for seed in KEPT {
        if let Err(flaws) = stories(seed..seed + 1) {
            panic!("{flaws}");
        }
    }
}
