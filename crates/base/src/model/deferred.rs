//! A value that is made when it is first asked for.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

type Make<T> = Box<dyn FnOnce() -> T + Send + Sync>;

/// A value that is made once, when it is first asked for, for all clones and threads. Cloning costs one reference count.
pub struct Deferred<T>(Arc<LazyLock<T, Make<T>>>);

impl<T> Deferred<T> {
    /// A value that this function makes.
    pub fn new(make: impl FnOnce() -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }

    /// A value that is there.
    pub fn ready(value: T) -> Self
    where
        T: Send + Sync + 'static,
    {
        let deferred = Self::new(move || value);
        LazyLock::force(&deferred.0);
        deferred
    }
}

impl<T> Clone for Deferred<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Deferred<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
