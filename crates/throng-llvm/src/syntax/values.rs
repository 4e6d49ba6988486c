//! Types and values.

use std::sync::Arc;

use super::lexer::{Token, unescaped};
use super::parser::Parser;
use super::tree::{Binary, Cast, Flags, Op, Type, Typed, Value};
use super::{DEEPEST, Read};

/// Types by words that are not modelled.
const OTHER_TYPES: [&str; 9] =
    ["half", "bfloat", "fp128", "x86_fp80", "ppc_fp128", "x86_amx", "token", "opaque", "target"];

/// Words that stand in front of an operation and say when its result is poison.
const FLAGS: [&str; 11] =
    ["nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "fast", "nnan", "ninf", "nsz", "contract"];

impl<'t> Parser<'t> {
    /// Returns whether a type begins here.
    pub(super) fn at_type(&mut self) -> Read<bool> {
        Ok(match self.peek()? {
            Token::Mark('[' | '{' | '<') | Token::Local(_) => true,
            Token::Word(w) => is_type_word(w),
            _ => false,
        })
    }

    /// Reads a type. What older compilers write as a pointer to a type is a pointer.
    pub(super) fn ty(&mut self, depth: usize) -> Read<Type<'t>> {
        let mut ty = self.simple_type(depth)?;
        loop {
            match self.peek()? {
                Token::Mark('*') => self.mark('*')?,
                Token::Word("addrspace") if ty != Type::Pointer => {
                    return self.fail("a pointer of another address space is not read");
                }
                Token::Mark('(') if self.is_pointer_to_function()? => {
                    self.balanced()?;
                    self.mark('*')?;
                }
                _ => return Ok(ty),
            }
            ty = Type::Pointer;
        }
    }

    /// Returns whether parameters of a function and `*` come next.
    fn is_pointer_to_function(&mut self) -> Read<bool> {
        let (lexer, last) = (self.lexer, self.last);
        let found = self.balanced().and_then(|()| self.peek());
        (self.lexer, self.last) = (lexer, last);
        Ok(matches!(found, Ok(Token::Mark('*'))))
    }

    fn simple_type(&mut self, depth: usize) -> Read<Type<'t>> {
        if depth > DEEPEST {
            return self.fail("types are nested too deeply");
        }
        let ty = match self.take()? {
            Token::Local(name) => Type::Named(name),
            Token::Mark('[') => {
                let n = self.count()?;
                self.expect_word("x")?;
                let of = self.ty(depth + 1)?;
                self.mark(']')?;
                Type::Array(n, Arc::new(of))
            }
            Token::Mark('{') => Type::Struct(self.types('}', depth)?, false),
            Token::Mark('<') if self.mark_if('{')? => {
                let fields = self.types('}', depth)?;
                self.mark('>')?;
                Type::Struct(fields, true)
            }
            Token::Mark('<') => self.vector(depth)?,
            Token::Word(w) => return self.word_type(w),
            other => return self.unexpected(other, "a type"),
        };
        Ok(ty)
    }

    fn vector(&mut self, depth: usize) -> Read<Type<'t>> {
        let scalable = self.word_if("vscale")?;
        if scalable {
            self.expect_word("x")?;
        }
        let n = self.count()?;
        self.expect_word("x")?;
        let of = self.ty(depth + 1)?;
        self.mark('>')?;
        Ok(Type::Other(format!("<{n} x {}>", name_of(&of))))
    }

    fn types(&mut self, end: char, depth: usize) -> Read<Arc<[Type<'t>]>> {
        let mut fields = Vec::new();
        while !self.mark_if(end)? {
            fields.push(self.ty(depth + 1)?);
            if !self.mark_if(',')? {
                self.mark(end)?;
                break;
            }
        }
        Ok(fields.into())
    }

    fn word_type(&mut self, word: &'t str) -> Read<Type<'t>> {
        Ok(match word {
            "void" => Type::Void,
            "float" => Type::Float,
            "double" => Type::Double,
            "metadata" => Type::Metadata,
            "label" => Type::Label,
            "ptr" => {
                if self.word_if("addrspace")? {
                    self.balanced()?;
                    return Ok(Type::Other("a pointer of another address space".into()));
                }
                Type::Pointer
            }
            "target" => {
                self.balanced()?;
                Type::Other("a type of the target".into())
            }
            _ if OTHER_TYPES.contains(&word) => Type::Other(format!("`{word}`")),
            _ => match word.strip_prefix('i').and_then(|bits| bits.parse().ok()) {
                Some(bits @ 1..=0x80_0000) => Type::Int(bits),
                _ => return self.unexpected(Token::Word(word), "a type"),
            },
        })
    }

    /// Reads a type and a value of it; attributes may stand between them.
    pub(super) fn typed(&mut self, depth: usize) -> Read<Typed<'t>> {
        let ty = self.ty(depth)?;
        if ty == Type::Metadata {
            self.meta(depth)?;
            return Ok((ty, Value::Other("metadata".into())));
        }
        let value = self.value(&ty, depth)?;
        Ok((ty, value))
    }

    /// Reads a value of a type.
    pub(super) fn value(&mut self, ty: &Type<'t>, depth: usize) -> Read<Value<'t>> {
        if depth > DEEPEST {
            return self.fail("values are nested too deeply");
        }
        Ok(match self.take()? {
            Token::Local(name) => Value::Local(name),
            Token::Global(name) => Value::Global(name),
            Token::Bytes(text) => Value::Bytes(unescaped(text)),
            Token::Mark('[') => Value::Parts(self.parts(']', depth)?),
            Token::Mark('{') => Value::Parts(self.parts('}', depth)?),
            Token::Mark('<') if self.mark_if('{')? => {
                let parts = self.parts('}', depth)?;
                self.mark('>')?;
                Value::Parts(parts)
            }
            Token::Mark('<') => {
                self.parts('>', depth)?;
                Value::Other("a vector".into())
            }
            Token::Word(word) => self.word_value(word, ty, depth)?,
            other => return self.unexpected(other, "a value"),
        })
    }

    fn parts(&mut self, end: char, depth: usize) -> Read<Vec<Typed<'t>>> {
        let mut parts = Vec::new();
        while !self.mark_if(end)? {
            parts.push(self.typed(depth + 1)?);
            if !self.mark_if(',')? {
                self.mark(end)?;
                break;
            }
        }
        Ok(parts)
    }

    fn word_value(&mut self, word: &'t str, ty: &Type<'t>, depth: usize) -> Read<Value<'t>> {
        Ok(match word {
            "null" | "none" => Value::Null,
            "zeroinitializer" => Value::Zero,
            "undef" => Value::Undef,
            "poison" => Value::Poison,
            "true" => Value::Int(1),
            "false" => Value::Int(0),
            "asm" => self.assembly()?,
            "splat" => {
                self.balanced()?;
                Value::Other("a vector".into())
            }
            "blockaddress" | "dso_local_equivalent" | "no_cfi" | "ptrauth" => {
                self.skip_words_and_brackets()?;
                Value::Other(format!("`{word}`"))
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') => {
                return self.number(word, ty);
            }
            _ => match self.operation(word, true, depth)? {
                Some(op) => Value::Expr(Box::new(op)),
                None => return self.unexpected(Token::Word(word), "a value"),
            },
        })
    }

    fn assembly(&mut self) -> Read<Value<'t>> {
        while matches!(self.peek()?, Token::Word(_)) {
            self.take()?;
        }
        let text = match self.take()? {
            Token::Text(text) => text,
            other => return self.unexpected(other, "assembly"),
        };
        self.mark(',')?;
        let constraints = match self.take()? {
            Token::Text(text) => text,
            other => return self.unexpected(other, "constraints"),
        };
        Ok(Value::Other(format!("assembly:{}:{constraints}", text.trim())))
    }

    fn number(&mut self, word: &'t str, ty: &Type<'t>) -> Read<Value<'t>> {
        let float = matches!(ty, Type::Float | Type::Double);
        let value = if let Some(hex) = word.strip_prefix("0x") {
            u64::from_str_radix(hex, 16).ok().map(Value::Float)
        } else if float {
            word.parse().ok().map(|v: f64| Value::Float(v.to_bits()))
        } else {
            word.parse().ok().or_else(|| word.parse::<u128>().ok().map(|n| n as i128)).map(Value::Int)
        };
        match value {
            Some(v) => Ok(v),
            None if matches!(ty, Type::Other(_)) || word.starts_with("0x") => {
                Ok(Value::Other(format!("the number {word}")))
            }
            None => self.fail("this number is not one of its type, or has more than 128 bits"),
        }
    }

    fn flags(&mut self) -> Read<Flags> {
        let mut flags = Flags::default();
        while let Token::Word(word) = self.peek()? {
            if !FLAGS.contains(&word) && !matches!(word, "reassoc" | "arcp" | "afn") {
                break;
            }
            flags.unsigned |= word == "nuw";
            flags.signed |= word == "nsw";
            flags.other |= matches!(word, "exact" | "disjoint" | "nneg" | "samesign");
            self.take()?;
        }
        Ok(flags)
    }

    /// Reads an operation that constants can be written with, behind its name; `None` if it is not
    /// one. That of a constant is in parentheses.
    pub(super) fn operation(&mut self, name: &'t str, constant: bool, depth: usize) -> Read<Option<Op<'t>>> {
        let depth = depth + 1;
        if let Some(how) = binary(name) {
            let flags = self.flags()?;
            self.open(constant)?;
            let (ty, a) = self.typed(depth)?;
            self.mark(',')?;
            let b = if constant { self.typed(depth)?.1 } else { self.value(&ty, depth)? };
            self.close(constant)?;
            return Ok(Some(Op::Binary(how, flags, ty, a, b)));
        }
        if let Some(how) = cast(name) {
            let flags = self.flags()?;
            self.open(constant)?;
            let from = self.typed(depth)?;
            self.expect_word("to")?;
            let to = self.ty(depth)?;
            self.close(constant)?;
            return Ok(Some(Op::Cast(how, flags, from, to)));
        }
        match name {
            "getelementptr" => self.element(constant, depth).map(Some),
            "icmp" | "fcmp" => {
                self.flags()?;
                let Token::Word(how) = self.take()? else { return self.fail("a comparison is expected") };
                self.open(constant)?;
                let (of, a) = self.typed(depth)?;
                self.mark(',')?;
                let b = if constant { self.typed(depth)?.1 } else { self.value(&of, depth)? };
                self.close(constant)?;
                Ok(Some(Op::Compare { float: name == "fcmp", how, of, a, b }))
            }
            "select" => {
                self.flags()?;
                self.open(constant)?;
                let condition = self.typed(depth)?;
                self.mark(',')?;
                let yes = self.typed(depth)?;
                self.mark(',')?;
                let no = self.typed(depth)?;
                self.close(constant)?;
                Ok(Some(Op::Select { condition, yes, no }))
            }
            _ => Ok(None),
        }
    }

    fn element(&mut self, constant: bool, depth: usize) -> Read<Op<'t>> {
        let mut inbounds = false;
        while let Token::Word(word @ ("inbounds" | "nuw" | "nusw" | "inrange")) = self.peek()? {
            self.take()?;
            inbounds |= word == "inbounds";
            if word == "inrange" {
                self.balanced()?;
            }
        }
        self.open(constant)?;
        let of = self.ty(depth)?;
        self.mark(',')?;
        let (base_type, base) = self.typed(depth)?;
        let mut indices = Vec::new();
        while matches!((self.peek()?, self.peek_second()?), (Token::Mark(','), t) if !matches!(t, Token::Meta(_) | Token::Mark('!')))
        {
            self.mark(',')?;
            indices.push(self.typed(depth)?);
        }
        self.close(constant)?;
        match base_type {
            Type::Pointer => Ok(Op::Element { of, base, indices, inbounds }),
            _ => self.fail("an element is taken of something that is not a pointer"),
        }
    }

    fn open(&mut self, constant: bool) -> Read<()> {
        if constant { self.mark('(') } else { Ok(()) }
    }

    fn close(&mut self, constant: bool) -> Read<()> {
        if constant { self.mark(')') } else { Ok(()) }
    }
}

/// Returns whether a word is a type.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(word, "void" | "float" | "double" | "metadata" | "label" | "ptr")
        || OTHER_TYPES.contains(&word)
        || word
            .strip_prefix('i')
            .is_some_and(|bits| !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns what messages call a type.
pub fn name_of(ty: &Type<'_>) -> String {
    match ty {
        Type::Void => "void".into(),
        Type::Int(bits) => format!("i{bits}"),
        Type::Float => "float".into(),
        Type::Double => "double".into(),
        Type::Pointer => "ptr".into(),
        Type::Array(n, of) => format!("[{n} x {}]", name_of(of)),
        Type::Struct(..) => "a structure".into(),
        Type::Named(name) => format!("%{name}"),
        Type::Metadata => "metadata".into(),
        Type::Label => "label".into(),
        Type::Other(what) => what.clone(),
    }
}

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "udiv" => Binary::UDiv,
        "sdiv" => Binary::SDiv,
        "urem" => Binary::URem,
        "srem" => Binary::SRem,
        "shl" => Binary::Shl,
        "lshr" => Binary::LShr,
        "ashr" => Binary::AShr,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        "fadd" => Binary::FAdd,
        "fsub" => Binary::FSub,
        "fmul" => Binary::FMul,
        "fdiv" => Binary::FDiv,
        "frem" => Binary::FRem,
        _ => return None,
    })
}

fn cast(name: &str) -> Option<Cast> {
    Some(match name {
        "trunc" => Cast::Trunc,
        "zext" => Cast::ZExt,
        "sext" => Cast::SExt,
        "ptrtoint" | "ptrtoaddr" => Cast::PtrToInt,
        "inttoptr" => Cast::IntToPtr,
        "bitcast" => Cast::BitCast,
        "fptoui" => Cast::FpToUi,
        "fptosi" => Cast::FpToSi,
        "uitofp" => Cast::UiToFp,
        "sitofp" => Cast::SiToFp,
        "fptrunc" => Cast::FpTrunc,
        "fpext" => Cast::FpExt,
        _ => return None,
    })
}
