//! An input and a question about it, as a fuzzer makes, keeps and shrinks them.

use serde::{Deserialize, Serialize};

use super::known::Known;
use super::nets::Net;
use super::threads::Threads;
use throng_lang::load::{Format, Reading};
use throng_lang::question::Question;

/// A case: everything that is needed to run it again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The input.
    pub body: Body,
    /// `--threads`.
    pub threads: Option<u32>,
    /// Facts that the generator knows about it.
    pub known: Option<Known>,
}

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Body {
    /// A Boolean program.
    Program(Program),
    /// A thread-transition system.
    Threads(Threads),
    /// A Petri net.
    Net(Net),
}

/// A Boolean program with its question; its assertions are asked about in any case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The text.
    pub text: String,
    /// `--initial`: this many threads, or any number.
    pub initial: Option<u32>,
    /// `--error-label` and `--mutex`.
    pub label: Option<String>,
    /// `--invariant`.
    pub invariant: Option<String>,
    /// `--no-slot-reuse`.
    pub keep_ended: bool,
}

impl Case {
    /// The text of the file.
    pub fn text(&self) -> String {
        match &self.body {
            Body::Program(program) => program.text.clone(),
            Body::Threads(threads) => threads.text(),
            Body::Net(net) => net.text(),
        }
    }

    /// Its format.
    pub fn format(&self) -> Format {
        match &self.body {
            Body::Program(_) => Format::Bp,
            Body::Threads(threads) if threads.named => Format::Ntts,
            Body::Threads(_) => Format::Tts,
            Body::Net(net) if net.pnml => Format::Pnml,
            Body::Net(_) => Format::Spec,
        }
    }

    /// Returns how it is read.
    pub fn reading(&self) -> Reading {
        let keep_ended = matches!(&self.body, Body::Program(Program { keep_ended: true, .. }));
        Reading { keep_ended, ..Reading::default() }
    }

    /// The question.
    pub fn question(&self) -> Question {
        let asked = Question { threads: self.threads, ..Question::default() };
        match &self.body {
            Body::Program(program) => Question {
                initial: Some(program.initial.map_or("any".into(), |n| n.to_string())),
                error_labels: program.label.clone().into_iter().collect(),
                mutex: program.label.clone().into_iter().collect(),
                invariants: program.invariant.clone().into_iter().collect(),
                ..asked
            },
            Body::Threads(threads) => Question { initial: Some(threads.initial()), ..asked },
            Body::Net(net) => Question { targets: net.asked(), ..asked },
        }
    }

    /// The options of `throng check` that ask the same.
    pub fn options(&self) -> String {
        let Question { initial, threads, targets, error_labels, mutex, invariants, .. } = self.question();
        let mut text = String::new();
        let mut option = |name: &str, value: &str| text += &format!(" --{name} '{value}'");
        initial.iter().for_each(|i| option("initial", i));
        threads.iter().for_each(|n| option("threads", &n.to_string()));
        targets.iter().for_each(|t| option("target", t));
        error_labels.iter().for_each(|l| option("error-label", l));
        mutex.iter().for_each(|l| option("mutex", l));
        invariants.iter().for_each(|i| option("invariant", i));
        if self.reading().keep_ended {
            text += " --no-slot-reuse";
        }
        text
    }
}
