//! Servers, volumes, images and what belongs to them, against a small cloud in memory.

mod cases;
mod cloud;
mod handlers;
mod key_pairs;
mod lives;
mod servers;
mod volumes;
