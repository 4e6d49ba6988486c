//! A model whose words are taken as plain states, whatever they stand for: what searches do anyway, said to targets too.

use std::sync::Arc;

use throng_model::{Edge, Local, Model, Place, Shared, Step};

/// The same steps; words meet only themselves.
pub struct OpaqueStates(Arc<dyn Model>);

impl OpaqueStates {
    /// The model itself if its words are plain states already.
    pub fn of(model: &Arc<dyn Model>) -> Arc<dyn Model> {
        if model.is_exact() { model.clone() } else { Arc::new(OpaqueStates(model.clone())) }
    }
}

impl Model for OpaqueStates {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) {
        self.0.post(s, l, out);
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) {
        self.0.post_shared(s, out);
    }

    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) {
        self.0.bystander(step, l, out);
    }

    fn woken(&self, l: Local) -> Option<Local> {
        self.0.woken(l)
    }

    fn waiting(&self, out: &mut Vec<Local>) {
        self.0.waiting(out);
    }

    fn blocking(&self) -> Option<String> {
        self.0.blocking()
    }

    fn moves_others(&self) -> bool {
        self.0.moves_others()
    }

    fn spawns(&self) -> bool {
        self.0.spawns()
    }

    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        self.0.shared_values(s)
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.0.local_values(l)
    }

    fn place(&self, l: Local) -> Option<Place> {
        self.0.place(l)
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.0.edge_place(edge)
    }

    fn shared_name(&self, s: Shared) -> String {
        self.0.shared_name(s)
    }

    fn local_name(&self, l: Local) -> String {
        self.0.local_name(l)
    }
}
