//! Checks inside a filter, where it may take stack or memory without end: put into its syntax tree before it is compiled.
//!
//! A filter is run by a library that recurs as the filter does and that makes whatever the filter asks for. So each definition
//! and each step of a fold looks how much stack is left, and what makes or keeps a value how large it is.

use jaq_core::{
    load::{
        lex::StrPart,
        parse::{BinaryOp, Def, Pattern, Term},
    },
    ops::Math,
    path::{Part, Path},
};

use crate::budget::{DEEP, KEPT, MADE, TEXT, TIMES};

/// A variable that no text can name.
const RIGHT: &str = "$!right";

/// A definition whose body begins with a look at the stack.
pub(crate) fn definition(def: Def<&str>) -> Def<&str> {
    Def { name: def.name, args: def.args, body: before(DEEP, term(def.body)) }
}

/// A term with all checks.
pub(crate) fn term(term: Term<&str>) -> Term<&str> {
    match term {
        Term::Str(format, parts) => after(Term::Str(format, parts.into_iter().map(part_of_text).collect()), MADE),
        Term::Arr(items) => Term::Arr(items.map(|items| Box::new(after(self::term(*items), KEPT)))),
        Term::Obj(members) => after(Term::Obj(members.into_iter().map(member).collect()), MADE),
        Term::Neg(inner) => Term::Neg(boxed(inner)),
        Term::BinOp(left, operator, right) => operation(boxed(left), operator, boxed(right)),
        Term::Label(name, inner) => Term::Label(name, boxed(inner)),
        Term::Fold(name, over, pattern, mut steps) => {
            // The first is the value to begin with, the second what is done in each step.
            steps = steps.into_iter().map(self::term).collect();
            if let Some(step) = steps.get_mut(1) {
                *step = before(DEEP, std::mem::take(step));
            }
            Term::Fold(name, boxed(over), self::pattern(pattern), steps)
        }
        Term::TryCatch(tried, caught) => Term::TryCatch(boxed(tried), caught.map(boxed)),
        Term::IfThenElse(branches, otherwise) => {
            let branches = branches.into_iter().map(|(is, then)| (self::term(is), self::term(then))).collect();
            Term::IfThenElse(branches, otherwise.map(boxed))
        }
        Term::Def(defs, inner) => Term::Def(defs.into_iter().map(definition).collect(), boxed(inner)),
        Term::Call(name, arguments) => Term::Call(name, arguments.into_iter().map(self::term).collect()),
        Term::Path(start, path) => {
            let parts = path.0.into_iter().map(|(part, optional)| (part_of_path(part), optional));
            Term::Path(boxed(start), Path(parts.collect()))
        }
        plain @ (Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_)) => plain,
    }
}

fn boxed(mut inner: Box<Term<&str>>) -> Box<Term<&str>> {
    *inner = term(std::mem::take(&mut *inner));
    inner
}

fn check(name: &str) -> Box<Term<&str>> {
    Box::new(Term::Call(name, Vec::new()))
}

/// The check stands in front, so that a call at the end stays one that needs no stack.
fn before<'s>(name: &'s str, term: Term<&'s str>) -> Term<&'s str> {
    Term::BinOp(check(name), BinaryOp::Pipe(None), Box::new(term))
}

fn after<'s>(term: Term<&'s str>, name: &'s str) -> Term<&'s str> {
    Term::BinOp(Box::new(term), BinaryOp::Pipe(None), check(name))
}

fn part_of_text<'s>(part: StrPart<&'s str, Term<&'s str>>) -> StrPart<&'s str, Term<&'s str>> {
    match part {
        StrPart::Term(inner) => StrPart::Term(after(term(inner), TEXT)),
        plain => plain,
    }
}

fn member<'s>((name, value): (Term<&'s str>, Option<Term<&'s str>>)) -> (Term<&'s str>, Option<Term<&'s str>>) {
    // `{"name"}` and `{$name}` say their value by their form.
    match value {
        Some(value) => (term(name), Some(after(term(value), KEPT))),
        None => (name, None),
    }
}

fn part_of_path(part: Part<Term<&str>>) -> Part<Term<&str>> {
    match part {
        Part::Index(index) => Part::Index(term(index)),
        Part::Range(from, to) => Part::Range(from.map(term), to.map(term)),
    }
}

fn pattern(of: Pattern<&str>) -> Pattern<&str> {
    match of {
        Pattern::Var(name) => Pattern::Var(name),
        Pattern::Arr(items) => Pattern::Arr(items.into_iter().map(pattern).collect()),
        Pattern::Obj(members) => {
            Pattern::Obj(members.into_iter().map(|(name, inner)| (term(name), pattern(inner))).collect())
        }
    }
}

fn operation<'s>(left: Box<Term<&'s str>>, operator: BinaryOp<&'s str>, right: Box<Term<&'s str>>) -> Term<&'s str> {
    match operator {
        // A text is repeated in one go, so that its size has to be known before.
        BinaryOp::Math(Math::Mul) => Term::Call(TIMES, vec![*left, *right]),
        BinaryOp::Math(Math::Add) => after(Term::BinOp(left, BinaryOp::Math(Math::Add), right), MADE),
        BinaryOp::UpdateMath(math @ (Math::Mul | Math::Add)) => {
            // `left *= right` is `right as $x | left |= . * $x`.
            let changed = operation(Box::new(Term::Id), BinaryOp::Math(math), Box::new(Term::Var(RIGHT)));
            let update = Term::BinOp(left, BinaryOp::Update, Box::new(changed));
            Term::BinOp(right, BinaryOp::Pipe(Some(Pattern::Var(RIGHT))), Box::new(update))
        }
        BinaryOp::Pipe(Some(of)) => Term::BinOp(left, BinaryOp::Pipe(Some(pattern(of))), right),
        other => Term::BinOp(left, other, right),
    }
}
