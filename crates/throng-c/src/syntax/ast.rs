//! The syntax tree of C11, C17 and C23 with the extensions of GNU C: what the parser makes and the
//! rest of the crate reads.
//!
//! Names follow the grammar of the C standard. Nothing that is written is lost: attributes, labels
//! in assembly and pragmas stand in the tree where they stand in the text, so that whoever gives
//! the tree a meaning decides about each of them.

/// A passage of the text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The span of what stands nowhere in the text.
    pub fn none() -> Span {
        Span { start: usize::MAX, end: usize::MAX }
    }

    pub fn is_none(&self) -> bool {
        self.start == usize::MAX
    }
}

/// A part of the tree and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Node<T> {
    pub node: T,
    pub span: Span,
}

impl<T> Node<T> {
    pub fn new(node: T, span: Span) -> Node<T> {
        Node { node, span }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identifier {
    pub name: String,
}

// ---- constants ----

#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    Integer(Integer),
    Float(Float),
    /// As it is written, with prefix and quotes.
    Character(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Integer {
    pub value: u128,
    /// Whether it is written in base ten, which matters for its type.
    pub decimal: bool,
    pub unsigned: bool,
    pub size: IntegerSize,
    /// `i` or `j`: refused.
    pub imaginary: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntegerSize {
    Int,
    Long,
    LongLong,
    /// `wb`: refused.
    BitInt,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Float {
    /// The number without its suffix and without digit separators.
    pub number: String,
    pub format: FloatFormat,
    pub imaginary: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FloatFormat {
    Float,
    Double,
    LongDouble,
    /// Another suffix, such as `f128` or `dd`: refused.
    Other(String),
}

/// The adjacent literals, each as it is written, with prefix and quotes.
pub type StringLiteral = Vec<String>;

// ---- expressions ----

#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    Identifier(Box<Node<Identifier>>),
    Constant(Box<Node<Constant>>),
    StringLiteral(Box<Node<StringLiteral>>),
    GenericSelection(Box<Node<GenericSelection>>),
    Member(Box<Node<MemberExpression>>),
    Call(Box<Node<CallExpression>>),
    CompoundLiteral(Box<Node<CompoundLiteral>>),
    SizeOfTy(Box<Node<TypeName>>),
    SizeOfVal(Box<Node<Expression>>),
    AlignOfTy(Box<Node<TypeName>>),
    AlignOfVal(Box<Node<Expression>>),
    UnaryOperator(Box<Node<UnaryOperatorExpression>>),
    Cast(Box<Node<CastExpression>>),
    BinaryOperator(Box<Node<BinaryOperatorExpression>>),
    Conditional(Box<Node<ConditionalExpression>>),
    Comma(Vec<Node<Expression>>),
    OffsetOf(Box<Node<OffsetOfExpression>>),
    VaArg(Box<Node<VaArgExpression>>),
    /// `({ … })`; the statement is [`Statement::Compound`].
    Statement(Box<Node<Statement>>),
    /// `&&label`
    LabelAddress(Node<Identifier>),
    /// `__builtin_types_compatible_p(a, b)`
    TypesCompatible(Box<(Node<TypeName>, Node<TypeName>)>),
    /// A builtin that takes a type where a call has a value, such as `__builtin_convertvector`:
    /// its name. Refused.
    Unsupported(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemberOperator {
    Direct,
    Indirect,
}

#[derive(Clone, PartialEq, Debug)]
pub struct GenericSelection {
    pub expression: Box<Node<Expression>>,
    pub associations: Vec<Node<GenericAssociation>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum GenericAssociation {
    Type(Node<TypeName>, Box<Node<Expression>>),
    Default(Box<Node<Expression>>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct MemberExpression {
    pub operator: MemberOperator,
    pub expression: Box<Node<Expression>>,
    pub identifier: Node<Identifier>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CallExpression {
    pub callee: Box<Node<Expression>>,
    pub arguments: Vec<Node<Expression>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CompoundLiteral {
    pub type_name: Node<TypeName>,
    pub initializer_list: Vec<Node<InitializerListItem>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOperator {
    PostIncrement,
    PostDecrement,
    PreIncrement,
    PreDecrement,
    Address,
    Indirection,
    Plus,
    Minus,
    /// `~`
    Complement,
    /// `!`
    Negate,
    /// `__real__`
    Real,
    /// `__imag__`
    Imaginary,
}

#[derive(Clone, PartialEq, Debug)]
pub struct UnaryOperatorExpression {
    pub operator: Node<UnaryOperator>,
    pub operand: Box<Node<Expression>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CastExpression {
    pub type_name: Node<TypeName>,
    pub expression: Box<Node<Expression>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOperator {
    Index,
    Multiply,
    Divide,
    Modulo,
    Plus,
    Minus,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Equals,
    NotEquals,
    BitwiseAnd,
    BitwiseXor,
    BitwiseOr,
    LogicalAnd,
    LogicalOr,
    Assign,
    AssignMultiply,
    AssignDivide,
    AssignModulo,
    AssignPlus,
    AssignMinus,
    AssignShiftLeft,
    AssignShiftRight,
    AssignBitwiseAnd,
    AssignBitwiseXor,
    AssignBitwiseOr,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BinaryOperatorExpression {
    pub operator: Node<BinaryOperator>,
    pub lhs: Box<Node<Expression>>,
    pub rhs: Box<Node<Expression>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ConditionalExpression {
    pub condition: Box<Node<Expression>>,
    /// `None` for `a ?: b`, where the value of the condition is used.
    pub then_expression: Option<Box<Node<Expression>>>,
    pub else_expression: Box<Node<Expression>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct VaArgExpression {
    pub va_list: Box<Node<Expression>>,
    pub type_name: Node<TypeName>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct OffsetOfExpression {
    pub type_name: Node<TypeName>,
    pub base: Node<Identifier>,
    pub members: Vec<Node<OffsetMember>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum OffsetMember {
    Member(Node<Identifier>),
    /// `->`
    IndirectMember(Node<Identifier>),
    Index(Node<Expression>),
}

// ---- declarations ----

#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    pub specifiers: Vec<Node<DeclarationSpecifier>>,
    pub declarators: Vec<Node<InitDeclarator>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum DeclarationSpecifier {
    StorageClass(StorageClassSpecifier),
    TypeSpecifier(Node<TypeSpecifier>),
    TypeQualifier(TypeQualifier),
    Function(FunctionSpecifier),
    Alignment(AlignmentSpecifier),
    Attributes(Vec<Attribute>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct InitDeclarator {
    pub declarator: Node<Declarator>,
    pub initializer: Option<Node<Initializer>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StorageClassSpecifier {
    Typedef,
    Extern,
    Static,
    /// `_Thread_local`, `thread_local`, `__thread`
    ThreadLocal,
    Auto,
    Register,
    Constexpr,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TypeSpecifier {
    Void,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    Signed,
    Unsigned,
    Bool,
    Complex,
    /// `__int128`; with [`TypeSpecifier::Unsigned`] for `__uint128_t`, which the parser splits.
    Int128,
    /// `__auto_type`, and `auto` of C23 where there is no other type.
    Auto,
    /// `_Atomic(T)`
    Atomic(Box<Node<TypeName>>),
    Struct(Box<Node<StructType>>),
    Enum(Box<Node<EnumType>>),
    TypedefName(Node<Identifier>),
    TypeOf(Box<TypeOf>),
    /// `__builtin_va_list`
    VaList,
    /// A type that compilers know and that is not modelled, such as `_Float128` or `_Decimal64`.
    Unsupported(String),
}

/// `typeof`; `typeof_unqual` is [`TypeOf::Unqualified`].
#[derive(Clone, PartialEq, Debug)]
pub enum TypeOf {
    Expression(Node<Expression>),
    Type(Node<TypeName>),
    Unqualified(Box<TypeOf>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct StructType {
    pub kind: StructKind,
    pub identifier: Option<Node<Identifier>>,
    /// `None` without braces.
    pub declarations: Option<Vec<Node<StructDeclaration>>>,
    /// Before the name and behind the closing brace.
    pub attributes: Vec<Attribute>,
    /// What `#pragma pack` says where it stands.
    pub pack: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StructKind {
    Struct,
    Union,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StructDeclaration {
    Field(Node<StructField>),
    StaticAssert(Node<StaticAssert>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct StructField {
    pub specifiers: Vec<Node<DeclarationSpecifier>>,
    pub declarators: Vec<Node<StructDeclarator>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct StructDeclarator {
    pub declarator: Option<Node<Declarator>>,
    pub bit_width: Option<Box<Node<Expression>>>,
    /// Behind the width of a bit-field without a declarator; else in the declarator.
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EnumType {
    pub identifier: Option<Node<Identifier>>,
    /// `enum e : T` of C23.
    pub underlying: Option<Node<TypeName>>,
    /// Empty without braces.
    pub enumerators: Vec<Node<Enumerator>>,
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Enumerator {
    pub identifier: Node<Identifier>,
    pub expression: Option<Box<Node<Expression>>>,
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeQualifier {
    Const,
    Restrict,
    Volatile,
    Atomic,
    /// An address space, such as `__seg_fs`: refused.
    Unsupported(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionSpecifier {
    Inline,
    Noreturn,
}

#[derive(Clone, PartialEq, Debug)]
pub enum AlignmentSpecifier {
    Type(Node<TypeName>),
    Constant(Box<Node<Expression>>),
}

/// A declarator. `derived` is in the order in which the type is read: for `int (*a[3])(void)` the
/// inner declarator `*a[3]` is `DeclaratorKind::Declarator`, and `derived` is the function; within
/// one level, pointers come first as written, then arrays and functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Declarator {
    pub kind: Node<DeclaratorKind>,
    pub derived: Vec<Node<DerivedDeclarator>>,
    pub attributes: Vec<Attribute>,
    /// `asm("name")`
    pub label: Option<Node<StringLiteral>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum DeclaratorKind {
    Abstract,
    Identifier(Node<Identifier>),
    Declarator(Box<Node<Declarator>>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum DerivedDeclarator {
    Pointer(Vec<PointerQualifier>),
    Array(ArrayDeclarator),
    Function(FunctionDeclarator),
    /// Names of parameters only, or nothing at all in the brackets.
    KRFunction(Vec<Node<Identifier>>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct ArrayDeclarator {
    pub qualifiers: Vec<TypeQualifier>,
    pub size: ArraySize,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FunctionDeclarator {
    pub parameters: Vec<Node<ParameterDeclaration>>,
    /// Whether there is an ellipsis.
    pub variadic: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum PointerQualifier {
    TypeQualifier(TypeQualifier),
    Attributes(Vec<Attribute>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum ArraySize {
    Unknown,
    /// `[*]`
    VariableUnknown,
    Expression(Box<Node<Expression>>),
    /// `[static n]`
    StaticExpression(Box<Node<Expression>>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct ParameterDeclaration {
    pub specifiers: Vec<Node<DeclarationSpecifier>>,
    pub declarator: Option<Node<Declarator>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TypeName {
    pub specifiers: Vec<Node<DeclarationSpecifier>>,
    pub declarator: Option<Node<Declarator>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Initializer {
    Expression(Box<Node<Expression>>),
    List(Vec<Node<InitializerListItem>>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct InitializerListItem {
    pub designation: Vec<Node<Designator>>,
    pub initializer: Box<Node<Initializer>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Designator {
    Index(Node<Expression>),
    Member(Node<Identifier>),
    /// `[from ... to]`
    Range(Box<Node<Expression>>, Box<Node<Expression>>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct StaticAssert {
    pub expression: Box<Node<Expression>>,
    pub message: Option<Node<StringLiteral>>,
}

// ---- statements ----

#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    Labeled(Box<Node<LabeledStatement>>),
    Compound(Vec<Node<BlockItem>>),
    /// `None` for `;`.
    Expression(Option<Box<Node<Expression>>>),
    If(Box<Node<IfStatement>>),
    Switch(Box<Node<SwitchStatement>>),
    While(Box<Node<WhileStatement>>),
    DoWhile(Box<Node<DoWhileStatement>>),
    For(Box<Node<ForStatement>>),
    Goto(Node<Identifier>),
    /// `goto *e;`
    GotoAddress(Box<Node<Expression>>),
    Continue,
    Break,
    Return(Option<Box<Node<Expression>>>),
    Asm(Box<Node<AsmStatement>>),
    /// A statement with attributes, such as `[[fallthrough]];` or `__attribute__((fallthrough));`.
    Attributed(Vec<Attribute>, Box<Node<Statement>>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct LabeledStatement {
    pub label: Node<Label>,
    pub attributes: Vec<Attribute>,
    /// An empty statement where a declaration or a closing brace follows the label.
    pub statement: Box<Node<Statement>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Label {
    Identifier(Node<Identifier>),
    Case(Box<Node<Expression>>),
    CaseRange(Box<Node<Expression>>, Box<Node<Expression>>),
    Default,
}

#[derive(Clone, PartialEq, Debug)]
pub struct IfStatement {
    pub condition: Box<Node<Expression>>,
    pub then_statement: Box<Node<Statement>>,
    pub else_statement: Option<Box<Node<Statement>>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SwitchStatement {
    pub expression: Box<Node<Expression>>,
    pub statement: Box<Node<Statement>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct WhileStatement {
    pub expression: Box<Node<Expression>>,
    pub statement: Box<Node<Statement>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DoWhileStatement {
    pub statement: Box<Node<Statement>>,
    pub expression: Box<Node<Expression>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ForStatement {
    pub initializer: Node<ForInitializer>,
    pub condition: Option<Box<Node<Expression>>>,
    pub step: Option<Box<Node<Expression>>>,
    pub statement: Box<Node<Statement>>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ForInitializer {
    Empty,
    Expression(Box<Node<Expression>>),
    Declaration(Node<Declaration>),
    StaticAssert(Node<StaticAssert>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum BlockItem {
    Declaration(Node<Declaration>),
    StaticAssert(Node<StaticAssert>),
    Statement(Node<Statement>),
    /// `__label__ a, b;`
    LocalLabels(Vec<Node<Identifier>>),
    /// A function inside a function.
    Function(Box<Node<FunctionDefinition>>),
    /// The text behind `#pragma`.
    Pragma(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct AsmStatement {
    /// `asm goto`
    pub goto: bool,
    pub template: Node<StringLiteral>,
    pub outputs: Vec<Node<AsmOperand>>,
    pub inputs: Vec<Node<AsmOperand>>,
    pub clobbers: Vec<Node<StringLiteral>>,
    pub labels: Vec<Node<Identifier>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct AsmOperand {
    pub symbolic_name: Option<Node<Identifier>>,
    pub constraints: Node<StringLiteral>,
    pub expression: Node<Expression>,
}

// ---- whole files ----

#[derive(Clone, PartialEq, Debug, Default)]
pub struct TranslationUnit(pub Vec<Node<ExternalDeclaration>>);

#[derive(Clone, PartialEq, Debug)]
pub enum ExternalDeclaration {
    Declaration(Node<Declaration>),
    StaticAssert(Node<StaticAssert>),
    FunctionDefinition(Box<Node<FunctionDefinition>>),
    /// Assembly outside functions.
    Asm(Node<StringLiteral>),
    /// The text behind `#pragma`, other than `pack`.
    Pragma(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct FunctionDefinition {
    /// Without any, the function returns `int`.
    pub specifiers: Vec<Node<DeclarationSpecifier>>,
    pub declarator: Node<Declarator>,
    /// Of parameters, in the old style.
    pub declarations: Vec<Node<Declaration>>,
    pub statement: Node<Statement>,
}

// ---- extensions ----

/// One attribute, of GNU C or of C23.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    /// Its name without underscores around it and without the scopes `gnu` and `clang`. With another
    /// scope it is `scope::name`; one that C23 does not have without a scope is `[[name]]`, since
    /// compilers pass over it.
    pub name: Node<String>,
    /// Its arguments, as far as they are expressions; a type is left out.
    pub arguments: Vec<Node<Expression>>,
    /// What stands in its brackets, as it is written, without them.
    pub text: String,
}
