//! Overload resolution among the standard functions of a name.
//!
//! What is known from the shape of the call alone (number and names of arguments, types of
//! literals) is settled when the expression is parsed; see [`Plan`]. The types of evaluated
//! arguments decide the rest at every call; see [`Plan::choose`].

use crate::arguments::{Bind, Slot};
use crate::functions;
use crate::signature::{Function, FunctionKind, Parameter, Rest, Type};
use crate::syntax::{Argument, NodeKind};
use crate::value::Value;

/// The two name spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespace {
    Function,
    Method,
}

/// How a call fits the standard functions of its name.
#[derive(Debug)]
pub(crate) enum CallPlan {
    /// Nothing has the name.
    Unknown,
    /// An argument is named by something else than a word.
    BadKeyword,
    /// Nothing of that name takes arguments of this shape.
    NoMatch,
    /// The functions disagree which arguments to leave unevaluated.
    Ambiguous,
    Match(Matching),
}

/// The functions that may be meant.
#[derive(Debug)]
pub(crate) struct Matching {
    pub(crate) candidates: Vec<OverloadCandidate>,
    /// Whether the argument of that index stays unevaluated.
    pub(crate) lazy: Vec<bool>,
}

/// A function and which argument is which parameter.
#[derive(Debug)]
pub(crate) struct OverloadCandidate {
    pub(crate) function: &'static Function,
    pub(crate) binds: Vec<Bind>,
}

/// What is known of an argument before it is evaluated.
#[derive(Debug)]
pub(crate) enum ArgumentShape<'a> {
    Gap,
    /// A value known beforehand.
    Constant(&'a Value),
    /// A bare word.
    Word,
    Expression,
    /// `left => right`, with the name if the left is a word.
    Pair(Option<&'a str>, Box<ArgumentShape<'a>>),
}

impl<'a> ArgumentShape<'a> {
    fn from_argument(argument: &'a Argument) -> ArgumentShape<'a> {
        let value = |kind: &'a NodeKind| match kind {
            NodeKind::Literal(value) => ArgumentShape::Constant(value),
            NodeKind::Keyword(_) => ArgumentShape::Word,
            _ => ArgumentShape::Expression,
        };
        match argument {
            Argument::Gap => ArgumentShape::Gap,
            Argument::Value(node) => value(&node.kind),
            Argument::Pair(left, right) => {
                let name = match &left.kind {
                    NodeKind::Keyword(name) => Some(&**name),
                    _ => None,
                };
                ArgumentShape::Pair(name, Box::new(value(&right.kind)))
            }
        }
    }

    /// Whether a parameter can take such an argument.
    fn fits(&self, parameter: &Parameter) -> bool {
        match self {
            ArgumentShape::Gap => false,
            ArgumentShape::Constant(value) => parameter.accepts(value),
            ArgumentShape::Word => matches!(parameter.type_, Type::Any | Type::Text | Type::Lambda),
            ArgumentShape::Expression => !matches!(parameter.type_, Type::Pair | Type::LazyPair),
            ArgumentShape::Pair(..) => matches!(parameter.type_, Type::Pair | Type::LazyPair),
        }
    }
}

impl CallPlan {
    /// The plan of a call as it is written; a method's receiver comes before the arguments.
    pub(crate) fn for_call(space: Namespace, name: &str, arguments: &[Argument]) -> CallPlan {
        let receiver = (space == Namespace::Method).then_some(ArgumentShape::Expression);
        let shapes: Vec<_> = receiver
            .into_iter()
            .chain(arguments.iter().map(ArgumentShape::from_argument))
            .collect();
        CallPlan::new(space, name, &shapes)
    }

    /// The plan of a call with arguments of the given shapes.
    pub(crate) fn new(space: Namespace, name: &str, shapes: &[ArgumentShape<'_>]) -> CallPlan {
        let family = functions::named(name);
        let mut family = family
            .iter()
            .filter(|function| match function.kind {
                FunctionKind::Both => true,
                FunctionKind::Function => space == Namespace::Function,
                FunctionKind::Method => space == Namespace::Method,
            })
            .peekable();
        let Some(first) = family.peek() else {
            return CallPlan::Unknown;
        };
        let nameless = |shape: &ArgumentShape<'_>| matches!(shape, ArgumentShape::Pair(None, _));
        if first.keywords && shapes.iter().any(nameless) {
            return CallPlan::BadKeyword;
        }
        let mut found: Option<Matching> = None;
        for function in family {
            let Some(binds) = bind(function, shapes) else {
                continue;
            };
            let lazy = lazy(function, &binds, shapes.len());
            let candidate = OverloadCandidate { function, binds };
            match &mut found {
                None => found = Some(Matching { candidates: vec![candidate], lazy }),
                Some(found) if found.lazy == lazy => found.candidates.push(candidate),
                Some(_) => return CallPlan::Ambiguous,
            }
        }
        found.map_or(CallPlan::NoMatch, CallPlan::Match)
    }
}

/// What the choice among candidates came to.
pub(crate) enum Choice<'a> {
    One(&'a OverloadCandidate),
    None,
    Ambiguous,
}

impl Matching {
    /// The candidate that takes the evaluated arguments best.
    pub(crate) fn choose(&self, slots: &[Slot]) -> Choice<'_> {
        let mut fitting = self.candidates.iter().filter(|candidate| candidate.takes(slots));
        let Some(first) = fitting.next() else {
            return Choice::None;
        };
        let mut best = first;
        let mut rivals: Vec<&OverloadCandidate> = Vec::new();
        for other in fitting {
            if best.narrower(other) {
                rivals.push(other);
            } else {
                rivals.push(best);
                best = other;
            }
        }
        if rivals.iter().all(|rival| best.narrower(rival)) {
            Choice::One(best)
        } else {
            Choice::Ambiguous
        }
    }
}

impl OverloadCandidate {
    /// Whether the first parameter takes a value.
    pub(crate) fn takes_receiver(&self, value: &Value) -> bool {
        self.function.parameters.first().is_some_and(|parameter| parameter.accepts(value))
    }

    fn takes(&self, slots: &[Slot]) -> bool {
        let fits = |parameter: &Parameter, index: usize| match slots.get(index) {
            Some(Slot::Value(value)) => parameter.accepts(value),
            Some(Slot::Lambda(_)) => parameter.type_ == Type::Lambda,
            Some(Slot::Pair(..)) => parameter.type_ == Type::Pair,
            Some(Slot::LazyPair(..)) => parameter.type_ == Type::LazyPair,
            Some(Slot::Gap) => true,
            None => false,
        };
        self.function.parameters.iter().zip(&self.binds).all(|(parameter, bind)| match bind {
            Bind::Default => true,
            Bind::At(index) => fits(parameter, *index),
            Bind::Rest(indexes) => indexes.iter().all(|index| fits(parameter, *index)),
            Bind::Keywords(named) => named.iter().all(|(_, index)| fits(parameter, *index)),
        })
    }

    /// Whether this candidate's types are narrower than the other's: somewhere, and wider nowhere.
    fn narrower(&self, other: &OverloadCandidate) -> bool {
        let types = |candidate: &OverloadCandidate| -> Vec<(usize, Type)> {
            let parameters = candidate.function.parameters.iter().zip(&candidate.binds);
            let spread = parameters.flat_map(|(parameter, bind)| {
                bind.indexes().into_iter().map(move |index| (index, parameter.type_))
            });
            let mut types: Vec<_> = spread.collect();
            types.sort_by_key(|(index, _)| *index);
            types
        };
        let (mine, theirs) = (types(self), types(other));
        let pairs = || mine.iter().zip(&theirs).map(|((_, a), (_, b))| (*a, *b));
        pairs().any(|(a, b)| a.narrower(b)) && !pairs().any(|(a, b)| b.narrower(a))
    }
}

/// Matches arguments to parameters; nothing if the shape does not fit.
fn bind(function: &'static Function, shapes: &[ArgumentShape<'_>]) -> Option<Vec<Bind>> {
    let mut binds: Vec<Option<Bind>> = function.parameters.iter().map(|_| None).collect();
    let is_named =
        |shape: &ArgumentShape<'_>| function.keywords && matches!(shape, ArgumentShape::Pair(..));
    let mut next = 0;
    for (index, shape) in shapes.iter().enumerate().filter(|(_, shape)| !is_named(shape)) {
        let parameter = function.parameters.get(next)?;
        match parameter.rest {
            Rest::No => {
                let gap = matches!(shape, ArgumentShape::Gap);
                if gap && parameter.default.is_none() || !gap && !shape.fits(parameter) {
                    return None;
                }
                *binds.get_mut(next)? = Some(if gap { Bind::Default } else { Bind::At(index) });
                next += 1;
            }
            Rest::Positional => {
                let gap = matches!(shape, ArgumentShape::Gap) && parameter.type_ == Type::Any;
                if !gap && !shape.fits(parameter) {
                    return None;
                }
                match binds.get_mut(next)? {
                    Some(Bind::Rest(indexes)) => indexes.push(index),
                    bind => *bind = Some(Bind::Rest(vec![index])),
                }
            }
            Rest::Keyword => return None,
        }
    }
    for (index, shape) in shapes.iter().enumerate().filter(|(_, shape)| is_named(shape)) {
        if let ArgumentShape::Pair(Some(name), value) = shape {
            bind_named(function, &mut binds, name, value, index, next)?;
        }
    }
    let finished = function.parameters.iter().zip(binds).map(|(parameter, bind)| match bind {
        Some(bind) => Some(bind),
        None => match parameter.rest {
            Rest::No => parameter.default.map(|_| Bind::Default),
            Rest::Positional => Some(Bind::Rest(Vec::new())),
            Rest::Keyword => Some(Bind::Keywords(Vec::new())),
        },
    });
    finished.collect()
}

/// Matches one named argument; those before `taken` were given by position.
fn bind_named(
    function: &'static Function,
    binds: &mut [Option<Bind>],
    name: &str,
    value: &ArgumentShape<'_>,
    index: usize,
    taken: usize,
) -> Option<()> {
    let plain = function
        .parameters
        .iter()
        .position(|parameter| parameter.rest == Rest::No && parameter.name == name);
    match plain {
        Some(at) => {
            let parameter = function.parameters.get(at)?;
            if at < taken || !value.fits(parameter) {
                return None;
            }
            *binds.get_mut(at)? = Some(Bind::At(index));
        }
        None => {
            let at = function.parameters.iter().position(|p| p.rest == Rest::Keyword)?;
            match binds.get_mut(at)? {
                Some(Bind::Keywords(named)) => named.push((name.into(), index)),
                bind => *bind = Some(Bind::Keywords(vec![(name.into(), index)])),
            }
        }
    }
    Some(())
}

/// Which arguments stay unevaluated.
fn lazy(function: &Function, binds: &[Bind], arguments: usize) -> Vec<bool> {
    let mut lazy = vec![false; arguments];
    for (parameter, bind) in function.parameters.iter().zip(binds) {
        if parameter.type_.is_lazy() {
            for index in bind.indexes() {
                if let Some(lazy) = lazy.get_mut(index) {
                    *lazy = true;
                }
            }
        }
    }
    lazy
}
