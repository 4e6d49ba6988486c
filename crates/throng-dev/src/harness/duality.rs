//! Forward and backward steps of a Boolean program are the same steps.
//!
//! States stand for sets, so everything is stated about concrete states: a step found backward must
//! be possible from *every* concrete state of the set it begins in, and every step from a concrete
//! state must be found backward from every concrete state it can end in.

use std::cell::Cell;

use throng_lang::bp::Jit;
use throng_model::{
    Bag, Bystanders, Describe, Incomplete, Local, Model, Predecessors, SetStates, Shared, Step, Transfers,
};

/// Sets with more members than this are passed over.
const MOST: usize = 16;

/// The laws about one program.
pub struct Duality<'j> {
    /// The program.
    pub jit: &'j Jit,
    /// Number of tests made.
    pub tested: Cell<usize>,
}

type Result = std::result::Result<(), String>;

impl Duality<'_> {
    fn demand(&self, holds: bool, what: impl FnOnce() -> String) -> Result {
        self.tested.set(self.tested.get() + 1);
        if holds { Ok(()) } else { Err(what()) }
    }

    fn members(&self, s: Shared, l: Local) -> Vec<(Shared, Local)> {
        let (ss, ls) = (self.jit.members_shared(s), self.jit.members_local(l));
        if ss.len() * ls.len() > MOST {
            return Vec::new();
        }
        ss.iter().flat_map(|&s| ls.iter().map(move |&l| (s, l))).collect()
    }

    fn show(&self, s: Shared, l: Local) -> String {
        let place =
            self.jit.place(l).map_or("ended".into(), |p| format!("{}:{} {}", p.line, p.column, p.text));
        format!("⟨{} | {place} {}⟩", self.jit.shared_name(s), self.jit.local_name(l))
    }

    fn show_step(&self, step: &Step) -> String {
        let names = |b: &Bag| b.entries().iter().map(|e| self.jit.local_name(e.0)).collect::<Vec<_>>();
        format!(
            "`{}`: {} {:?} to {} {:?} + {:?} choice {}",
            self.jit.edge_place(step.edge).text,
            self.jit.shared_name(step.from),
            names(&step.take),
            self.jit.shared_name(step.to),
            names(&step.put),
            names(&step.spawn),
            step.choice
        )
    }

    fn post(&self, s: Shared, l: Local) -> Vec<Step> {
        let mut steps = Vec::new();
        Incomplete::irrelevant(self.jit.post(s, l, &mut steps));
        steps
    }

    fn pre(&self, s: Shared, l: Local) -> Vec<Step> {
        let mut steps = Vec::new();
        Incomplete::irrelevant(self.jit.pre(s, l, &mut steps));
        steps
    }

    fn pre_shared(&self, s: Shared) -> Vec<Step> {
        let mut steps = Vec::new();
        Incomplete::irrelevant(self.jit.pre_shared(s, &mut steps));
        steps
    }

    /// Returns whether `step`, found backward, begins in the concrete state by the same edge and
    /// choice.
    fn begins(&self, step: &Step, like: &Step, s: Shared, l: Local) -> bool {
        step.edge == like.edge
            && step.choice == like.choice
            && self.jit.within_shared(s, step.from)
            && step.take.entries().iter().all(|e| self.jit.within_local(l, e.0))
    }

    fn bags_meet(&self, a: &Bag, b: &Bag) -> bool {
        let both = a.entries().iter().zip(b.entries());
        a.size() == b.size() && both.into_iter().all(|(x, y)| self.jit.meets_local(x.0, y.0))
    }

    /// The steps from a concrete state that are part of a step found backward.
    fn same_from(&self, step: &Step, s: Shared, l: Local) -> Vec<Step> {
        let same = |u: &Step| {
            u.edge == step.edge
                && u.choice == step.choice
                && u.others == step.others
                && self.jit.meets_shared(u.to, step.to)
                && self.bags_meet(&u.put, &step.put)
                && self.bags_meet(&u.spawn, &step.spawn)
        };
        self.post(s, l).into_iter().filter(same).collect()
    }

    /// Checks that the steps of a set lead to what the steps of its members lead to.
    pub fn sets_step_like_their_members(&self, s: Shared, l: Local) -> Result {
        let whole = self.post(s, l);
        let members = self.members(s, l);
        for (s0, l0) in &members {
            for u in self.post(*s0, *l0) {
                for (t, p) in self.ends(&u) {
                    let found = whole.iter().any(|v| {
                        v.edge == u.edge
                            && v.choice == u.choice
                            && self.jit.within_shared(t, v.to)
                            && p.is_none_or(|p| v.put.entries().iter().all(|e| self.jit.within_local(p, e.0)))
                    });
                    self.demand(found, || format!("{} lacks {}", self.show(s, l), self.show_step(&u)))?;
                }
            }
        }
        for v in whole {
            for (t, p) in self.ends(&v) {
                let found = members.is_empty()
                    || members.iter().any(|&(s0, l0)| {
                        self.post(s0, l0).iter().any(|u| {
                            u.edge == v.edge
                                && u.choice == v.choice
                                && self.jit.within_shared(t, u.to)
                                && p.is_none_or(|p| {
                                    u.put.entries().iter().all(|e| self.jit.within_local(p, e.0))
                                })
                        })
                    });
                self.demand(found, || {
                    format!("no member of {} does {}", self.show(s, l), self.show_step(&v))
                })?;
            }
        }
        Ok(())
    }

    /// Concrete ends of a step: the shared state, and where its thread is if it is still there.
    fn ends(&self, step: &Step) -> Vec<(Shared, Option<Local>)> {
        match step.put.entries().first() {
            Some(e) => self.members(step.to, e.0).into_iter().map(|(s, l)| (s, Some(l))).collect(),
            None => self.jit.members_shared(step.to).into_iter().map(|s| (s, None)).collect(),
        }
    }

    /// Every step from a concrete state is found backward from each concrete state it ends in: of
    /// its thread, of the one it creates, of a bystander that it moves, and from the shared state
    /// alone.
    pub fn forward_is_found_backward(&self, s: Shared, l: Local, bystanders: &[Local]) -> Result {
        for (s0, l0) in self.members(s, l) {
            for u in self.post(s0, l0) {
                for t in self.jit.members_shared(u.to) {
                    let arrived = u.put.entries().iter().chain(u.spawn.entries());
                    for p in arrived.flat_map(|e| self.jit.members_local(e.0)).take(MOST).collect::<Vec<_>>()
                    {
                        let found = self.pre(t, p).iter().any(|v| self.begins(v, &u, s0, l0));
                        self.demand(found, || {
                            format!("pre{} lacks {}", self.show(t, p), self.show_step(&u))
                        })?;
                    }
                    if t != s0 {
                        let found = self
                            .pre_shared(t)
                            .iter()
                            .any(|v| self.begins(v, &u, s0, l0) && self.bags_meet(&v.put, &u.put));
                        self.demand(found, || {
                            format!("pre_shared({}) lacks {}", self.jit.shared_name(t), self.show_step(&u))
                        })?;
                    }
                    for &b in bystanders {
                        self.bystander_is_found(&u, (s0, l0), t, b)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn bystander_is_found(&self, u: &Step, (s0, l0): (Shared, Local), t: Shared, b: Local) -> Result {
        for b0 in self.jit.members_local(b).into_iter().take(MOST) {
            let mut fates = Vec::new();
            match u.others {
                Bystanders::Stay => return Ok(()),
                Bystanders::Transfer => Incomplete::irrelevant(self.jit.bystander(u, b0, &mut fates)),
                Bystanders::WakeOne => fates.extend((self.jit as &dyn Model).woken_by(u, b0).map(Some)),
            }
            for fate in fates.into_iter().flatten().flat_map(|f| self.jit.members_local(f)).take(MOST) {
                let listed = self.pre(t, fate);
                let mut same: Vec<&Step> = listed.iter().filter(|v| self.begins(v, u, s0, l0)).collect();
                if fate != b0 {
                    self.demand(!same.is_empty(), || {
                        format!("pre{} of a bystander lacks {}", self.show(t, fate), self.show_step(u))
                    })?;
                }
                if u.others == Bystanders::Transfer {
                    // The active thread's new values must fit, too: there is one such step for
                    // each.
                    same.retain(|v| self.bags_meet(&v.put, &u.put));
                    let found = same.is_empty() && fate == b0
                        || same.iter().any(|v| {
                            let mut origins = Vec::new();
                            Incomplete::irrelevant(self.jit.bystander_back(v, fate, &mut origins));
                            origins.iter().any(|&o| self.jit.within_local(b0, o))
                        });
                    self.demand(found, || {
                        format!(
                            "bystander_back of {} misses {} from {}",
                            self.show_step(u),
                            self.show(s0, b0),
                            self.show(t, fate)
                        )
                    })?;
                } else {
                    let mut origins = Vec::new();
                    self.jit.woken_back(fate, &mut origins);
                    let found = origins.iter().any(|&o| self.jit.within_local(b0, o));
                    self.demand(found, || format!("woken_back misses {}", self.show(t, fate)))?;
                }
            }
        }
        Ok(())
    }

    /// Every step found backward from a set of states exists from every concrete state that it
    /// begins in, ends where it was asked for; and nothing is missed that is found from a member.
    pub fn backward_is_possible(&self, s: Shared, l: Local) -> Result {
        let listed = self.pre(s, l);
        let alone = self.pre_shared(s);
        for v in listed.iter().chain(&alone) {
            let inside = self.jit.within_shared(v.to, s);
            self.demand(inside, || format!("{} does not end in {}", self.show_step(v), self.show(s, l)))?;
            for (s0, l0) in self.members(v.from, v.take.entries()[0].0) {
                let forward = self.same_from(v, s0, l0);
                self.demand(!forward.is_empty(), || {
                    format!("{} cannot do {}", self.show(s0, l0), self.show_step(v))
                })?;
                if v.others == Bystanders::Transfer {
                    self.origins_lead_back(v, &forward, l)?;
                }
            }
        }
        let mut woken = Vec::new();
        self.jit.woken_back(l, &mut woken);
        for w in woken {
            let back = self.jit.woken(w).is_some_and(|m| self.jit.within_local(m, l));
            self.demand(back, || format!("woken_back{} is wrong", self.show(s, l)))?;
        }
        for (t, p) in self.members(s, l) {
            for narrow in self.pre(t, p) {
                for (s0, l0) in self.members(narrow.from, narrow.take.entries()[0].0) {
                    let found = listed.iter().any(|v| self.begins(v, &narrow, s0, l0));
                    self.demand(found, || {
                        format!("pre{} lacks {}, a member has it", self.show(s, l), self.show_step(&narrow))
                    })?;
                }
            }
        }
        Ok(())
    }

    fn origins_lead_back(&self, v: &Step, forward: &[Step], l: Local) -> Result {
        let mut origins = Vec::new();
        Incomplete::irrelevant(self.jit.bystander_back(v, l, &mut origins));
        for b in origins.into_iter().flat_map(|o| self.jit.members_local(o)).take(MOST) {
            let leads = forward.iter().any(|u| {
                let mut fates = Vec::new();
                Incomplete::irrelevant(self.jit.bystander(u, b, &mut fates));
                fates.into_iter().flatten().any(|f| self.jit.meets_local(f, l))
            });
            self.demand(leads, || {
                format!(
                    "a bystander {} does not become {} by {}",
                    self.show(v.from, b),
                    self.show(v.to, l),
                    self.show_step(v)
                )
            })?;
        }
        Ok(())
    }
}
