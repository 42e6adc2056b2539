//! Request bodies with a timeout, against slow clients.

use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// A body that must be complete within a time limit.
pub(super) struct TimedBody<B> {
    inner: B,
    over: Pin<Box<Sleep>>,
}

impl<B> TimedBody<B> {
    pub(super) fn new(inner: B, within: Duration) -> Self {
        Self { inner, over: Box::pin(sleep(within)) }
    }
}

impl<B: Body<Error: std::fmt::Display> + Unpin> Body for TimedBody<B> {
    type Data = B::Data;
    type Error = String;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, String>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(|error| error.to_string()))),
            Poll::Pending => self.over.as_mut().poll(cx).map(|()| Some(Err("the body took too long".to_owned()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt as _, Full};
    use hyper::body::Bytes;

    /// A body that never arrives.
    struct PendingBody;

    impl Body for PendingBody {
        type Data = Bytes;
        type Error = String;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, String>>> {
            Poll::Pending
        }
    }

    #[test]
    fn a_body_that_does_not_come_ends_in_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let never = TimedBody::new(PendingBody, Duration::from_millis(20)).collect().await;
            assert_eq!(never.err().as_deref(), Some("the body took too long"));
            let whole = TimedBody::new(Full::new(Bytes::from_static(b"all")), Duration::from_secs(20)).collect().await;
            assert_eq!(whole.map(http_body_util::Collected::to_bytes), Ok(Bytes::from_static(b"all")));
        });
    }
}
