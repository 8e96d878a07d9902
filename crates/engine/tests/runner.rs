//! Tests of the engine.
#![allow(unreachable_pub)]

mod lifecycle;
mod seeds;
mod simulation;
