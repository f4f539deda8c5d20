//! The simulator: against closed forms, against itself, and the documented scenarios run through it.

mod closed_forms;
mod conservation;
mod fairness;
mod gallery;
mod mistakes;
mod repeatability;
mod replay;
mod rows;
mod scores;
mod support;
mod training;
