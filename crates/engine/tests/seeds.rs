//! Stories made up from seeds.

use crate::exhaustive::reached_by_stories;
use crate::simulation::story::stories;

#[test]
fn stories_end_well_and_reach_every_transition() {
    let mut stories = match stories(0..20_000) {
        Ok(stories) => stories,
        Err(flaws) => panic!("{flaws}"),
    };
    println!("20000 stories, {} places to die at", stories.boundaries);
    // What a seed does not reach has a story of its own.
    stories.reached.add(&reached_by_stories());
    let never = stories.reached.counts().filter(|(_, count)| *count == 0);
    let never: Vec<&str> = never.map(|(transition, _)| transition.description()).collect();
    assert!(never.is_empty(), "never reached: {never:#?}");
}

/// Seeds beyond the usual ones whose stories once ended badly.
const KEPT: [u64; 11] = [
    28_623, 56_223, 59_820, 116_902, 138_154, 183_173, 217_891, 256_785, 526_738, 743_912, 839_787,
];

#[test]
fn stories_that_once_ended_badly_end_well() {
    for seed in KEPT {
        if let Err(flaws) = stories(seed..seed + 1) {
            panic!("{flaws}");
        }
    }
}
