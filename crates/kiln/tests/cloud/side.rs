//! Many stacks at once: several clouds side by side, with one stack at a time in each, so that every book is exact.

use super::kiln_process::KilnProcess;
use futures_util::future::join_all;
use std::cell::RefCell;
use std::collections::VecDeque;

/// So many clouds. Most of a stack's life is waiting, so there may be more of them than processors.
const CLOUDS: usize = 6;

/// Runs every case in the next cloud that is free; gives what each came to, in the order of their ends.
pub(crate) async fn side_by_side<Case, End>(
    cases: Vec<Case>,
    run: impl AsyncFn(&KilnProcess, Case) -> End,
) -> Vec<End> {
    with_clouds(&[], cases, run, |_| false).await
}

/// The same, with arguments for the program. After some ends the cloud is not used again.
pub(crate) async fn with_clouds<Case, End>(
    arguments: &[&str],
    cases: Vec<Case>,
    run: impl AsyncFn(&KilnProcess, Case) -> End,
    is_spoilt: impl Fn(&End) -> bool,
) -> Vec<End> {
    let clouds = CLOUDS.min(cases.len());
    let queue = RefCell::new(VecDeque::from(cases));
    let ends = RefCell::new(Vec::new());
    let next = || queue.borrow_mut().pop_front();
    let worker = async || {
        let mut kiln = KilnProcess::start(arguments).await;
        while let Some(case) = next() {
            let end = run(&kiln, case).await;
            if is_spoilt(&end) {
                kiln = KilnProcess::start(arguments).await;
            }
            ends.borrow_mut().push(end);
        }
    };
    join_all((0..clouds).map(|_| worker())).await;
    ends.into_inner()
}
