//! Parameters of statements.

use rusqlite::ToSql;
use smallvec::SmallVec;

/// The parameters of a statement, in order: an array of values of one type, or `params![...]`.
pub(crate) trait SqlParams {
    /// Passes the values to `body`.
    fn with<T>(self, body: impl FnOnce(&[&dyn ToSql]) -> T) -> T;
}

impl SqlParams for &[&dyn ToSql] {
    fn with<T>(self, body: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        body(self)
    }
}

impl SqlParams for [&dyn ToSql; 0] {
    fn with<T>(self, body: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        body(&[])
    }
}

/// `[]` leaves the type of its values open; hence one implementation for each length.
macro_rules! arrays {
    ($($length:literal)*) => {$(
        impl<V: ToSql> SqlParams for [V; $length] {
            fn with<T>(self, body: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
                body(&self.iter().map(|value| value as &dyn ToSql).collect::<SmallVec<[&dyn ToSql; $length]>>())
            }
        }
    )*};
}

arrays!(1 2 3 4 5 6);
