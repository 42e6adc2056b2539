pub mod sums;
