//! Limits on connections: in total and per address, with eviction of idle ones.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a connection must be idle before it can be evicted.
const IDLE: Duration = Duration::from_secs(1);
/// Interval at which a waiting connection looks for an idle one.
const LOOK: Duration = Duration::from_millis(100);

/// The open connections.
#[derive(Debug)]
pub(super) struct Guests {
    most: usize,
    /// Maximum number from one address; `None` is half of all, without a limit for this machine.
    from_one: Option<usize>,
    inner: Mutex<Inner>,
    left: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    count: u64,
    here: BTreeMap<u64, Here>,
}

#[derive(Debug)]
struct Here {
    peer: IpAddr,
    /// Number of authorised requests in progress.
    busy: usize,
    since: Instant,
    leave: CancellationToken,
}

/// An open connection, removed on drop.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Arc<Guests>,
    id: u64,
    /// Cancelled when the connection is evicted.
    pub(super) leave: CancellationToken,
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct Busy(Arc<Guest>);

impl Guests {
    pub(super) fn new(most: usize, from_one: Option<usize>) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), from_one, inner: Mutex::default(), left: Notify::new() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a connection can be accepted, evicting the longest idle one if necessary.
    pub(super) async fn room(&self) {
        loop {
            {
                let inner = self.inner();
                if inner.here.len() < self.most {
                    return;
                }
                inner.send_away(|_| true, IDLE);
            }
            drop(tokio::time::timeout(LOOK, self.left.notified()).await);
        }
    }

    /// Waits until all connections are closed.
    pub(super) async fn gone(&self) {
        while !self.inner().here.is_empty() {
            drop(tokio::time::timeout(LOOK, self.left.notified()).await);
        }
    }

    /// Accepts a connection, unless its address has reached its limit with busy connections only.
    pub(super) fn enter(self: &Arc<Self>, peer: IpAddr) -> Option<Arc<Guest>> {
        let peer = peer.to_canonical();
        let most = match self.from_one {
            Some(most) => most,
            None if peer.is_loopback() => usize::MAX,
            None => (self.most / 2).max(1),
        };
        let mut inner = self.inner();
        let alike = inner.here.values().filter(|one| one.peer == peer && !one.leave.is_cancelled()).count();
        if alike >= most && !inner.send_away(|one| one.peer == peer, Duration::ZERO) {
            return None;
        }
        inner.count += 1;
        let (id, leave) = (inner.count, CancellationToken::new());
        inner.here.insert(id, Here { peer, busy: 0, since: Instant::now(), leave: leave.clone() });
        Some(Arc::new(Guest { guests: Arc::clone(self), id, leave }))
    }
}

impl Inner {
    /// Evicts the connection that is idle longest, of those selected and idle for at least `least`. Returns whether there was one.
    fn send_away(&self, is_meant: impl Fn(&Here) -> bool, least: Duration) -> bool {
        let idle = self.here.values().filter(|one| one.busy == 0 && !one.leave.is_cancelled() && is_meant(one));
        let longest = idle.min_by_key(|one| one.since).filter(|one| one.since.elapsed() >= least);
        longest.inspect(|one| one.leave.cancel()).is_some()
    }
}

impl Guest {
    /// Counts an authorised request in progress until the returned guard is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        if let Some(here) = self.guests.inner().here.get_mut(&self.id) {
            here.busy += 1;
        }
        Busy(Arc::clone(self))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(here) = self.0.guests.inner().here.get_mut(&self.0.id) {
            here.busy = here.busy.saturating_sub(1);
            here.since = Instant::now();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.guests.inner().here.remove(&self.id);
        self.guests.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_idle_give_way_and_the_busy_stay() {
        let near: IpAddr = "127.0.0.1".parse().unwrap();
        let far: IpAddr = "192.0.2.7".parse().unwrap();
        let guests = Guests::new(4, None);
        let (one, two) = (guests.enter(far).unwrap(), guests.enter(far).unwrap());
        let work = one.busy();
        // Half of four are from this address: the idle connection is evicted, the busy one stays.
        let three = guests.enter(far).unwrap();
        assert_eq!((one.leave.is_cancelled(), two.leave.is_cancelled(), three.leave.is_cancelled()), (false, true, false));
        let (more, all) = (three.busy(), guests.enter("::ffff:192.0.2.7".parse().unwrap()));
        assert!(all.is_none());
        drop((work, two));
        // This machine may use all connections, and the longest idle one is evicted first.
        let local: Vec<_> = (0..2).map(|_| guests.enter(near).unwrap()).collect();
        let inner = guests.inner();
        assert_eq!(inner.here.len(), 4);
        assert!(!inner.send_away(|_| true, Duration::from_secs(60)) && inner.send_away(|_| true, Duration::ZERO));
        drop(inner);
        let went = [&one, &three, &local[0], &local[1]].map(|one| one.leave.is_cancelled());
        assert_eq!(went, [true, false, false, false]);
        drop(more);
    }
}
