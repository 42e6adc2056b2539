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
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The open connections.
#[derive(Debug)]
pub(super) struct ConnectionLimits {
    limit: usize,
    /// Maximum number from one address; `None` is half of all, without a limit for this machine.
    per_address: Option<usize>,
    inner: Mutex<Inner>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    count: u64,
    open: BTreeMap<u64, ConnectionState>,
}

#[derive(Debug)]
struct ConnectionState {
    peer: IpAddr,
    /// Number of authorised requests in progress.
    busy: usize,
    since: Instant,
    leave: CancellationToken,
}

/// An open connection, removed on drop.
#[derive(Debug)]
pub(super) struct ClientConnection {
    connections: Arc<ConnectionLimits>,
    id: u64,
    /// Cancelled when the connection is evicted.
    pub(super) leave: CancellationToken,
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct BusyGuard(Arc<ClientConnection>);

impl ConnectionLimits {
    pub(super) fn new(limit: usize, per_address: Option<usize>) -> Arc<Self> {
        Arc::new(Self { limit: limit.max(1), per_address, inner: Mutex::default(), closed: Notify::new() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a connection can be accepted, evicting the longest idle one if necessary.
    pub(super) async fn wait_for_capacity(&self) {
        loop {
            {
                let inner = self.inner();
                if inner.open.len() < self.limit {
                    return;
                }
                inner.evict(|_| true, IDLE);
            }
            drop(tokio::time::timeout(POLL_INTERVAL, self.closed.notified()).await);
        }
    }

    /// Waits until all connections are closed.
    pub(super) async fn wait_until_empty(&self) {
        while !self.inner().open.is_empty() {
            drop(tokio::time::timeout(POLL_INTERVAL, self.closed.notified()).await);
        }
    }

    /// Accepts a connection, unless its address has reached its limit with busy connections only.
    pub(super) fn enter(self: &Arc<Self>, peer: IpAddr) -> Option<Arc<ClientConnection>> {
        let peer = peer.to_canonical();
        let limit = match self.per_address {
            Some(limit) => limit,
            None if peer.is_loopback() => usize::MAX,
            None => (self.limit / 2).max(1),
        };
        let mut inner = self.inner();
        let alike = inner.open.values().filter(|one| one.peer == peer && !one.leave.is_cancelled()).count();
        if alike >= limit && !inner.evict(|one| one.peer == peer, Duration::ZERO) {
            return None;
        }
        inner.count += 1;
        let (id, leave) = (inner.count, CancellationToken::new());
        inner.open.insert(id, ConnectionState { peer, busy: 0, since: Instant::now(), leave: leave.clone() });
        Some(Arc::new(ClientConnection { connections: Arc::clone(self), id, leave }))
    }
}

impl Inner {
    /// Evicts the connection that is idle longest, of those selected and idle for at least `least`. Returns whether there was one.
    fn evict(&self, selects: impl Fn(&ConnectionState) -> bool, least: Duration) -> bool {
        let idle = self.open.values().filter(|one| one.busy == 0 && !one.leave.is_cancelled() && selects(one));
        let longest = idle.min_by_key(|one| one.since).filter(|one| one.since.elapsed() >= least);
        longest.inspect(|one| one.leave.cancel()).is_some()
    }
}

impl ClientConnection {
    /// Counts an authorised request in progress until the returned guard is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> BusyGuard {
        if let Some(open) = self.connections.inner().open.get_mut(&self.id) {
            open.busy += 1;
        }
        BusyGuard(Arc::clone(self))
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        if let Some(open) = self.0.connections.inner().open.get_mut(&self.0.id) {
            open.busy = open.busy.saturating_sub(1);
            open.since = Instant::now();
        }
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.connections.inner().open.remove(&self.id);
        self.connections.closed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn idle_connections_are_evicted_and_busy_ones_stay() {
        let near: IpAddr = "127.0.0.1".parse().unwrap();
        let far: IpAddr = "192.0.2.7".parse().unwrap();
        let connections = ConnectionLimits::new(4, None);
        let (one, two) = (connections.enter(far).unwrap(), connections.enter(far).unwrap());
        let work = one.busy();
        // Half of four are from this address: the idle connection is evicted, the busy one stays.
        let three = connections.enter(far).unwrap();
        assert_eq!((one.leave.is_cancelled(), two.leave.is_cancelled(), three.leave.is_cancelled()), (false, true, false));
        let (more, all) = (three.busy(), connections.enter("::ffff:192.0.2.7".parse().unwrap()));
        assert!(all.is_none());
        drop((work, two));
        // This machine may use all connections, and the longest idle one is evicted first.
        let local: Vec<_> = (0..2).map(|_| connections.enter(near).unwrap()).collect();
        let inner = connections.inner();
        assert_eq!(inner.open.len(), 4);
        assert!(!inner.evict(|_| true, Duration::from_secs(60)) && inner.evict(|_| true, Duration::ZERO));
        drop(inner);
        let evicted = [&one, &three, &local[0], &local[1]].map(|one| one.leave.is_cancelled());
        assert_eq!(evicted, [true, false, false, false]);
        drop(more);
    }
}
