//! Trees as C text, with all brackets: what the parser understood, for people and for compilers.

use std::fmt::Write as _;

use throng_c::syntax::ast::*;

/// Returns a whole file as text.
pub fn unit(unit: &TranslationUnit) -> String {
    let mut out = String::new();
    for item in &unit.0 {
        match &item.node {
            ExternalDeclaration::Declaration(d) => out += &declaration(&d.node),
            ExternalDeclaration::StaticAssert(a) => out += &static_assert(&a.node),
            ExternalDeclaration::FunctionDefinition(f) => out += &function(&f.node),
            ExternalDeclaration::Asm(text) => _ = write!(out, "asm({});", text.node.join(" ")),
            ExternalDeclaration::Pragma(text) => _ = write!(out, "\n#pragma {text}"),
        }
        out.push('\n');
    }
    out.trim_end().to_string()
}

fn function(f: &FunctionDefinition) -> String {
    let mut out = specifiers(&f.specifiers) + " " + &declarator(&f.declarator.node);
    for d in &f.declarations {
        out = out + " " + &declaration(&d.node);
    }
    (out + " " + &statement(&f.statement.node)).trim_start().to_string()
}

fn static_assert(a: &StaticAssert) -> String {
    let message = a.message.as_ref().map(|m| format!(", {}", m.node.join(" ")));
    format!("_Static_assert({}{});", expression(&a.expression.node), message.unwrap_or_default())
}

fn declaration(d: &Declaration) -> String {
    let item = |d: &Node<InitDeclarator>| {
        let value = d.node.initializer.as_ref().map(|i| format!(" = {}", initializer(&i.node)));
        declarator(&d.node.declarator.node) + &value.unwrap_or_default()
    };
    let list = joined(&d.declarators, item);
    let space = if d.declarators.is_empty() || d.specifiers.is_empty() { "" } else { " " };
    format!("{}{space}{list};", specifiers(&d.specifiers))
}

fn joined<T>(list: &[T], print: impl Fn(&T) -> String) -> String {
    list.iter().map(print).collect::<Vec<_>>().join(", ")
}

// ---- specifiers ----

fn specifiers(list: &[Node<DeclarationSpecifier>]) -> String {
    let words: Vec<String> = list.iter().map(|s| specifier(&s.node)).collect();
    words.join(" ")
}

fn specifier(s: &DeclarationSpecifier) -> String {
    match s {
        DeclarationSpecifier::StorageClass(c) => match c {
            StorageClassSpecifier::Typedef => "typedef",
            StorageClassSpecifier::Extern => "extern",
            StorageClassSpecifier::Static => "static",
            StorageClassSpecifier::ThreadLocal => "__thread",
            StorageClassSpecifier::Auto => "auto",
            StorageClassSpecifier::Register => "register",
            StorageClassSpecifier::Constexpr => "constexpr",
        }
        .into(),
        DeclarationSpecifier::TypeSpecifier(t) => type_specifier(&t.node),
        DeclarationSpecifier::TypeQualifier(q) => qualifier(q),
        DeclarationSpecifier::Function(FunctionSpecifier::Inline) => "inline".into(),
        DeclarationSpecifier::Function(FunctionSpecifier::Noreturn) => "_Noreturn".into(),
        DeclarationSpecifier::Alignment(AlignmentSpecifier::Type(t)) => {
            format!("_Alignas({})", type_name(&t.node))
        }
        DeclarationSpecifier::Alignment(AlignmentSpecifier::Constant(e)) => {
            format!("_Alignas({})", expression(&e.node))
        }
        DeclarationSpecifier::Attributes(list) => attributes(list),
    }
}

fn qualifier(q: &TypeQualifier) -> String {
    match q {
        TypeQualifier::Const => "const".into(),
        TypeQualifier::Restrict => "__restrict".into(),
        TypeQualifier::Volatile => "volatile".into(),
        TypeQualifier::Atomic => "_Atomic".into(),
        TypeQualifier::Unsupported(word) => word.clone(),
    }
}

fn type_specifier(t: &TypeSpecifier) -> String {
    match t {
        TypeSpecifier::Void => "void".into(),
        TypeSpecifier::Char => "char".into(),
        TypeSpecifier::Short => "short".into(),
        TypeSpecifier::Int => "int".into(),
        TypeSpecifier::Long => "long".into(),
        TypeSpecifier::Float => "float".into(),
        TypeSpecifier::Double => "double".into(),
        TypeSpecifier::Signed => "signed".into(),
        TypeSpecifier::Unsigned => "unsigned".into(),
        TypeSpecifier::Bool => "_Bool".into(),
        TypeSpecifier::Complex => "_Complex".into(),
        TypeSpecifier::Int128 => "__int128".into(),
        TypeSpecifier::Auto => "__auto_type".into(),
        TypeSpecifier::Atomic(t) => format!("_Atomic({})", type_name(&t.node)),
        TypeSpecifier::Struct(s) => structure(&s.node),
        TypeSpecifier::Enum(e) => enumeration(&e.node),
        TypeSpecifier::TypedefName(n) => n.node.name.clone(),
        TypeSpecifier::TypeOf(t) => type_of(t),
        TypeSpecifier::VaList => "__builtin_va_list".into(),
        TypeSpecifier::Unsupported(word) => word.clone(),
    }
}

fn type_of(t: &TypeOf) -> String {
    match t {
        TypeOf::Expression(e) => format!("__typeof__({})", expression(&e.node)),
        TypeOf::Type(t) => format!("__typeof__({})", type_name(&t.node)),
        TypeOf::Unqualified(t) => type_of(t).replacen("__typeof__", "typeof_unqual", 1),
    }
}

fn structure(s: &StructType) -> String {
    let word = if s.kind == StructKind::Struct { "struct" } else { "union" };
    let name = s.identifier.as_ref().map_or(String::new(), |n| format!(" {}", n.node.name));
    let pack = s.pack.map_or(String::new(), |n| format!(" /* pack {n} */"));
    let fields = s.declarations.as_ref().map(|list| {
        let fields: Vec<String> = list.iter().map(|f| field(&f.node)).collect();
        format!(" {{ {} }}", fields.join(" "))
    });
    format!("{word}{}{name}{}{pack}", spaced(&s.attributes), fields.unwrap_or_default())
}

fn field(f: &StructDeclaration) -> String {
    let StructDeclaration::Field(f) = f else {
        let StructDeclaration::StaticAssert(a) = f else { return String::new() };
        return static_assert(&a.node);
    };
    let item = |d: &Node<StructDeclarator>| {
        let width = d.node.bit_width.as_ref().map(|e| format!(" : {}", expression(&e.node)));
        let mut d = (d.node.clone(), width.unwrap_or_default());
        let inner = d.0.declarator.as_mut().map(|d| std::mem::take(&mut d.node.attributes));
        let name = d.0.declarator.as_ref().map_or(String::new(), |d| declarator(&d.node));
        format!("{name}{}{}", d.1, spaced(&inner.unwrap_or(d.0.attributes)))
    };
    let list = joined(&f.node.declarators, item);
    let space = if list.is_empty() { "" } else { " " };
    format!("{}{space}{list};", specifiers(&f.node.specifiers))
}

fn enumeration(e: &EnumType) -> String {
    let name = e.identifier.as_ref().map_or(String::new(), |n| format!(" {}", n.node.name));
    let underlying = e.underlying.as_ref().map_or(String::new(), |t| format!(" : {}", type_name(&t.node)));
    let item = |e: &Node<Enumerator>| {
        let value = e.node.expression.as_ref().map(|v| format!(" = {}", expression(&v.node)));
        format!("{}{}{}", e.node.identifier.node.name, spaced(&e.node.attributes), value.unwrap_or_default())
    };
    let list = joined(&e.enumerators, item);
    let list = if list.is_empty() { list } else { format!(" {{ {list} }}") };
    format!("enum{}{name}{underlying}{list}", spaced(&e.attributes))
}

fn spaced(list: &[Attribute]) -> String {
    if list.is_empty() { String::new() } else { format!(" {}", attributes(list)) }
}

fn attributes(list: &[Attribute]) -> String {
    let one = |a: &Attribute| {
        let name = &a.name.node;
        let arguments = if a.text.is_empty() { String::new() } else { format!("({})", a.text) };
        match name.strip_prefix("[[").and_then(|n| n.strip_suffix("]]")) {
            Some(name) => format!("[[{name}{arguments}]]"),
            None if name.contains(':') => format!("[[{name}{arguments}]]"),
            None => format!("__attribute__(({name}{arguments}))"),
        }
    };
    list.iter().map(one).collect::<Vec<_>>().join(" ")
}

// ---- declarators ----

fn declarator(d: &Declarator) -> String {
    let label = d.label.as_ref().map_or(String::new(), |l| format!(" asm({})", l.node.join(" ")));
    format!("{}{label}{}", bare_declarator(d), spaced(&d.attributes))
}

fn bare_declarator(d: &Declarator) -> String {
    let (mut before, mut behind) = (String::new(), String::new());
    for x in &d.derived {
        match &x.node {
            DerivedDeclarator::Pointer(list) => before += &format!("*{}", pointer(list)),
            DerivedDeclarator::Array(a) => behind += &array(a),
            DerivedDeclarator::Function(f) => {
                let dots = if f.parameters.is_empty() { "..." } else { ", ..." };
                let dots = if f.variadic { dots } else { "" };
                behind += &format!("({}{dots})", joined(&f.parameters, |p| parameter(&p.node)));
            }
            DerivedDeclarator::KRFunction(names) => {
                behind += &format!("({})", joined(names, |n| n.node.name.clone()));
            }
        }
    }
    let kind = match &d.kind.node {
        DeclaratorKind::Abstract => String::new(),
        DeclaratorKind::Identifier(n) => n.node.name.clone(),
        DeclaratorKind::Declarator(inner) => {
            let attributes = attributes(&inner.node.attributes);
            format!("({attributes}{})", bare_declarator(&inner.node))
        }
    };
    format!("{before}{kind}{behind}")
}

fn pointer(list: &[PointerQualifier]) -> String {
    let one = |q: &PointerQualifier| match q {
        PointerQualifier::TypeQualifier(q) => format!("{} ", qualifier(q)),
        PointerQualifier::Attributes(list) => format!("{} ", attributes(list)),
    };
    list.iter().map(one).collect()
}

fn array(a: &ArrayDeclarator) -> String {
    let words: String = a.qualifiers.iter().map(|q| format!("{} ", qualifier(q))).collect();
    match &a.size {
        ArraySize::Unknown => format!("[{words}]"),
        ArraySize::VariableUnknown => format!("[{words}*]"),
        ArraySize::Expression(e) => format!("[{words}{}]", expression(&e.node)),
        ArraySize::StaticExpression(e) => format!("[static {words}{}]", expression(&e.node)),
    }
}

fn parameter(p: &ParameterDeclaration) -> String {
    with_declarator(&p.specifiers, p.declarator.as_ref())
}

fn type_name(t: &TypeName) -> String {
    with_declarator(&t.specifiers, t.declarator.as_ref())
}

fn with_declarator(list: &[Node<DeclarationSpecifier>], d: Option<&Node<Declarator>>) -> String {
    let d = d.map_or(String::new(), |d| format!(" {}", declarator(&d.node)));
    specifiers(list) + &d
}

fn initializer(i: &Initializer) -> String {
    match i {
        Initializer::Expression(e) => expression(&e.node),
        Initializer::List(list) => initializer_list(list),
    }
}

fn initializer_list(list: &[Node<InitializerListItem>]) -> String {
    let designator = |d: &Node<Designator>| match &d.node {
        Designator::Index(e) => format!("[{}]", expression(&e.node)),
        Designator::Member(n) => format!(".{}", n.node.name),
        Designator::Range(a, b) => format!("[{} ... {}]", expression(&a.node), expression(&b.node)),
    };
    let item = |i: &Node<InitializerListItem>| {
        let path: String = i.node.designation.iter().map(designator).collect();
        let sign = if path.is_empty() { "" } else { " = " };
        format!("{path}{sign}{}", initializer(&i.node.initializer.node))
    };
    format!("{{{}}}", joined(list, item))
}

// ---- statements ----

fn statement(s: &Statement) -> String {
    match s {
        Statement::Labeled(l) => {
            let l = &l.node;
            format!("{}{} {}", label(&l.label.node), spaced(&l.attributes), statement(&l.statement.node))
        }
        Statement::Compound(items) => {
            let items: String = items.iter().map(|i| block_item(&i.node) + " ").collect();
            format!("{{ {items}}}")
        }
        Statement::Expression(None) => ";".into(),
        Statement::Expression(Some(e)) => format!("{};", expression(&e.node)),
        Statement::If(s) => {
            let (condition, then) = (expression(&s.node.condition.node), &s.node.then_statement.node);
            match &s.node.else_statement {
                Some(e) if takes_else(then) => {
                    format!("if ({condition}) {{ {} }} else {}", statement(then), statement(&e.node))
                }
                Some(e) => format!("if ({condition}) {} else {}", statement(then), statement(&e.node)),
                None => format!("if ({condition}) {}", statement(then)),
            }
        }
        Statement::Switch(s) => {
            format!("switch ({}) {}", expression(&s.node.expression.node), statement(&s.node.statement.node))
        }
        Statement::While(s) => {
            format!("while ({}) {}", expression(&s.node.expression.node), statement(&s.node.statement.node))
        }
        Statement::DoWhile(s) => {
            format!(
                "do {} while ({});",
                statement(&s.node.statement.node),
                expression(&s.node.expression.node)
            )
        }
        Statement::For(s) => for_loop(&s.node),
        Statement::Goto(n) => format!("goto {};", n.node.name),
        Statement::GotoAddress(e) => format!("goto *{};", expression(&e.node)),
        Statement::Continue => "continue;".into(),
        Statement::Break => "break;".into(),
        Statement::Return(None) => "return;".into(),
        Statement::Return(Some(e)) => format!("return {};", expression(&e.node)),
        Statement::Asm(a) => assembly(&a.node),
        Statement::Attributed(list, s) => format!("{} {}", attributes(list), statement(&s.node)),
    }
}

/// Returns whether an `else` behind a statement would be taken by an `if` inside of it.
fn takes_else(s: &Statement) -> bool {
    match s {
        Statement::If(s) => s.node.else_statement.as_ref().is_none_or(|e| takes_else(&e.node)),
        Statement::Labeled(s) => takes_else(&s.node.statement.node),
        Statement::Attributed(_, s) => takes_else(&s.node),
        Statement::Switch(s) => takes_else(&s.node.statement.node),
        Statement::While(s) => takes_else(&s.node.statement.node),
        Statement::For(s) => takes_else(&s.node.statement.node),
        _ => false,
    }
}

fn label(l: &Label) -> String {
    match l {
        Label::Identifier(n) => format!("{}:", n.node.name),
        Label::Case(e) => format!("case {}:", expression(&e.node)),
        Label::CaseRange(a, b) => format!("case {} ... {}:", expression(&a.node), expression(&b.node)),
        Label::Default => "default:".into(),
    }
}

fn block_item(i: &BlockItem) -> String {
    match i {
        BlockItem::Declaration(d) => declaration(&d.node),
        BlockItem::StaticAssert(a) => static_assert(&a.node),
        BlockItem::Statement(s) => statement(&s.node),
        BlockItem::LocalLabels(names) => format!("__label__ {};", joined(names, |n| n.node.name.clone())),
        BlockItem::Function(f) => function(&f.node),
        BlockItem::Pragma(text) => format!("\n#pragma {text}\n"),
    }
}

fn for_loop(s: &ForStatement) -> String {
    let first = match &s.initializer.node {
        ForInitializer::Empty => ";".into(),
        ForInitializer::Expression(e) => format!("{};", expression(&e.node)),
        ForInitializer::Declaration(d) => declaration(&d.node),
        ForInitializer::StaticAssert(a) => static_assert(&a.node),
    };
    let part = |e: &Option<Box<Node<Expression>>>| {
        e.as_ref().map_or(String::new(), |e| format!(" {}", expression(&e.node)))
    };
    format!("for ({first}{};{}) {}", part(&s.condition), part(&s.step), statement(&s.statement.node))
}

fn assembly(a: &AsmStatement) -> String {
    let operand = |o: &Node<AsmOperand>| {
        let name = o.node.symbolic_name.as_ref().map_or(String::new(), |n| format!("[{}] ", n.node.name));
        format!("{name}{} ({})", o.node.constraints.node.join(" "), expression(&o.node.expression.node))
    };
    let parts = [
        joined(&a.outputs, operand),
        joined(&a.inputs, operand),
        joined(&a.clobbers, |c| c.node.join(" ")),
        joined(&a.labels, |n| n.node.name.clone()),
    ];
    let used = parts.iter().rposition(|p| !p.is_empty()).map_or(0, |n| n + 1);
    let parts: String = parts[..used].iter().map(|p| format!(" : {p}")).collect();
    let goto = if a.goto { " goto" } else { "" };
    format!("asm{goto} volatile ({}{parts});", a.template.node.join(" "))
}

// ---- expressions ----

fn expression(e: &Expression) -> String {
    match e {
        Expression::Identifier(n) => n.node.name.clone(),
        Expression::Constant(c) => constant(&c.node),
        Expression::StringLiteral(s) => s.node.join(" "),
        Expression::GenericSelection(g) => generic(&g.node),
        Expression::Member(m) => {
            let sign = if m.node.operator == MemberOperator::Direct { "." } else { "->" };
            format!("{}{sign}{}", expression(&m.node.expression.node), m.node.identifier.node.name)
        }
        Expression::Call(c) => {
            let arguments = joined(&c.node.arguments, |a| expression(&a.node));
            format!("{}({arguments})", expression(&c.node.callee.node))
        }
        Expression::CompoundLiteral(c) => {
            format!("(({}){})", type_name(&c.node.type_name.node), initializer_list(&c.node.initializer_list))
        }
        Expression::SizeOfTy(t) => format!("sizeof({})", type_name(&t.node)),
        Expression::SizeOfVal(e) => format!("(sizeof {})", expression(&e.node)),
        Expression::AlignOfTy(t) => format!("__alignof__({})", type_name(&t.node)),
        Expression::AlignOfVal(e) => format!("(__alignof__ {})", expression(&e.node)),
        Expression::UnaryOperator(u) => unary(&u.node),
        Expression::Cast(c) => {
            format!("(({}){})", type_name(&c.node.type_name.node), expression(&c.node.expression.node))
        }
        Expression::BinaryOperator(b) => binary(&b.node),
        Expression::Conditional(c) => {
            let then = c.node.then_expression.as_ref().map_or(String::new(), |e| expression(&e.node));
            let (condition, other) = (&c.node.condition.node, &c.node.else_expression.node);
            format!("({} ? {then} : {})", expression(condition), expression(other))
        }
        Expression::Comma(list) => format!("({})", joined(list, |e| expression(&e.node))),
        Expression::OffsetOf(o) => offset_of(&o.node),
        Expression::VaArg(v) => {
            let (list, wanted) = (expression(&v.node.va_list.node), type_name(&v.node.type_name.node));
            format!("__builtin_va_arg({list}, {wanted})")
        }
        Expression::Statement(s) => format!("({})", statement(&s.node)),
        Expression::LabelAddress(n) => format!("&&{}", n.node.name),
        Expression::TypesCompatible(t) => {
            format!("__builtin_types_compatible_p({}, {})", type_name(&t.0.node), type_name(&t.1.node))
        }
        Expression::Unsupported(name) => format!("<{name}>"),
    }
}

fn constant(c: &Constant) -> String {
    match c {
        Constant::Character(text) => text.clone(),
        Constant::Float(f) => {
            let suffix = match &f.format {
                FloatFormat::Float => "f",
                FloatFormat::Double => "",
                FloatFormat::LongDouble => "l",
                FloatFormat::Other(suffix) => suffix,
            };
            format!("{}{suffix}{}", f.number, if f.imaginary { "i" } else { "" })
        }
        Constant::Integer(i) => {
            let digits =
                if i.decimal || i.value == 0 { i.value.to_string() } else { format!("{:#x}", i.value) };
            let size = match i.size {
                IntegerSize::Int => "",
                IntegerSize::Long => "l",
                IntegerSize::LongLong => "ll",
                IntegerSize::BitInt => "wb",
            };
            let unsigned = if i.unsigned { "u" } else { "" };
            format!("{digits}{unsigned}{size}{}", if i.imaginary { "i" } else { "" })
        }
    }
}

fn generic(g: &GenericSelection) -> String {
    let item = |a: &Node<GenericAssociation>| match &a.node {
        GenericAssociation::Type(t, e) => format!("{}: {}", type_name(&t.node), expression(&e.node)),
        GenericAssociation::Default(e) => format!("default: {}", expression(&e.node)),
    };
    format!("_Generic({}, {})", expression(&g.expression.node), joined(&g.associations, item))
}

fn offset_of(o: &OffsetOfExpression) -> String {
    let member = |m: &Node<OffsetMember>| match &m.node {
        OffsetMember::Member(n) => format!(".{}", n.node.name),
        OffsetMember::IndirectMember(n) => format!("->{}", n.node.name),
        OffsetMember::Index(e) => format!("[{}]", expression(&e.node)),
    };
    let members: String = o.members.iter().map(member).collect();
    format!("__builtin_offsetof({}, {}{members})", type_name(&o.type_name.node), o.base.node.name)
}

fn unary(u: &UnaryOperatorExpression) -> String {
    let operand = expression(&u.operand.node);
    let sign = match u.operator.node {
        UnaryOperator::PostIncrement => return format!("({operand}++)"),
        UnaryOperator::PostDecrement => return format!("({operand}--)"),
        UnaryOperator::PreIncrement => "++",
        UnaryOperator::PreDecrement => "--",
        UnaryOperator::Address => "&",
        UnaryOperator::Indirection => "*",
        UnaryOperator::Plus => "+",
        UnaryOperator::Minus => "-",
        UnaryOperator::Complement => "~",
        UnaryOperator::Negate => "!",
        UnaryOperator::Real => "__real__ ",
        UnaryOperator::Imaginary => "__imag__ ",
    };
    format!("({sign}{operand})")
}

fn binary(b: &BinaryOperatorExpression) -> String {
    let (left, right) = (expression(&b.lhs.node), expression(&b.rhs.node));
    let sign = match b.operator.node {
        BinaryOperator::Index => return format!("{left}[{right}]"),
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::Plus => "+",
        BinaryOperator::Minus => "-",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
        BinaryOperator::Less => "<",
        BinaryOperator::Greater => ">",
        BinaryOperator::LessOrEqual => "<=",
        BinaryOperator::GreaterOrEqual => ">=",
        BinaryOperator::Equals => "==",
        BinaryOperator::NotEquals => "!=",
        BinaryOperator::BitwiseAnd => "&",
        BinaryOperator::BitwiseXor => "^",
        BinaryOperator::BitwiseOr => "|",
        BinaryOperator::LogicalAnd => "&&",
        BinaryOperator::LogicalOr => "||",
        BinaryOperator::Assign => "=",
        BinaryOperator::AssignMultiply => "*=",
        BinaryOperator::AssignDivide => "/=",
        BinaryOperator::AssignModulo => "%=",
        BinaryOperator::AssignPlus => "+=",
        BinaryOperator::AssignMinus => "-=",
        BinaryOperator::AssignShiftLeft => "<<=",
        BinaryOperator::AssignShiftRight => ">>=",
        BinaryOperator::AssignBitwiseAnd => "&=",
        BinaryOperator::AssignBitwiseXor => "^=",
        BinaryOperator::AssignBitwiseOr => "|=",
    };
    format!("({left} {sign} {right})")
}
