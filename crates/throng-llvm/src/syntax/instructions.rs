//! Bodies of functions.

use super::Read;
use super::lexer::Token;
use super::metadata::Meta;
use super::parser::Parser;
use super::tree::{Argument, Block, Call, Instruction, Op, Order, Type, Typed, Value};

impl<'t> Parser<'t> {
    /// Reads the blocks of a function up to its closing brace.
    pub(super) fn body(&mut self) -> Read<Vec<Block<'t>>> {
        let mut blocks = vec![Block { label: "", code: Vec::new() }];
        loop {
            match (self.peek()?, self.peek_second()?) {
                (Token::Mark('}'), _) => {
                    self.take()?;
                    break;
                }
                (Token::Word(label) | Token::Text(label), Token::Mark(':')) => {
                    self.take()?;
                    self.take()?;
                    match &mut blocks[..] {
                        [first] if first.label.is_empty() && first.code.is_empty() => first.label = label,
                        _ => blocks.push(Block { label, code: Vec::new() }),
                    }
                }
                (Token::Word("uselistorder"), _) => self.skip_line()?,
                _ => {
                    let i = self.instruction()?;
                    if let (Some(i), Some(block)) = (i, blocks.last_mut()) {
                        block.code.push(i);
                    }
                }
            }
        }
        Ok(blocks)
    }

    fn instruction(&mut self) -> Read<Option<Instruction<'t>>> {
        let mut first = self.take()?;
        let start = self.last;
        if let Token::Hash(record) = first {
            let op = self.record(record)?;
            return Ok(op.map(|op| Instruction { result: None, op, place: None, span: start.to(self.last) }));
        }
        let mut result = None;
        if let Token::Local(name) = first {
            self.mark('=')?;
            result = Some(name);
            first = self.take()?;
        }
        let Token::Word(name) = first else { return self.unexpected(first, "an instruction") };
        let op = match self.operation(name, false, 0)? {
            Some(op) => op,
            None => self.other(name)?,
        };
        let place = self.attachments()?;
        Ok(Some(Instruction { result, op, place, span: start.to(self.last) }))
    }

    /// Reads what hangs on an instruction, and returns the number of its place in the source.
    fn attachments(&mut self) -> Read<Option<u32>> {
        let mut place = None;
        loop {
            match self.peek()? {
                Token::Mark(',') => {
                    self.take()?;
                }
                Token::Hash(name) if name.bytes().all(|b| b.is_ascii_digit()) => {
                    self.take()?;
                }
                Token::Meta(kind) if !self.lexer.begins_line() => {
                    self.take()?;
                    let number = self.reference()?;
                    if kind == "dbg" {
                        place = number;
                    }
                }
                _ => return Ok(place),
            }
        }
    }

    /// Reads a record for debuggers; those about values of variables are kept.
    fn record(&mut self, name: &'t str) -> Read<Option<Op<'t>>> {
        self.mark('(')?;
        if !matches!(name, "dbg_value" | "dbg_declare") {
            let mut open = 1;
            while open > 0 {
                match self.take()? {
                    Token::Mark('(') => open += 1,
                    Token::Mark(')') => open -= 1,
                    Token::End => return self.fail("`)` is missing"),
                    _ => {}
                }
            }
            return Ok(None);
        }
        let what = match self.peek()? {
            Token::Meta(_) | Token::Mark('!') => {
                self.meta(0)?;
                None
            }
            _ => Some(self.typed(0)?),
        };
        self.mark(',')?;
        let variable = self.reference()?;
        self.mark(',')?;
        let whole = matches!(self.meta(0)?, Meta::Node(node) if node.fields.is_empty());
        self.mark(',')?;
        self.meta(0)?;
        self.mark(')')?;
        let declares = name == "dbg_declare";
        Ok(what.zip(variable).map(|(what, variable)| Op::Debug { what, variable, whole, declares }))
    }

    fn other(&mut self, name: &'t str) -> Read<Op<'t>> {
        Ok(match name {
            "ret" => {
                let (ty, _) = (self.peek()?, ());
                match ty {
                    Token::Word("void") => {
                        self.take()?;
                        Op::Return(None)
                    }
                    _ => Op::Return(Some(self.typed(0)?)),
                }
            }
            "br" => self.branch()?,
            "switch" => self.switch()?,
            "unreachable" => Op::Unreachable,
            "load" => self.load()?,
            "store" => self.store()?,
            "alloca" => self.alloca()?,
            "phi" => self.phi()?,
            "tail" | "musttail" | "notail" => {
                self.expect_word("call")?;
                self.call(false)?
            }
            "call" => self.call(false)?,
            "invoke" => self.call(true)?,
            "extractvalue" => {
                let from = self.typed(0)?;
                Op::Extract { from, path: self.path()? }
            }
            "insertvalue" => {
                let into = self.typed(0)?;
                self.mark(',')?;
                let what = self.typed(0)?;
                Op::Insert { into, what, path: self.path()? }
            }
            "atomicrmw" => self.read_modify_write()?,
            "cmpxchg" => self.compare_exchange()?,
            "fence" => {
                self.scope()?;
                Op::Fence(self.order()?)
            }
            "freeze" => Op::Freeze(self.typed(0)?),
            "fneg" => {
                while matches!(self.peek()?, Token::Word(_)) && !self.at_type()? {
                    self.take()?;
                }
                Op::Negate(self.typed(0)?)
            }
            _ => {
                self.skip_line()?;
                // What belongs to it may stand on lines of its own.
                while matches!(self.peek()?, Token::Word("catch" | "cleanup" | "filter" | "to" | "unwind")) {
                    self.take()?;
                    self.skip_line()?;
                }
                Op::Other(name)
            }
        })
    }

    fn label(&mut self) -> Read<&'t str> {
        self.expect_word("label")?;
        match self.take()? {
            Token::Local(name) => Ok(name),
            other => self.unexpected(other, "a label"),
        }
    }

    fn branch(&mut self) -> Read<Op<'t>> {
        if self.peek()? == Token::Word("label") {
            return Ok(Op::Branch(self.label()?));
        }
        let (_, condition) = self.typed(0)?;
        self.mark(',')?;
        let yes = self.label()?;
        self.mark(',')?;
        Ok(Op::BranchIf(condition, yes, self.label()?))
    }

    fn switch(&mut self) -> Read<Op<'t>> {
        let on = self.typed(0)?;
        self.mark(',')?;
        let default = self.label()?;
        self.mark('[')?;
        let mut cases = Vec::new();
        while !self.mark_if(']')? {
            let (_, value) = self.typed(0)?;
            self.mark(',')?;
            cases.push((value, self.label()?));
        }
        Ok(Op::Switch { on, default, cases })
    }

    fn scope(&mut self) -> Read<()> {
        if self.word_if("syncscope")? { self.balanced() } else { Ok(()) }
    }

    fn order_if(&mut self) -> Read<Option<Order>> {
        let Token::Word(word) = self.peek()? else { return Ok(None) };
        let order = match word {
            "unordered" => Order::Unordered,
            "monotonic" => Order::Monotonic,
            "acquire" => Order::Acquire,
            "release" => Order::Release,
            "acq_rel" => Order::AcqRel,
            "seq_cst" => Order::SeqCst,
            _ => return Ok(None),
        };
        self.take()?;
        Ok(Some(order))
    }

    fn order(&mut self) -> Read<Order> {
        match self.order_if()? {
            Some(order) => Ok(order),
            None => {
                let found = self.take()?;
                self.unexpected(found, "a memory order")
            }
        }
    }

    fn align(&mut self) -> Read<u32> {
        if !matches!((self.peek()?, self.peek_second()?), (Token::Mark(','), Token::Word("align"))) {
            return Ok(0);
        }
        self.take()?;
        self.take()?;
        Ok(self.count()?.min(1 << 16) as u32)
    }

    fn load(&mut self) -> Read<Op<'t>> {
        let atomic = self.word_if("atomic")?;
        let volatile = self.word_if("volatile")?;
        let of = self.ty(0)?;
        self.mark(',')?;
        let (_, from) = self.typed(0)?;
        self.scope()?;
        let order = if atomic { Some(self.order()?) } else { None };
        Ok(Op::Load { of, from, order, volatile, align: self.align()? })
    }

    fn store(&mut self) -> Read<Op<'t>> {
        let atomic = self.word_if("atomic")?;
        let volatile = self.word_if("volatile")?;
        let what = self.typed(0)?;
        self.mark(',')?;
        let (_, to) = self.typed(0)?;
        self.scope()?;
        let order = if atomic { Some(self.order()?) } else { None };
        Ok(Op::Store { what, to, order, volatile, align: self.align()? })
    }

    fn alloca(&mut self) -> Read<Op<'t>> {
        self.word_if("inalloca")?;
        self.word_if("swifterror")?;
        let of = self.ty(0)?;
        let mut count = None;
        if let (Token::Mark(','), Token::Word(word)) = (self.peek()?, self.peek_second()?)
            && super::values::is_type_word(word)
        {
            self.take()?;
            count = Some(self.typed(0)?);
        }
        Ok(Op::Alloca { of, count, align: self.align()? })
    }

    fn phi(&mut self) -> Read<Op<'t>> {
        self.skip_to_type()?;
        let ty = self.ty(0)?;
        let mut ways = Vec::new();
        loop {
            self.mark('[')?;
            let value = self.value(&ty, 0)?;
            self.mark(',')?;
            match self.take()? {
                Token::Local(from) => ways.push((value, from)),
                other => return self.unexpected(other, "a label"),
            }
            self.mark(']')?;
            if !matches!((self.peek()?, self.peek_second()?), (Token::Mark(','), Token::Mark('['))) {
                return Ok(Op::Phi(ty, ways));
            }
            self.take()?;
        }
    }

    fn path(&mut self) -> Read<Vec<u64>> {
        let mut path = Vec::new();
        while let (Token::Mark(','), Token::Word(_)) = (self.peek()?, self.peek_second()?) {
            self.take()?;
            path.push(self.count()?);
        }
        Ok(path)
    }

    fn read_modify_write(&mut self) -> Read<Op<'t>> {
        self.word_if("volatile")?;
        let Token::Word(how) = self.take()? else { return self.fail("an operation is expected") };
        let (_, at) = self.typed(0)?;
        self.mark(',')?;
        let with = self.typed(0)?;
        self.scope()?;
        let order = self.order()?;
        self.align()?;
        Ok(Op::ReadModifyWrite { how, at, with, order })
    }

    fn compare_exchange(&mut self) -> Read<Op<'t>> {
        let weak = self.word_if("weak")?;
        self.word_if("volatile")?;
        let (_, at) = self.typed(0)?;
        self.mark(',')?;
        let expected = self.typed(0)?;
        self.mark(',')?;
        let (_, new) = self.typed(0)?;
        self.scope()?;
        let (success, failure) = (self.order()?, self.order()?);
        self.align()?;
        Ok(Op::CompareExchange { at, expected, new, weak, success, failure })
    }

    fn call(&mut self, invoke: bool) -> Read<Op<'t>> {
        self.skip_to_type()?;
        let mut result = self.ty(0)?;
        if self.peek()? == Token::Mark('(') {
            // The whole type of a function with variable arguments.
            self.balanced()?;
        }
        if matches!(result, Type::Label) {
            result = Type::Void;
        }
        let callee = self.value(&Type::Pointer, 0)?;
        if let Value::Global(name @ ("llvm.dbg.declare" | "llvm.dbg.value")) = callee {
            return self.debug_call(name == "llvm.dbg.declare");
        }
        let arguments = self.arguments()?;
        // Attributes of the function, and bundles of operands.
        loop {
            match self.peek()? {
                Token::Hash(_) | Token::Word(_) if self.lexer.begins_line() => break,
                Token::Hash(_) => _ = self.take()?,
                Token::Mark('[') => self.balanced()?,
                Token::Word("to") if invoke => break,
                Token::Word(_) => {
                    self.take()?;
                    if self.peek()? == Token::Mark('(') {
                        self.balanced()?;
                    }
                }
                Token::Text(_) => {
                    self.take()?;
                    if self.mark_if('=')? {
                        self.take()?;
                    }
                }
                _ => break,
            }
        }
        let mut then = None;
        if invoke {
            self.expect_word("to")?;
            then = Some(self.label()?);
            self.expect_word("unwind")?;
            self.label()?;
        }
        Ok(Op::Call(Box::new(Call { result, callee, arguments, then })))
    }

    /// Reads what a call tells debuggers, as records do ([`Parser::record`]).
    fn debug_call(&mut self, declares: bool) -> Read<Op<'t>> {
        self.mark('(')?;
        self.expect_word("metadata")?;
        let what = match self.peek()? {
            Token::Meta(_) | Token::Mark('!') => {
                self.meta(0)?;
                (Type::Void, Value::Undef)
            }
            _ => self.typed(0)?,
        };
        self.mark(',')?;
        self.expect_word("metadata")?;
        let variable = self.reference()?.unwrap_or(u32::MAX);
        self.mark(',')?;
        self.expect_word("metadata")?;
        let whole = matches!(self.meta(0)?, Meta::Node(node) if node.fields.is_empty());
        self.mark(')')?;
        while matches!(self.peek()?, Token::Hash(_)) && !self.lexer.begins_line() {
            self.take()?;
        }
        Ok(Op::Debug { what, variable, whole, declares })
    }

    fn arguments(&mut self) -> Read<Vec<Argument<'t>>> {
        self.mark('(')?;
        let mut arguments = Vec::new();
        while !self.mark_if(')')? {
            let ty = self.ty(0)?;
            if ty == Type::Metadata {
                self.meta(0)?;
                let value = Value::Other("metadata".into());
                arguments.push(Argument { ty, value, by_value: None, align: 0 });
            } else {
                let (by_value, align) = self.skip_attributes()?;
                let value = self.value(&ty, 0)?;
                arguments.push(Argument { ty, value, by_value, align });
            }
            if !self.mark_if(',')? {
                self.mark(')')?;
                break;
            }
        }
        Ok(arguments)
    }
}

impl<'t> Call<'t> {
    /// Returns an argument with its type.
    pub fn argument(&self, n: usize) -> Option<Typed<'t>> {
        self.arguments.get(n).map(|a| (a.ty.clone(), a.value.clone()))
    }
}
