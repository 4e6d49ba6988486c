//! A model whose words are taken as plain states, whatever they stand for: what searches do anyway, said to targets too.

use std::sync::Arc;

use throng_model::{
    Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step, Traits, Transfers,
};

/// The same steps; words meet only themselves.
pub struct OpaqueStates(Arc<dyn Model>);

impl OpaqueStates {
    /// The model itself if its words are plain states already.
    pub fn of(model: &Arc<dyn Model>) -> Arc<dyn Model> {
        if model.is_exact() { model.clone() } else { Arc::new(OpaqueStates(model.clone())) }
    }
}

impl Model for OpaqueStates {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.post(s, l, out)
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.post_shared(s, out)
    }

    fn traits(&self) -> Traits {
        self.0.traits()
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        self.0.transfers()
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }
}

impl Describe for OpaqueStates {
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
