//! The functions and operators of nodes, by the names that Rust and the trait `Real` have for them.

/// Declares an enum of functions with their names.
macro_rules! functions {
    ($(#[$doc:meta])* $enum:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum $enum {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $enum {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name or the sign.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

functions! {
    /// A function or an operator of one operand.
    Unary {
        Neg = "-",
        /// Of a `bool`, or of the bits of an integer.
        Not = "!",
        Abs = "abs",
        Acos = "acos",
        Acosh = "acosh",
        Asin = "asin",
        Asinh = "asinh",
        Atan = "atan",
        Atanh = "atanh",
        Cbrt = "cbrt",
        Ceil = "ceil",
        Cos = "cos",
        Cosh = "cosh",
        Erf = "erf",
        Erfc = "erfc",
        Exp = "exp",
        Exp2 = "exp2",
        ExpM1 = "exp_m1",
        Floor = "floor",
        Fract = "fract",
        IsFinite = "is_finite",
        IsInfinite = "is_infinite",
        IsNan = "is_nan",
        IsNormal = "is_normal",
        IsSignNegative = "is_sign_negative",
        IsSignPositive = "is_sign_positive",
        Ln = "ln",
        Ln1p = "ln_1p",
        Log10 = "log10",
        Log2 = "log2",
        Recip = "recip",
        Round = "round",
        RoundTiesEven = "round_ties_even",
        Signum = "signum",
        Sin = "sin",
        Sinh = "sinh",
        Sqrt = "sqrt",
        Tan = "tan",
        Tanh = "tanh",
        ToDegrees = "to_degrees",
        ToRadians = "to_radians",
        Trunc = "trunc",
    }
}

functions! {
    /// A function or an operator of two operands.
    Binary {
        Add = "+",
        Sub = "-",
        Mul = "*",
        Div = "/",
        Rem = "%",
        And = "&&",
        Or = "||",
        BitAnd = "&",
        BitOr = "|",
        BitXor = "^",
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        LessEqual = "<=",
        Greater = ">",
        GreaterEqual = ">=",
        Atan2 = "atan2",
        Copysign = "copysign",
        Hypot = "hypot",
        Log = "log",
        /// The larger; NaN if either is NaN.
        Maximum = "maximum",
        /// The smaller; NaN if either is NaN.
        Minimum = "minimum",
        /// The larger; the other one if one is NaN.
        MaxNumber = "max",
        /// The smaller; the other one if one is NaN.
        MinNumber = "min",
        /// The sum of integers, which wraps around.
        Plus = "plus",
        Powf = "powf",
    }
}

functions! {
    /// A function of three operands.
    Ternary {
        Clamp = "clamp",
        MulAdd = "mul_add",
    }
}

impl Unary {
    /// Whether the result is a `bool`, of an operand of any type.
    pub fn is_predicate(self) -> bool {
        matches!(
            self,
            Self::IsFinite
                | Self::IsInfinite
                | Self::IsNan
                | Self::IsNormal
                | Self::IsSignNegative
                | Self::IsSignPositive
        )
    }
}

impl Binary {
    /// Whether it compares.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual
        )
    }
}
