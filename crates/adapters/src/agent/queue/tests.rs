//! Tests of the assignment of steps and the handling of answers.

use super::*;
use crate::agent::AnswererKind;
use asterisk_base::clock::Deadline;
use serde_json::json;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks on a future without a runtime.
fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// The output of a future that is ready.
fn now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn settings(lease: Duration) -> AgentSettings {
    let mut settings = AgentSettings::of(AnswererKind::Mcp);
    settings.bounds.timeout = lease;
    settings
}

const LONG: Duration = Duration::from_secs(600);

fn task(id: i64) -> Task {
    let text = |what: &str| format!("{what}-{id}");
    Task {
        dispatch_id: id,
        request: id,
        ticket: String::new(),
        case_id: text("case"),
        step: "F0_LOOK".into(),
        node: "look".into(),
        path: "1".into(),
        prompt: text("prompt"),
    }
}

fn got(pulled: PullResult) -> Task {
    match pulled {
        PullResult::Task(task, _) => *task,
        PullResult::Over(closed) => panic!("{closed:?}"),
    }
}

fn answer(number: i64) -> SubmittedArtifact {
    SubmittedArtifact { artifact: json!({ "of": number }), tokens: (None, None) }
}

#[test]
fn the_oldest_step_goes_to_the_longest_waiting_worker() {
    let queue = StepQueue::new(0);
    let mut pulls: Vec<PullFuture> = ["ann", "bob", "ann"].into_iter().map(|worker| queue.pull(worker)).collect();
    assert!(pulls.iter_mut().all(|pull| now(pull).is_none()));
    let offers: Vec<Offer<'_>> = (1..=4).map(|id| queue.offer(task(id), &settings(LONG))).collect();
    let ids: Vec<i64> = pulls.iter_mut().map(|pull| got(now(pull).expect("there")).dispatch_id).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(queue.standing().0, 1);
    let health: Vec<(String, usize, &str)> = queue.health().into_iter().map(|one| (one.worker, one.holding, one.state)).collect();
    assert_eq!(health, [("ann".into(), 2, "working"), ("bob".into(), 1, "working")]);
    drop(offers);
    assert_eq!(queue.standing().0, 0);
}

#[test]
fn answers_find_their_step_in_any_order() {
    let queue = StepQueue::new(0);
    thread::scope(|scope| {
        let walks: Vec<_> = (1..=20)
            .map(|id| {
                let queue = &queue;
                scope.spawn(move || {
                    let offer = queue.offer(task(id), &settings(LONG));
                    let StepEvent::Submitted(submitted) = offer.wait(None) else { panic!("no answer") };
                    offer.accept();
                    queue.recorded(id);
                    (id, submitted.artifact)
                })
            })
            .collect();
        let mut tasks: Vec<Task> = (0..20).map(|_| got(wait(queue.pull("w")))).collect();
        tasks.reverse();
        for task in tasks {
            let submitted = queue.submit(task.dispatch_id, &task.ticket, answer(task.dispatch_id)).expect("there");
            assert_eq!(wait(submitted), SubmitOutcome::Accepted);
        }
        for walk in walks {
            let (id, artifact) = walk.join().expect("ended");
            assert_eq!(artifact, json!({ "of": id }));
        }
    });
    assert_eq!(queue.health()[0].accepted, 20);
}

#[test]
fn rejected_answers_have_distinct_errors() {
    let queue = StepQueue::new(0);
    let offer = queue.offer(task(1), &settings(LONG));
    let _other = queue.offer(task(2), &settings(LONG));
    assert_eq!(queue.submit(1, "", answer(1)).expect_err("refused"), SubmitError::NotYours(1));
    let mine = got(wait(queue.pull("ann")));
    let theirs = got(wait(queue.pull("bob")));
    assert_ne!(mine.ticket, theirs.ticket);
    assert_eq!(queue.submit(9, &mine.ticket, answer(9)).expect_err("refused"), SubmitError::Unknown(9));
    assert_eq!(queue.submit(2, &mine.ticket, answer(1)).expect_err("refused"), SubmitError::NotYours(2));
    let mut submitted = queue.submit(1, &mine.ticket, answer(1)).expect("there");
    assert_eq!(queue.submit(1, &mine.ticket, answer(1)).expect_err("refused"), SubmitError::AlreadySubmitted(1));
    assert_eq!(offer.wait(None), StepEvent::Submitted(answer(1)));
    assert!(now(&mut submitted).is_none());
    offer.accept();
    assert!(now(&mut submitted).is_none(), "nothing is acknowledged before it is recorded");
    assert_eq!(queue.submit(1, &mine.ticket, answer(1)).expect_err("refused"), SubmitError::AlreadySubmitted(1));
    queue.recorded(1);
    assert_eq!(now(&mut submitted), Some(SubmitOutcome::Accepted));
    queue.close(&QueueClosed::Aborted("no disk".into()));
    queue.close(&QueueClosed::Over);
    assert_eq!(queue.submit(2, &theirs.ticket, answer(2)).expect_err("refused"), SubmitError::Aborted("no disk".into()));
}

#[test]
fn a_cancelled_walk_withdraws_its_step() {
    let queue = StepQueue::new(0);
    let offer = queue.offer(task(1), &settings(LONG));
    let mine = got(wait(queue.pull("ann")));
    let mut pull = queue.pull("bob");
    assert!(now(&mut pull).is_none());
    queue.close(&QueueClosed::Cancelled);
    assert_eq!(offer.wait(None), StepEvent::Closed(QueueClosed::Cancelled));
    drop(offer);
    assert_eq!(queue.submit(1, &mine.ticket, answer(1)).expect_err("refused"), SubmitError::Unknown(1));
    assert_eq!(now(&mut pull), Some(PullResult::Over(QueueClosed::Cancelled)));
    assert_eq!(wait(queue.pull("late")), PullResult::Over(QueueClosed::Cancelled));
}

#[test]
fn a_dead_worker_gives_its_step_back() {
    let queue = StepQueue::new(0);
    let offer = queue.offer(task(1), &settings(Duration::from_millis(30)));
    let dead = got(wait(queue.pull("dead")));
    let _younger = queue.offer(task(2), &settings(LONG));
    assert_eq!(offer.wait(None), StepEvent::LeaseExpired("dead".into()));
    offer.requeue();
    let mine = got(wait(queue.pull("ann")));
    assert_eq!((mine.dispatch_id, queue.health()[1].lost), (1, 1));
    assert_eq!(queue.submit(1, &dead.ticket, answer(1)).expect_err("refused"), SubmitError::NotYours(1));
    assert_eq!(offer.wait(None), StepEvent::LeaseExpired("ann".into()));
    // Late, but no other worker has the step.
    let _submitted = queue.submit(1, &mine.ticket, answer(1)).expect("there");
    assert_eq!(offer.wait(None), StepEvent::Submitted(answer(1)));
}

#[test]
fn a_cancelled_pull_loses_no_step() {
    let queue = StepQueue::new(0);
    let mut early = queue.pull("early");
    assert!(now(&mut early).is_none());
    let _offer = queue.offer(task(1), &settings(LONG));
    drop(early);
    assert_eq!(got(wait(queue.pull("next"))).dispatch_id, 1);
}

#[test]
fn a_bad_answer_goes_back_to_the_same_worker() {
    let queue = StepQueue::new(0);
    let offer = queue.offer(task(1), &settings(LONG));
    let first = got(wait(queue.pull("ann")));
    let mut pull = queue.pull("bob");
    let mut submitted = queue.submit(1, &first.ticket, answer(1)).expect("there");
    assert_eq!(offer.wait(None), StepEvent::Submitted(answer(1)));
    let offer = offer.refuse(vec!["no".into()], Some(Dispatch { id: 7, request: 7, prompt: "again".into() })).expect("there");
    let Some(SubmitOutcome::Refused(why, Some(again))) = now(&mut submitted) else { panic!("refused") };
    assert_eq!((why, again.dispatch_id, again.prompt.as_str()), (vec!["no".to_owned()], 7, "again"));
    assert!(now(&mut pull).is_none());
    assert_ne!(again.ticket, first.ticket);
    assert_eq!(queue.submit(1, &first.ticket, answer(1)).expect_err("refused"), SubmitError::AlreadySubmitted(1));
    let mut submitted = queue.submit(7, &again.ticket, answer(1)).expect("there");
    assert_eq!(offer.wait(None), StepEvent::Submitted(answer(1)));
    assert!(offer.refuse(vec!["no".into()], None).is_none());
    assert_eq!(now(&mut submitted), Some(SubmitOutcome::Refused(vec!["no".into()], None)));
    assert_eq!(queue.health()[0].refused, 2);
}

#[test]
fn answers_wait_for_enough_workers() {
    let queue = StepQueue::new(2);
    let _offers: Vec<Offer<'_>> = (1..=3).map(|id| queue.offer(task(id), &settings(LONG))).collect();
    let PullResult::Task(mine, Some(warning)) = wait(queue.pull("ann")) else { panic!("no warning") };
    assert!(warning.starts_with("1 of 2"), "{warning}");
    assert_eq!(queue.submit(1, &mine.ticket, answer(1)).expect_err("refused"), SubmitError::Gate(2, 1));
    let PullResult::Task(_, None) = wait(queue.pull("bob")) else { panic!("a warning") };
    let _submitted = queue.submit(1, &mine.ticket, answer(1)).expect("there");
}

/// With many workers, one of which dies, each step is answered exactly once.
#[test]
fn nothing_is_lost_or_doubled() {
    const STEPS: i64 = 2000;
    let queue = StepQueue::new(0);
    let taken: BTreeMap<String, usize> = thread::scope(|scope| {
        let walks: Vec<_> = (0..20)
            .map(|walk| {
                let queue = &queue;
                scope.spawn(move || {
                    let mut seen = 0;
                    for id in (1..=STEPS).filter(|id| id % 20 == walk) {
                        let offer = queue.offer(task(id), &settings(Duration::from_millis(200)));
                        loop {
                            match offer.wait(None) {
                                StepEvent::Submitted(found) => {
                                    assert_eq!(found, answer(id));
                                    break;
                                }
                                StepEvent::LeaseExpired(_) => offer.requeue(),
                                other => panic!("{other:?}"),
                            }
                        }
                        offer.accept();
                        queue.recorded(id);
                        seen += 1;
                    }
                    seen
                })
            })
            .collect();
        let workers: Vec<_> = (0..16)
            .map(|number| {
                let queue = &queue;
                scope.spawn(move || {
                    let name = format!("w{number}");
                    let mut count = 0;
                    loop {
                        let PullResult::Task(task, _) = wait(queue.pull(&name)) else { return (name, count) };
                        if number == 0 && count == 3 {
                            return (name, count);
                        }
                        match queue.submit(task.dispatch_id, &task.ticket, answer(task.dispatch_id)) {
                            Ok(submitted) => assert_eq!(wait(submitted), SubmitOutcome::Accepted),
                            // The lease expired before this thread was scheduled.
                            Err(error) => {
                                assert_eq!(error, SubmitError::NotYours(task.dispatch_id));
                                continue;
                            }
                        }
                        count += 1;
                    }
                })
            })
            .collect();
        assert_eq!(walks.into_iter().map(|walk| walk.join().expect("ended")).sum::<i64>(), STEPS);
        queue.end(&QueueClosed::Over, true);
        workers.into_iter().map(|worker| worker.join().expect("ended")).collect()
    });
    assert_eq!(taken.values().sum::<usize>(), 2000);
    assert!(taken["w0"] <= 3, "{taken:?}");
}

#[test]
fn a_step_of_a_node_out_of_time_is_withdrawn() {
    let queue = StepQueue::new(0);
    let offer = queue.offer(task(1), &settings(LONG));
    assert_eq!(offer.wait(Deadline::after(Duration::from_millis(10))), StepEvent::Overdue, "no worker has it");
    let held = got(wait(queue.pull("slow")));
    assert_eq!(offer.wait(Deadline::after(Duration::from_millis(10))), StepEvent::Overdue, "somebody has it");
    drop(offer);
    assert_eq!(queue.submit(1, &held.ticket, answer(1)).expect_err("withdrawn"), SubmitError::Unknown(1));
}
