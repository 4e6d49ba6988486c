//! What a proof depends on: the same question about programs with one thing changed.

use std::sync::Arc;

use super::Job;
#[cfg(feature = "c")]
use crate::code::{self, WeakestOrder};
use crate::error::Error;
use crate::input::{Content, Input};
#[cfg(feature = "c")]
use crate::outcome::Outcome;
#[cfg(feature = "c")]
use throng_engine::Engine;
use throng_lang::bp::mutants::mutants;
use throng_lang::load::{Format, read};
use throng_lang::mutant::{Mutant, apply};
use throng_lang::source::Source;
#[cfg(feature = "c")]
use throng_model::limits::Limits;

impl<'a> Job<'a> {
    /// Lists every way to change one thing of a program: an assertion is negated, a lock disabled,
    /// an atomic section made several steps.
    pub fn mutants(&self) -> Result<Vec<Mutant>, Error> {
        match self.program()?.content() {
            Content::Model(loaded) if loaded.format == Format::Bp => Ok(mutants(&loaded.source.text)),
            Content::Model(_) => Err(unsuitable()),
            #[cfg(feature = "code")]
            Content::Code(_) => {
                Ok(self.prepare()?.posed.as_ref().map(|posed| posed.mutants()).unwrap_or_default())
            }
        }
    }

    /// Asks the same about the program with something changed.
    pub fn mutated(&self, mutant: &Mutant) -> Result<Job<'a>, Error> {
        let input = self.program()?;
        let content = match input.content() {
            Content::Model(loaded) => {
                let text = apply(&loaded.source.text, &mutant.edits);
                let source = Source::new(loaded.source.name.clone(), text);
                Content::Model(Arc::new(read(source, loaded.format, input.reading())?))
            }
            #[cfg(feature = "code")]
            Content::Code(code) => Content::Code(Arc::new(code.mutated(mutant))),
        };
        Ok(Job {
            input: Some(input.with(content)),
            question: self.question.clone(),
            settings: self.settings,
            baseline: self.baseline.clone(),
            prepared: Default::default(),
            ..*self
        })
    }

    /// Answers the question, and if it is SAFE, says for each atomic operation of a program in a
    /// source language the weakest memory order with which it stays so.
    #[cfg(feature = "c")]
    pub fn weakest_orders(&self, limits: &Limits) -> Result<(Outcome, Vec<WeakestOrder>), Error> {
        let why = "memory orders are weakened in programs in a source language";
        let prepared = self.prepare()?;
        let posed = prepared.posed.as_ref().ok_or_else(|| Error::Unsuitable(why.into()))?;
        let outcome = self.check(Engine::Auto, &limits.part())?;
        let found = match outcome.is_safe() {
            true => code::weakest(self, posed, limits)?,
            false => Vec::new(),
        };
        Ok((outcome, found))
    }

    fn program(&self) -> Result<&Input, Error> {
        self.input.as_ref().ok_or_else(unsuitable)
    }
}

fn unsuitable() -> Error {
    Error::Unsuitable("mutants are made of programs in C and Rust and of Boolean programs".into())
}
