//! Metadata: nodes with named fields, which mostly describe the source to debuggers.

use super::lexer::Token;
use super::parser::Parser;
use super::{DEEPEST, Read};

/// A value in metadata.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Meta<'t> {
    Null,
    /// `!12`
    Number(u32),
    Text(&'t str),
    Int(i128),
    Word(&'t str),
    Node(Node<'t>),
    /// Something else, such as a value of the program.
    Other,
}

/// A node: a kind such as `DILocation`, or none, and fields; those of a tuple have no names.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node<'t> {
    /// Its kind; empty for a tuple.
    pub kind: &'t str,
    /// Its fields.
    pub fields: Vec<(&'t str, Meta<'t>)>,
}

impl<'t> Node<'t> {
    /// Returns a field.
    pub fn get(&self, name: &str) -> Option<&Meta<'t>> {
        self.fields.iter().find(|f| f.0 == name).map(|f| &f.1)
    }

    /// Returns the number of the node that a field refers to.
    pub fn number(&self, name: &str) -> Option<u32> {
        match self.get(name)? {
            Meta::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns a field that is a text.
    pub fn text(&self, name: &str) -> Option<&'t str> {
        match self.get(name)? {
            Meta::Text(t) => Some(t),
            _ => None,
        }
    }

    /// Returns a field that is an integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Meta::Int(n) => i64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// Returns a field that is a word.
    pub fn word(&self, name: &str) -> Option<&'t str> {
        match self.get(name)? {
            Meta::Word(w) => Some(w),
            _ => None,
        }
    }
}

impl<'t> Parser<'t> {
    /// Reads a node behind its number: `distinct !DILocation(…)`, `!{…}`.
    pub(super) fn node(&mut self, depth: usize) -> Read<Node<'t>> {
        self.word_if("distinct")?;
        match self.take()? {
            Token::Meta(kind) => {
                self.mark('(')?;
                Ok(Node { kind, fields: self.fields(')', depth)? })
            }
            Token::Mark('!') => {
                self.mark('{')?;
                Ok(Node { kind: "", fields: self.fields('}', depth)? })
            }
            other => self.unexpected(other, "metadata"),
        }
    }

    fn fields(&mut self, end: char, depth: usize) -> Read<Vec<(&'t str, Meta<'t>)>> {
        let mut fields = Vec::new();
        while !self.mark_if(end)? {
            let name = match (self.peek()?, self.peek_second()?) {
                (Token::Word(name), Token::Mark(':')) => {
                    self.take()?;
                    self.take()?;
                    name
                }
                _ => "",
            };
            fields.push((name, self.meta(depth + 1)?));
            if !self.mark_if(',')? {
                self.mark(end)?;
                break;
            }
        }
        Ok(fields)
    }

    /// Reads a value in metadata.
    pub(super) fn meta(&mut self, depth: usize) -> Read<Meta<'t>> {
        if depth > DEEPEST {
            return self.fail("metadata is nested too deeply");
        }
        let value = match self.peek()? {
            Token::Meta(name) => match name.parse() {
                Ok(n) => {
                    self.take()?;
                    Meta::Number(n)
                }
                Err(_) => Meta::Node(self.node(depth)?),
            },
            Token::Mark('!') => match self.peek_second()? {
                Token::Text(text) => {
                    self.take()?;
                    self.take()?;
                    Meta::Text(text)
                }
                _ => Meta::Node(self.node(depth)?),
            },
            Token::Text(text) => {
                self.take()?;
                Meta::Text(text)
            }
            Token::Word("null") => {
                self.take()?;
                Meta::Null
            }
            Token::Word("distinct") => Meta::Node(self.node(depth)?),
            Token::Word(word) => self.meta_word(word, depth)?,
            _ => {
                self.typed(depth)?;
                Meta::Other
            }
        };
        while self.mark_if('|')? {
            self.take()?;
        }
        Ok(value)
    }

    fn meta_word(&mut self, word: &'t str, depth: usize) -> Read<Meta<'t>> {
        if let Ok(n) = word.parse() {
            self.take()?;
            return Ok(Meta::Int(n));
        }
        // A value of the program: a type and more, such as `i32 7`.
        match self.peek_second()? {
            Token::Mark(',' | ')' | '}' | '|') => {
                self.take()?;
                Ok(Meta::Word(word))
            }
            _ => match self.typed(depth)? {
                (_, crate::syntax::tree::Value::Int(n)) => Ok(Meta::Int(n)),
                _ => Ok(Meta::Other),
            },
        }
    }
}
