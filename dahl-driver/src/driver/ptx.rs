//! [`only`]: extracts from a PTX text what one kernel needs.
//!
//! A file's PTX has its kernels for all element types: many times what a program uses. A driver compiles all that it
//! loads.

/// How the definition of a kernel begins, as CUDA's compilers write PTX. It ends with the brace that closes its body.
const BEGINS: &str = ".visible .entry ";

/// The text without the kernels that are not called `entry`, ending in zero; nothing if there is none of that name.
pub(super) fn only(text: &str, entry: &str) -> Option<Vec<u8>> {
    let mut kept = String::new();
    let (mut is_other, mut is_there) = (false, false);
    let mut depth = 0_usize;
    for line in text.split_inclusive('\n') {
        if let Some(definition) = line.strip_prefix(BEGINS).filter(|_| depth == 0) {
            is_other = definition.split('(').next().map(str::trim) != Some(entry);
            is_there |= !is_other;
        }
        if !is_other {
            kept += line;
        }
        let closes = line.contains('}');
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        is_other &= !(closes && depth == 0);
    }
    kept.push('\0');
    is_there.then(|| kept.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::only;

    const PTX: &str = ".version 9.0\n.shared .b8 of_warps[32];\n
.visible .entry sum_f16(
\t.param .u64 sum_f16_param_0
)
{
\tret;
}
.func helper()
{
}
.visible .entry with_asm(
)
{
{
 .reg .pred p;
}
\tret;
}
.visible .entry sum_f32(
\t.param .u64 sum_f32_param_0
)
{
\tret;
}";

    #[test]
    fn other_kernels_are_left_out_and_all_else_is_kept() {
        let of = |entry| only(PTX, entry).map(|ptx| String::from_utf8(ptx).expect("text"));
        let head = ".version 9.0\n.shared .b8 of_warps[32];\n\n";
        let helper = ".func helper()\n{\n}\n";
        let kernel =
            |name| format!(".visible .entry {name}(\n\t.param .u64 {name}_param_0\n)\n{{\n\tret;\n}}");
        assert_eq!(of("sum_f16"), Some(format!("{head}{}\n{helper}\0", kernel("sum_f16"))));
        assert_eq!(of("sum_f32"), Some(format!("{head}{helper}{}\0", kernel("sum_f32"))));
        assert_eq!(of("sum"), None);
    }
}
