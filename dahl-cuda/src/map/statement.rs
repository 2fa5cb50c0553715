//! Statements: `let`, blocks and `if`, as lines of CUDA. A construct that is not an expression in C++ gets a variable.

use syn::{Block, Expr, ExprIf, Local, Pat, Stmt};

use super::Refusal;
use super::expression::expression;
use super::kind::{Kind, Value};
use super::signature::Signature;
use crate::Stored;

/// The body: its lines, and the value that it returns.
#[derive(Debug)]
pub(super) struct MapBody {
    pub(super) lines: Vec<String>,
    pub(super) result: String,
    /// The names of the inputs and arguments in the lines, in order.
    pub(super) names: Vec<String>,
}

/// The names that are visible at a place in the body.
pub(super) struct Scope<'a> {
    pub(super) signature: &'a Signature,
    /// Names in Rust and in CUDA, the innermost last.
    variables: Vec<(String, Value)>,
    lines: Vec<String>,
    /// Names in CUDA that are in use.
    taken: Vec<String>,
}

/// Names with another meaning in CUDA, or in the text around a body.
const WORDS: &str = "alignas alignof and asm auto bool break case catch char class const constexpr continue default \
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long \
    mutable namespace new noexcept not nullptr operator or private protected public register reinterpret_cast return \
    short signed sizeof static static_assert static_cast struct switch template this throw true try typedef typeid \
    typename union unsigned using virtual void volatile wchar_t while xor out real dahl divide blocks narrow widen \
    maximum minimum map_elements main printf NULL INFINITY NAN";

/// Translates the block of a map.
pub(super) fn body(signature: &Signature, block: &Block) -> Result<MapBody, Refusal> {
    let mut scope = Scope { signature, variables: Vec::new(), lines: Vec::new(), taken: Vec::new() };
    scope.taken.extend(signature.compute.iter().cloned());
    scope.taken.extend(signature.types.iter().map(|parameter| parameter.name.clone()));
    let parameters = signature.inputs.iter().chain(&signature.arguments);
    let names = parameters.map(|parameter| scope.bind_parameter(&parameter.name, parameter.kind)).collect();
    let expected = signature.output.kind;
    let result = block_value(&mut scope, block, Some(expected))?;
    let result = scope.fit(result, expected, block)?;
    Ok(MapBody { lines: scope.lines, result: result.text, names })
}

impl Scope<'_> {
    /// Declares a variable with this name, and returns its name in CUDA.
    fn bind(&mut self, name: &str, kind: Kind) -> String {
        let base = name.trim_start_matches("r#");
        let is_free = |scope: &Self, name: &str| {
            !WORDS.split_whitespace().any(|word| word == name)
                && !scope.taken.iter().any(|taken| taken == name)
        };
        let mut cuda = base.to_owned();
        let mut count = 2;
        while !is_free(self, &cuda) {
            cuda = format!("{base}_{count}");
            count += 1;
        }
        self.taken.push(cuda.clone());
        self.variables.push((name.to_owned(), Value::atom(cuda.clone(), kind)));
        cuda
    }

    /// The same for a parameter; the text around the body also has `x_view` and `x_value`.
    fn bind_parameter(&mut self, name: &str, kind: Kind) -> String {
        let cuda = self.bind(name, kind);
        self.taken.extend(["_view", "_value"].map(|end| format!("{cuda}{end}")));
        cuda
    }

    /// The variable of this name.
    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn cuda(&self, kind: Kind) -> String {
        kind.cuda(&self.signature.compute)
    }

    /// The value, converted to this kind.
    pub(super) fn fit(
        &self,
        value: Value,
        kind: Kind,
        at: &impl syn::spanned::Spanned,
    ) -> Result<Value, Refusal> {
        value.expected_as(kind, at, &self.signature.compute)
    }

    /// Runs `translate` with an empty list of lines, which it returns.
    fn apart<R>(&mut self, translate: impl FnOnce(&mut Self) -> R) -> (R, Vec<String>) {
        let before = std::mem::take(&mut self.lines);
        let result = translate(self);
        (result, std::mem::replace(&mut self.lines, before))
    }
}

/// The value of a block; its `let`s become lines.
pub(super) fn block_value(
    scope: &mut Scope<'_>,
    block: &Block,
    expected: Option<Kind>,
) -> Result<Value, Refusal> {
    let outer = scope.variables.len();
    let mut value = None;
    for statement in &block.stmts {
        match statement {
            Stmt::Local(local) => binding(scope, local)?,
            Stmt::Expr(last, None) => value = Some(expression(scope, last, expected)?),
            other => return Err(Refusal::new(other, "a map's body in CUDA has `let` and values only")),
        }
    }
    scope.variables.truncate(outer);
    value.ok_or_else(|| Refusal::new(block, "this block has no value"))
}

fn binding(scope: &mut Scope<'_>, local: &Local) -> Result<(), Refusal> {
    let Some(init) = &local.init else { return Err(Refusal::new(local, "a `let` without a value")) };
    let mut pattern = &local.pat;
    let mut expected = None;
    loop {
        match pattern {
            Pat::Type(typed) => {
                expected = scope.signature.kind_of(&typed.ty);
                pattern = &typed.pat;
            }
            Pat::Paren(inner) => pattern = &inner.pat,
            _ => break,
        }
    }
    match pattern {
        Pat::Ident(name) => {
            let mut value = expression(scope, &init.expr, expected)?;
            if value.kind.is_literal() {
                // Rust's default, if nothing else determines it.
                let kind = if value.kind == Kind::FloatLiteral {
                    Kind::Float("f64")
                } else {
                    Kind::Integer(Stored::I32)
                };
                value = scope.fit(value, expected.unwrap_or(kind), &init.expr)?;
            }
            let kind = value.kind;
            let name = scope.bind(&name.ident.to_string(), kind);
            let line = format!("const {} {name} = {};", scope.cuda(kind), value.text);
            scope.lines.push(line);
            Ok(())
        }
        Pat::Wild(_) => expression(scope, &init.expr, expected).map(drop),
        Pat::Tuple(pair) => sine_and_cosine(scope, pair, &init.expr),
        other => Err(Refusal::new(other, "this pattern has no counterpart in CUDA")),
    }
}

/// `let (sin, cos) = x.sin_cos();`
fn sine_and_cosine(scope: &mut Scope<'_>, pair: &syn::PatTuple, value: &Expr) -> Result<(), Refusal> {
    let mut value = value;
    while let Expr::Paren(syn::ExprParen { expr, .. }) | Expr::Group(syn::ExprGroup { expr, .. }) = value {
        value = expr;
    }
    let angle = match value {
        Expr::MethodCall(call) if call.method == "sin_cos" => Some(&*call.receiver),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "sin_cos") => {
                call.args.first()
            }
            _ => None,
        },
        _ => None,
    };
    let (Some(angle), 2) = (angle, pair.elems.len()) else {
        return Err(Refusal::new(value, "of pairs there is only `sin_cos()`"));
    };
    let angle = expression(scope, angle, None)?;
    for (pattern, function) in pair.elems.iter().zip(["sin", "cos"]) {
        match pattern {
            Pat::Ident(name) => {
                let bound = scope.bind(&name.ident.to_string(), angle.kind);
                let line =
                    format!("const {} {bound} = real::{function}({});", scope.cuda(angle.kind), angle.text);
                scope.lines.push(line);
            }
            Pat::Wild(_) => {}
            other => return Err(Refusal::new(other, "this pattern has no counterpart in CUDA")),
        }
    }
    Ok(())
}

/// The value of an `if`: `condition ? a : b`, or with `let`s in it a variable that both branches assign.
pub(super) fn choice(
    scope: &mut Scope<'_>,
    choice: &ExprIf,
    expected: Option<Kind>,
) -> Result<Value, Refusal> {
    let condition = expression(scope, &choice.cond, Some(Kind::Bool))?;
    let Some((_, otherwise)) = &choice.else_branch else {
        return Err(Refusal::new(choice, "an `if` without `else` has no value"));
    };
    let (first, first_lines) = scope.apart(|scope| block_value(scope, &choice.then_branch, expected));
    let first = first?;
    let kind = if first.kind.is_literal() { expected } else { Some(first.kind) };
    let (second, second_lines) = scope.apart(|scope| expression(scope, otherwise, kind));
    let second = second?;
    let kind = if first.kind.is_literal() { second.kind } else { first.kind };
    let first = scope.fit(first, kind, &choice.then_branch)?;
    let second = scope.fit(second, kind, otherwise)?;
    if first_lines.is_empty() && second_lines.is_empty() {
        let text = format!("{} ? {} : {}", condition.operand(), first.text, second.text);
        return Ok(Value::loose(text, kind));
    }
    let name = scope.bind("chosen", kind);
    let ty = scope.cuda(kind);
    let indented = |lines: Vec<String>| lines.into_iter().map(|line| format!("    {line}"));
    scope.lines.push(format!("{ty} {name};"));
    scope.lines.push(format!("if ({}) {{", condition.text));
    scope.lines.extend(indented(first_lines));
    scope.lines.push(format!("    {name} = {};", first.text));
    scope.lines.push("} else {".to_owned());
    scope.lines.extend(indented(second_lines));
    scope.lines.push(format!("    {name} = {};", second.text));
    scope.lines.push("}".to_owned());
    Ok(Value::atom(name, kind))
}
