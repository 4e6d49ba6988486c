//! The operators of expressions.

use super::ast::{BinaryOperator, UnaryOperator};
use super::token::Kind;

/// Returns a binary operator and how strongly it binds; assignments are not among them.
pub(super) fn binary(kind: Kind) -> Option<(BinaryOperator, u8)> {
    use BinaryOperator::*;
    Some(match kind {
        Kind::Star => (Multiply, 10),
        Kind::Slash => (Divide, 10),
        Kind::Percent => (Modulo, 10),
        Kind::Plus => (Plus, 9),
        Kind::Minus => (Minus, 9),
        Kind::ShiftLeft => (ShiftLeft, 8),
        Kind::ShiftRight => (ShiftRight, 8),
        Kind::Less => (Less, 7),
        Kind::Greater => (Greater, 7),
        Kind::LessOrEqual => (LessOrEqual, 7),
        Kind::GreaterOrEqual => (GreaterOrEqual, 7),
        Kind::Equals => (Equals, 6),
        Kind::NotEquals => (NotEquals, 6),
        Kind::Ampersand => (BitwiseAnd, 5),
        Kind::Caret => (BitwiseXor, 4),
        Kind::Bar => (BitwiseOr, 3),
        Kind::And => (LogicalAnd, 2),
        Kind::Or => (LogicalOr, 1),
        _ => return None,
    })
}

/// Returns the assignment that a token is.
pub(super) fn assignment(kind: Kind) -> Option<BinaryOperator> {
    use BinaryOperator::*;
    Some(match kind {
        Kind::Assign => Assign,
        Kind::AssignMultiply => AssignMultiply,
        Kind::AssignDivide => AssignDivide,
        Kind::AssignModulo => AssignModulo,
        Kind::AssignPlus => AssignPlus,
        Kind::AssignMinus => AssignMinus,
        Kind::AssignShiftLeft => AssignShiftLeft,
        Kind::AssignShiftRight => AssignShiftRight,
        Kind::AssignAnd => AssignBitwiseAnd,
        Kind::AssignXor => AssignBitwiseXor,
        Kind::AssignOr => AssignBitwiseOr,
        _ => return None,
    })
}

/// Returns the operator that a token before an operand is.
pub(super) fn prefix(kind: Kind) -> Option<UnaryOperator> {
    use UnaryOperator::*;
    Some(match kind {
        Kind::Increment => PreIncrement,
        Kind::Decrement => PreDecrement,
        Kind::Ampersand => Address,
        Kind::Star => Indirection,
        Kind::Plus => Plus,
        Kind::Minus => Minus,
        Kind::Tilde => Complement,
        Kind::Exclamation => Negate,
        Kind::Real => Real,
        Kind::Imaginary => Imaginary,
        _ => return None,
    })
}
