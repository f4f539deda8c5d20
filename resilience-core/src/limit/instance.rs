//! One adaptive limit: its slots, its sums, and the algorithm that is asked at the end of each window.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use super::algorithm::{Close, Decision};
use super::log2::{natural, natural_square};
use super::queue::{Called, Queue, Ticket};
use super::running::Running;
use super::settings::LimitSettings;
use super::slots::{self, AtOnce, Full, Slots};
use super::snapshot::{Counters, LastWindow, Snapshot};
use super::stripes::{self, Admission, Call, Ended, Kind, Reading, Stripes, Success, Sums};
#[cfg(all(feature = "testing", not(loom)))]
use super::tape::{Beginning, Note, Tape};
use super::window::{Window, WindowRule};
use crate::error::Error;
use crate::event::listeners::{Listeners, RegistryListeners};
use crate::event::{Event, Reason, Rejection, Topics};
use crate::id::Id;
use crate::outcome::Outcome;
use crate::outcome::overload::Overload;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, Padded, contained, lock, try_lock};
use crate::time::SharedClock;

/// One adaptive limit.
///
/// What every call writes (the slots) and what every call reads (the pace) are on cache lines of their own.
pub(crate) struct Instance {
    slots: Padded<Slots>,
    pace: Padded<Pace>,
    clock: SharedClock,
    stripes: Stripes,
    id: Id,
    /// Shared with the alarms of those who wait.
    queue: Arc<Queue>,
    controller: Mutex<Controller>,
    /// What the last decision and the last change of settings left to be seen. Never held while foreign code runs, unlike
    /// the controller.
    published: Mutex<Published>,
    /// Whether the settings say which kinds of errors mean overload: 1 if so, 2 if also over the patterns of attributes, else
    /// 0.
    kinds: AtomicU64,
    listeners: Listeners,
}

// A panic of foreign code (a body, an algorithm, a listener) is caught or leaves before anything of ours is half changed:
// see `contained` and `Permit`. So a call may be wrapped in `catch_unwind`, and a limited future is as safe as its body.
impl UnwindSafe for Instance {}
impl RefUnwindSafe for Instance {}

/// What each call compares itself with. Written when a window closes, read by every call.
///
/// Relaxed throughout: a call that sees a value a moment late counts for the window before or after, as it might have
/// by ending a moment earlier or later.
#[derive(Debug)]
struct Pace {
    /// The instant from which a call that ends asks whether the window closes.
    next_close: AtomicU64,
    /// How often it was begun to count afresh: only calls admitted since the last time are samples. A number and no
    /// instant, since many calls may be admitted at the same one.
    epoch: AtomicU64,
    /// Drops faster than this are fast.
    fast_drop_below: AtomicU64,
    /// The number of the open window.
    window: AtomicU64,
}

/// What only the thread that closes a window touches.
struct Controller {
    algorithm: Running,
    rule: WindowRule,
    settings: Arc<LimitSettings>,
    /// When the open window began, and what the sums and the calls in flight were then.
    opened: u64,
    sums: Sums,
    in_flight: u32,
    /// How often the window was begun anew since the last decision.
    restarts: u32,
    /// Who notes what the algorithm is told and what it says.
    #[cfg(all(feature = "testing", not(loom)))]
    tape: Option<Arc<Tape>>,
}

/// What is to be told of a decision, if anybody wants to hear it.
struct Decided {
    window: Option<Event>,
    change: Option<Event>,
}

#[derive(Clone, Debug)]
struct Published {
    settings: Arc<LimitSettings>,
    windows: u64,
    decisions: u64,
    limit: f64,
    last_window: Option<LastWindow>,
    baseline: Option<f64>,
    reason: Reason,
}

impl Published {
    fn initial(settings: Arc<LimitSettings>) -> Self {
        Self {
            windows: 0,
            decisions: 0,
            limit: f64::from(settings.bounds.initial()),
            settings,
            last_window: None,
            baseline: None,
            reason: Reason::Initial,
        }
    }
}

impl Instance {
    pub(crate) fn new(
        id: Id,
        settings: Arc<LimitSettings>,
        clock: SharedClock,
        registry: &RegistryListeners,
    ) -> Self {
        let now = clock.now();
        let algorithm = Running::start(&settings, clock.seed(id.as_str()));
        let rule = settings.window_rule(algorithm.get().window_rule());
        Self {
            slots: Padded(Slots::new(settings.bounds.initial(), settings.rules())),
            pace: Padded(Pace {
                next_close: AtomicU64::new(now.saturating_add(rule.duration)),
                epoch: AtomicU64::new(0),
                fast_drop_below: AtomicU64::new(0),
                window: AtomicU64::new(0),
            }),
            clock,
            stripes: Stripes::new(),
            id,
            queue: Arc::new(Queue::new(settings.patience())),
            controller: Mutex::new(Controller {
                algorithm,
                rule,
                settings: settings.clone(),
                opened: now,
                sums: Sums::default(),
                in_flight: 0,
                restarts: 0,
                #[cfg(all(feature = "testing", not(loom)))]
                tape: None,
            }),
            kinds: AtomicU64::new(kinds(&settings)),
            published: Mutex::new(Published::initial(settings)),
            listeners: registry.of_instance(),
        }
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Whether no call is in flight and nobody has subscribed, as far as those can tell who hold it alone.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight() == 0 && self.listeners.is_empty()
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// Whether the settings say which kinds of errors mean overload. Asked about each error; relaxed, since an error that is
    /// judged by the settings before has merely ended a moment earlier.
    #[inline]
    pub(crate) fn chooses_kinds(&self) -> bool {
        self.kinds.load(Ordering::Relaxed) != 0
    }

    /// Whether they do so over the patterns of attributes. Asked about each output of a function that has patterns.
    #[inline]
    pub(crate) fn chooses_kinds_over_patterns(&self) -> bool {
        self.kinds.load(Ordering::Relaxed) == 2
    }

    /// What the settings say about that.
    pub(crate) fn overload(&self) -> Option<Arc<Overload>> {
        lock(&self.published).settings.drop_on.clone()
    }

    pub(crate) fn limit(&self) -> u32 {
        self.slots.limit()
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// Takes a slot if one is free and nobody waits for it.
    #[inline]
    pub(crate) fn admit(&self) -> Result<Admitted, Full> {
        match self.slots.acquire() {
            AtOnce::Admitted { in_flight } => Ok(self.start(in_flight)),
            AtOnce::Full(full) => Err(full),
            AtOnce::Raced | AtOnce::Unusual => self.admit_unusually(),
        }
    }

    #[cold]
    fn admit_unusually(&self) -> Result<Admitted, Full> {
        match self.slots.pass() {
            slots::Admission::Full(_) => self.begin(self.queue.acquire_unless_awaited(&self.slots)),
            passes => self.begin(passes),
        }
    }

    /// Begins a call with this answer.
    pub(crate) fn begin(&self, admission: slots::Admission) -> Result<Admitted, Full> {
        match admission {
            slots::Admission::Admitted { in_flight } => Ok(self.start(in_flight)),
            slots::Admission::Beyond { in_flight } => Ok(self.start(in_flight | Admitted::BEYOND)),
            slots::Admission::Off => Ok(Admitted::default()),
            slots::Admission::Full(full) => Err(full),
        }
    }

    /// Counts a call that was admitted. `holds` is the calls in flight, with [`Admitted::BEYOND`] if it holds no slot.
    // Out of line, as `end` is: what is inlined into each limited function is only what a rejection needs.
    #[inline(never)]
    pub(crate) fn start(&self, holds: u32) -> Admitted {
        let call = Admitted::holding(holds);
        // A clock is foreign code: if it panics, there is no permit yet that would give the slot back.
        let slot = Slot(self, call);
        let started = self.clock.now();
        let window = self.pace.window.load(Ordering::Relaxed);
        self.stripes.add(move || Admission {
            started,
            in_flight: call.in_flight(),
            window,
        });
        slot.hand_over();
        Admitted::new(started, holds, self.epoch())
    }

    /// Gives back what a call holds.
    #[inline]
    fn give_back(&self, call: Admitted) {
        if call.holds_a_slot() {
            if self.slots.release() {
                self.queue.hand_out(&self.slots);
            }
        } else {
            self.slots.release_beyond();
        }
    }

    /// Whether somebody may be waiting for a slot.
    pub(crate) fn is_awaited(&self) -> bool {
        self.slots.awaited()
    }

    /// Hands out to those who wait what another limit or other settings have made room for. For the caller to call when it
    /// holds no lock, since wakers are foreign code.
    pub(crate) fn call_waiting(&self) {
        if self.slots.awaited() {
            self.queue.hand_out(&self.slots);
        }
    }

    /// Gives up a place in the queue, or what it was given up for meanwhile.
    #[cold]
    pub(crate) fn leave(&self, ticket: Ticket) {
        match self.queue.leave(ticket) {
            Some(Called::In(slots::Admission::Admitted { in_flight })) => {
                self.give_back(Admitted::holding(in_flight));
            }
            Some(Called::In(slots::Admission::Beyond { in_flight })) => {
                self.give_back(Admitted::holding(in_flight | Admitted::BEYOND));
            }
            Some(Called::TimedOut(_)) => {
                self.rejected(self.limit(), self.in_flight(), Rejection::WaitTimedOut);
            }
            Some(Called::In(_)) | None => {}
        }
    }

    /// The error of a call that found all slots taken.
    #[inline]
    pub(crate) fn rejection(&self, full: Full) -> Error {
        self.rejected(full.limit, full.in_flight, Rejection::LimitExceeded);
        Error::limit_exceeded(self.id.clone(), full.limit, full.in_flight)
    }

    /// The error of a call that waited for so many nanoseconds.
    #[cold]
    pub(crate) fn wait_timed_out(&self, after: u64) -> Error {
        let (limit, in_flight) = (self.limit(), self.in_flight());
        self.rejected(limit, in_flight, Rejection::WaitTimedOut);
        let after = Duration::from_nanos(after);
        Error::wait_timed_out(self.id.clone(), limit, in_flight, after)
    }

    /// The error of a call that found so many waiting that it may not.
    #[cold]
    pub(crate) fn queue_full(&self, full: Full, queue_limit: u32) -> Error {
        self.rejected(full.limit, full.in_flight, Rejection::QueueFull);
        Error::queue_full(self.id.clone(), full.limit, full.in_flight, queue_limit)
    }

    /// Counts a call that was rejected, and tells of it.
    #[inline]
    fn rejected(&self, limit: u32, in_flight: u32, reason: Rejection) {
        self.stripes.add(|| stripes::Rejection);
        if self.listeners.may_hear_rejections() {
            self.tell_rejection(limit, in_flight, reason);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_rejection(&self, limit: u32, in_flight: u32, reason: Rejection) {
        if self.listeners.want(Topics::REJECTIONS) {
            self.tell(&Event::Rejected {
                id: self.id.clone(),
                limit,
                in_flight,
                reason,
            });
        }
    }

    /// Ends a call that was cancelled or panicked.
    #[cold]
    pub(crate) fn cancel(&self, call: Admitted) {
        self.end(call, None);
    }

    /// Ends a call that holds a slot: gives its slot back, adds it up and, if the window's time is up, closes the window.
    ///
    /// `None` stands for a call that was cancelled or panicked.
    #[inline(never)]
    pub(crate) fn end(&self, call: Admitted, outcome: Option<Outcome>) {
        // The slot is given back after the clock is read, and even if that panics.
        let slot = Slot(self, call);
        let ended = self.clock.now();
        drop(slot);
        // What is usual is told apart here, where all it takes is in registers.
        if outcome == Some(Outcome::Success) && call.epoch() == self.epoch() {
            let call = self.call(call, ended);
            self.stripes.add(move || Success(call));
        } else {
            self.add_otherwise(call, ended, outcome);
        }
        if ended >= self.pace.next_close.load(Ordering::Relaxed) && outcome.is_some() {
            self.close_window(ended);
        }
    }

    #[inline]
    fn call(&self, call: Admitted, ended: u64) -> Call {
        Call {
            started: call.started,
            ended,
            in_flight: call.in_flight(),
            window: self.pace.window.load(Ordering::Relaxed),
        }
    }

    /// Adds up a call that is not simply a success.
    #[inline(never)]
    fn add_otherwise(&self, call: Admitted, ended: u64, outcome: Option<Outcome>) {
        let counts = call.epoch() == self.epoch();
        let kind = match outcome {
            Some(Outcome::Success) if counts => Kind::Success,
            Some(Outcome::Success) => Kind::StaleSuccess,
            Some(Outcome::Drop) if counts => {
                let latency = ended.saturating_sub(call.started);
                Kind::Drop {
                    fast: latency < self.pace.fast_drop_below.load(Ordering::Relaxed),
                }
            }
            Some(Outcome::Drop) => Kind::StaleDrop,
            Some(Outcome::Ignored) => Kind::Ignored,
            None => Kind::Cancelled,
        };
        let call = self.call(call, ended);
        self.stripes.add(move || Ended(call, kind));
    }

    /// Asks the algorithm about the open window, unless another thread is doing so.
    #[cold]
    fn close_window(&self, now: u64) {
        let Some(controller) = try_lock(&self.controller) else {
            return;
        };
        let decided = self.decide(controller, now);
        self.call_waiting();
        if let Some(decided) = decided {
            // The lock is free: a listener may call back, block or panic, and the next window still closes.
            self.tell_all(decided);
        }
    }

    fn decide(&self, mut controller: MutexGuard<'_, Controller>, now: u64) -> Option<Decided> {
        if now < self.pace.next_close.load(Ordering::Relaxed) {
            // Another thread closed the window since this one looked.
            return None;
        }
        let controller = &mut *controller;
        if now < controller.opened {
            // This thread read the clock before another one closed the window.
            return None;
        }
        let reading = self
            .stripes
            .read(self.pace.window.load(Ordering::Relaxed))?;
        let window = self.window(controller, &reading, now);
        let rule = controller.rule;
        match contained(|| controller.algorithm.get().close(&window, &rule)).unwrap_or(Close::Now) {
            Close::Now => {}
            Close::Extend { until } => {
                self.pace.next_close.store(until, Ordering::Relaxed);
                return None;
            }
            Close::Restart { until, fresh } => {
                self.pace.next_close.store(until, Ordering::Relaxed);
                if fresh {
                    self.count_afresh();
                }
                self.open_window(controller, &reading.sums, now);
                controller.restarts = controller.restarts.saturating_add(1);
                return None;
            }
        }
        let decision = contained(|| controller.algorithm.get_mut().update(&window))
            .filter(|decision| decision.limit.is_finite())
            .unwrap_or_else(|| Decision::new(f64::from(window.limit), Reason::Failed));
        #[cfg(all(feature = "testing", not(loom)))]
        if let Some(tape) = &controller.tape {
            let noted = Box::new((window.clone(), decision.clone()));
            tape.note(Note::Window(noted));
        }
        let baseline = contained(|| controller.algorithm.get().baseline()).flatten();
        let closed = Some((&window, baseline));
        Some(self.apply(controller, &reading.sums, now, decision, closed))
    }

    /// Puts a decision in force, opens the next window and publishes what was decided.
    ///
    /// `closed` is the window that it was made from and the baseline after it; there is none if everything begins anew.
    fn apply(
        &self,
        controller: &mut Controller,
        sums: &Sums,
        now: u64,
        decision: Decision,
        closed: Option<(&Window, Option<f64>)>,
    ) -> Decided {
        let to = controller.settings.bounds.clamp(decision.limit) as u32;
        let from = self.slots.set_limit(to);
        // After the limit: no call that was admitted against the one before counts as one of the new.
        if decision.fresh {
            self.count_afresh();
        }
        self.pace
            .fast_drop_below
            .store(decision.fast_drop_below, Ordering::Relaxed);
        self.open_window(controller, sums, now);
        controller.restarts = 0;
        let wait = decision.next_window.unwrap_or(controller.rule.duration);
        self.pace
            .next_close
            .store(now.saturating_add(wait), Ordering::Relaxed);
        let decisions = {
            let mut published = lock(&self.published);
            *published = Published {
                settings: controller.settings.clone(),
                windows: closed.map_or(0, |_| published.windows + 1),
                decisions: published.decisions + 1,
                limit: decision.limit,
                last_window: closed.map(|(window, _)| LastWindow::of(window)),
                baseline: closed.and_then(|(_, baseline)| baseline),
                reason: decision.reason.clone(),
            };
            published.decisions
        };
        let window = closed.filter(|_| self.listeners.want(Topics::WINDOWS));
        Decided {
            window: window.map(|(window, _)| Event::WindowClosed {
                id: self.id.clone(),
                decision: decisions,
                duration: window.duration(),
                samples: window.samples(),
                drops: window.drops,
                latency: window.mean_latency(),
                max_in_flight: window.max_in_flight,
                limit: to,
                reason: decision.reason.clone(),
            }),
            change: (from != to).then(|| Event::LimitChanged {
                id: self.id.clone(),
                from,
                to,
                reason: decision.reason,
                decision: decisions,
            }),
        }
    }

    fn window(&self, controller: &Controller, reading: &Reading, now: u64) -> Window {
        let sums = reading.sums.since(&controller.sums);
        Window {
            opened: controller.opened,
            closed: now,
            limit: self.slots.limit(),
            in_flight: self.slots.in_flight(),
            successes: sums.successes,
            latency_sum: sums.latency,
            timed: sums.timed,
            log_latency_sum: natural(sums.log_latency),
            log_latency_sq_sum: natural_square(sums.log_latency_sq),
            drops: sums.drops,
            drop_latency_sum: sums.drop_latency,
            fast_drops: sums.fast_drops,
            fast_drop_latency_sum: sums.fast_drop_latency,
            fast_drop_in_flight_sum: sums.fast_drop_in_flight,
            in_flight_sum: sums.in_flight,
            max_in_flight: reading.max_in_flight,
            peak_in_flight: reading.peak_in_flight.max(controller.in_flight),
            ignored: sums.ignored,
            cancelled: sums.cancelled(),
            stale: sums.stale_successes + sums.stale_drops,
            ended_latency_sum: sums.ended_latency,
            admitted: sums.admitted,
            rejected: sums.rejected,
            in_flight_area: reading
                .sums
                .area(now)
                .wrapping_sub(controller.sums.area(controller.opened)),
            restarts: controller.restarts,
        }
    }

    fn open_window(&self, controller: &mut Controller, sums: &Sums, now: u64) {
        controller.opened = now;
        controller.sums = *sums;
        self.stripes.closed();
        // The controller's lock makes this thread the only writer.
        self.pace.window.store(
            self.pace.window.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
        // After the number: a call whose admission went to the window before is in flight now or has ended.
        controller.in_flight = self.slots.in_flight();
    }

    /// The low bits are enough: no call stays in flight for 2^32 epochs.
    #[inline]
    fn epoch(&self) -> u32 {
        self.pace.epoch.load(Ordering::Relaxed) as u32
    }

    fn count_afresh(&self) {
        // The controller's lock makes this thread the only writer.
        self.pace.epoch.store(
            self.pace.epoch.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
    }

    pub(crate) fn tell(&self, event: &Event) {
        self.listeners.tell(event);
    }

    fn tell_all(&self, decided: Decided) {
        for event in [decided.window, decided.change].into_iter().flatten() {
            self.tell(&event);
        }
    }

    /// Forgets what was learned and goes back to the initial limit. Calls in flight keep their slots and are no samples.
    pub(crate) fn reset(&self) {
        let settings = lock(&self.published).settings.clone();
        // Foreign code is made before the lock is taken and dropped after it is free.
        let mut algorithm = Running::start(&settings, self.seed());
        let decided = {
            let mut controller = lock(&self.controller);
            let controller = &mut *controller;
            if !Arc::ptr_eq(&controller.settings, &settings) {
                // Settings were changed meanwhile.
                algorithm = Running::start(&controller.settings, self.seed());
            }
            std::mem::swap(&mut controller.algorithm, &mut algorithm);
            #[cfg(all(feature = "testing", not(loom)))]
            if let Some(tape) = &controller.tape {
                tape.note(Note::Reset);
            }
            let now = self.clock.now();
            let sums = self.sums();
            let initial = f64::from(controller.settings.bounds.initial());
            let anew = Decision::new(initial, Reason::Initial).fresh(true);
            self.apply(controller, &sums, now, anew, None)
        };
        self.call_waiting();
        self.tell_all(decided);
    }

    /// Puts other settings in force without a break: calls in flight keep their slots, the limit stays as far as it is
    /// within the new bounds, and the same algorithm keeps what it has learned.
    ///
    /// Returns what is to be told, for the caller to tell when it holds no lock, and has [those who wait called](Self::call_waiting).
    pub(crate) fn reconfigure(&self, settings: &Arc<LimitSettings>) -> Option<Event> {
        let (event, replaced) = self.take(settings);
        // Foreign code, dropped when the lock is free. Other limits take their settings whatever it does.
        contained(|| drop(replaced));
        event
    }

    /// The work of [`reconfigure`](Self::reconfigure). Also returns the algorithm whose place another one took.
    ///
    /// Clocks and algorithms are foreign code: one that panics must not leave this half done, nor keep the limits after
    /// this one from their settings.
    fn take(&self, settings: &Arc<LimitSettings>) -> (Option<Event>, Option<Running>) {
        let mut controller = lock(&self.controller);
        let controller = &mut *controller;
        if controller.settings.same(settings) {
            return (None, None);
        }
        let before = std::mem::replace(&mut controller.settings, settings.clone());
        let from = self.slots.limit();
        let to = settings.bounds.clamp(f64::from(from)) as u32;
        let (mut replaced, mut failed) = (None, false);
        if settings.bounds != before.bounds || !settings.algorithm.same(&before.algorithm) {
            // One that panics goes on as it was; its limits are put within the bounds all the same.
            let algorithm = &mut controller.algorithm;
            match contained(|| algorithm.go_on(settings, to, self.seed())) {
                Some(other) => replaced = other,
                None => failed = true,
            }
        }
        if failed {
            // What runs is what is told: one that cannot be made has not taken over.
            controller.settings = Arc::new(LimitSettings {
                algorithm: before.algorithm.clone(),
                ..LimitSettings::clone(settings)
            });
        }
        #[cfg(all(feature = "testing", not(loom)))]
        if let Some(tape) = &controller.tape {
            tape.note(Note::Settings(controller.settings.clone()));
        }
        if replaced.is_some() {
            self.pace.fast_drop_below.store(0, Ordering::Relaxed);
        }
        self.slots.set_limit(to);
        if settings.enabled
            && !before.enabled
            && let Some(now) = contained(|| self.clock.now())
        {
            // The calls that passed meanwhile were not measured, so the window would miss them.
            let sums = self.sums();
            self.open_window(controller, &sums, now);
        }
        self.slots.set_rules(settings.rules());
        self.queue.set_patience(settings.patience());
        let algorithms = contained(|| controller.algorithm.get().window_rule());
        let rule = settings.window_rule(algorithms.unwrap_or(controller.rule));
        // Another algorithm does not wait for as long as the one before wanted to.
        if rule.duration != controller.rule.duration
            || settings.enabled != before.enabled
            || replaced.is_some()
        {
            self.pace.next_close.store(
                controller.opened.saturating_add(rule.duration),
                Ordering::Relaxed,
            );
        }
        controller.rule = rule;
        let baseline = contained(|| controller.algorithm.get().baseline()).flatten();
        let mut published = lock(&self.published);
        published.settings = controller.settings.clone();
        self.kinds.store(kinds(settings), Ordering::Relaxed);
        published.baseline = baseline;
        published.limit = settings.bounds.clamp(published.limit);
        if failed {
            published.reason = Reason::Failed;
        }
        if from == to {
            return (None, replaced);
        }
        published.decisions += 1;
        published.reason = Reason::Bounds;
        let event = Event::LimitChanged {
            id: self.id.clone(),
            from,
            to,
            reason: Reason::Bounds,
            decision: published.decisions,
        };
        (Some(event), replaced)
    }

    /// Has a tape note all from now on, in the place of one before. Returns what it begins with.
    #[cfg(all(feature = "testing", not(loom)))]
    pub(crate) fn record(&self, tape: &Arc<Tape>) -> Beginning {
        let mut controller = lock(&self.controller);
        controller.tape = Some(tape.clone());
        Beginning {
            settings: controller.settings.clone(),
            seed: self.seed(),
            limit: self.slots.limit(),
            fresh: lock(&self.published).decisions == 0,
        }
    }

    /// Ends that, unless another tape has taken its place.
    #[cfg(all(feature = "testing", not(loom)))]
    pub(crate) fn stop_recording(&self, tape: &Arc<Tape>) {
        let mut controller = lock(&self.controller);
        controller.tape.take_if(|noting| Arc::ptr_eq(noting, tape));
    }

    /// What all calls add up to.
    fn sums(&self) -> Sums {
        loop {
            // Fails only while another thread is stopped in the middle of adding a call.
            match self.stripes.read(0) {
                Some(reading) => return reading.sums,
                None => std::thread::yield_now(),
            }
        }
    }

    fn seed(&self) -> u64 {
        self.clock.seed(self.id.as_str())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let published = lock(&self.published).clone();
        let sums = self.stripes.sums();
        let (queued, waits) = self.queue.seen();
        let settings = &published.settings;
        let bounds = settings.bounds;
        Snapshot {
            id: self.id.clone(),
            algorithm: settings.algorithm.owned_name(),
            enabled: self.slots.enabled(),
            mode: settings.mode,
            limit: self.slots.limit(),
            exact_limit: bounds.clamp(published.limit),
            in_flight: self.slots.in_flight(),
            queued,
            initial_limit: bounds.initial(),
            min_limit: bounds.min(),
            max_limit: bounds.max(),
            windows: published.windows,
            last_window: published.last_window,
            baseline: published.baseline,
            reason: published.reason,
            counters: Counters {
                admitted: sums.admitted,
                rejected: sums.rejected,
                would_reject: self.slots.would_reject(),
                queued: waits.queued,
                queue_full: waits.found_full,
                wait_timed_out: waits.timed_out,
                wait_cancelled: waits.cancelled,
                succeeded: sums.successes + sums.stale_successes,
                dropped: sums.drops + sums.stale_drops,
                ignored: sums.ignored,
                cancelled: sums.cancelled(),
            },
        }
    }
}

fn kinds(settings: &LimitSettings) -> u64 {
    match &settings.drop_on {
        None => 0,
        Some(overload) if overload.over_patterns => 2,
        Some(_) => 1,
    }
}

// What can be had without a lock: whoever prints a limit may hold one of its own, or call back from within.
impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptiveLimit")
            .field("id", &self.id)
            .field("limit", &self.limit())
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

/// What a call holds, to be given back when this is dropped.
struct Slot<'a>(&'a Instance, Admitted);

impl Slot<'_> {
    /// Leaves it to another to give the slot back.
    #[inline]
    fn hand_over(self) {
        std::mem::forget(self);
    }
}

impl Drop for Slot<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.give_back(self.1);
    }
}

/// An admitted call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Admitted {
    started: u64,
    /// The epoch in the upper half. In the lower one the calls in flight, itself included, with [`BEYOND`](Self::BEYOND) if it
    /// holds no slot; 0 if it was let through while the limit was switched off. Two words are handed over in registers.
    counts: u64,
}

impl Admitted {
    /// Marks a call that was let through beyond a limit that was observed only.
    const BEYOND: u32 = 1 << 31;

    #[inline]
    fn new(started: u64, holds: u32, epoch: u32) -> Self {
        let counts = u64::from(epoch) << 32 | u64::from(holds);
        Self { started, counts }
    }

    fn holding(holds: u32) -> Self {
        Self::new(0, holds, 0)
    }

    #[inline]
    fn holds(self) -> u32 {
        self.counts as u32
    }

    #[inline]
    fn epoch(self) -> u32 {
        (self.counts >> 32) as u32
    }

    /// Whether it is to be ended.
    #[inline]
    pub(crate) fn is_counted(self) -> bool {
        self.holds() != 0
    }

    #[inline]
    fn holds_a_slot(self) -> bool {
        self.holds() & Self::BEYOND == 0
    }

    #[inline]
    fn in_flight(self) -> u32 {
        self.holds() & !Self::BEYOND
    }
}

/// How an instance is held: borrowed where it outlives the holder, as the instance of a call site does, else shared.
#[derive(Clone, Debug)]
pub(crate) enum InstanceRef<'a> {
    Borrowed(&'a Instance),
    Shared(Arc<Instance>),
}

impl std::ops::Deref for InstanceRef<'_> {
    type Target = Instance;

    #[inline]
    fn deref(&self) -> &Instance {
        match self {
            Self::Borrowed(instance) => instance,
            Self::Shared(instance) => instance,
        }
    }
}
