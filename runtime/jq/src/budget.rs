//! How much stack and memory a run may take, and the functions that hold it to that.

use std::cell::Cell;

use jaq_core::{
    DataT, Exn, Native,
    box_iter::box_once,
    native::{Fun, bome, v},
};
use jaq_json::{Error, Val};

/// Looks how much stack is left.
pub(crate) const DEEP: &str = "!deep";
/// Refuses a value that has grown too large.
pub(crate) const MADE: &str = "!made";
/// Counts a value that becomes part of another.
pub(crate) const KEPT: &str = "!kept";
/// Refuses a value whose text would be too large.
pub(crate) const TEXT: &str = "!text";
/// Multiplication.
pub(crate) const TIMES: &str = "!times";
/// JSON of a value, as the library has it.
pub(crate) const TOJSON: &str = "tojson";

/// What the code between two looks at the stack may need, in bytes.
const SPARE_STACK: usize = 4 * 1024 * 1024;
/// Size of one value, in bytes.
const LARGEST: usize = 256 * 1024 * 1024;
/// Size of all values that are kept in others, in bytes, whether they live or not.
const MOST_KEPT: usize = 2 * 1024 * 1024 * 1024;
/// What a value takes in a list, in bytes.
const SLOT: usize = 16;
/// How deep values may nest while a filter works with them, and how long a path may be. What comes out nests far less, and taking down a value recurs.
const DEEPEST: usize = 10_000;
/// After how many lists and objects that become part of another the depth is looked at. A prime, so that no cycle of the
/// filter hides from it.
const LOOK_EVERY: usize = 4_099;
/// How much of a value is looked at for its depth.
const MOST_VISITED: usize = 1_000_000;
/// As deep as values nest that JSON readers take, and some more.
const MOST_WRITTEN_LEVELS: usize = 512;
/// What a member of an object takes besides the text of its name, in bytes.
const MEMBER: usize = 64;

thread_local! {
    /// Address near which the stack ends, with some room.
    static STACK_END: Cell<usize> = const { Cell::new(0) };
    static KEPT_LEFT: Cell<usize> = const { Cell::new(MOST_KEPT) };
    static TO_LOOK: Cell<usize> = const { Cell::new(LOOK_EVERY) };
}

/// Begins a run on this thread, which has a stack of so many bytes.
pub(crate) fn begin(stack_bytes: usize) {
    STACK_END.set(here().saturating_sub(stack_bytes.saturating_sub(SPARE_STACK.min(stack_bytes / 2))));
    KEPT_LEFT.set(MOST_KEPT);
    TO_LOOK.set(LOOK_EVERY);
}

/// An address on the stack, which grows downwards on every platform that servers are built for.
#[inline(never)]
fn here() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&marker)) as usize
}

fn deep() -> Result<(), Error> {
    match here() > STACK_END.get() {
        true => Ok(()),
        false => {
            Err(Error::str("it recurs too deep: a definition calls itself without an end, or for too many values"))
        }
    }
}

fn made(value: Val) -> Result<Val, Error> {
    let size = match &value {
        Val::TStr(bytes) | Val::BStr(bytes) => bytes.len(),
        Val::Arr(items) => items.len().saturating_mul(SLOT),
        Val::Obj(members) => members.len().saturating_mul(MEMBER),
        _ => 0,
    };
    if size > LARGEST { Err(too_large()) } else { Ok(value) }
}

fn too_large() -> Error {
    Error::str(format_args!("it makes a value of more than {LARGEST} bytes"))
}

fn kept(value: Val) -> Result<Val, Error> {
    take(match &value {
        Val::TStr(bytes) | Val::BStr(bytes) => SLOT.saturating_add(bytes.len()),
        Val::Arr(_) | Val::Obj(_) => MEMBER,
        _ => SLOT,
    })?;
    if is_container(&value) && is_time_to_look() && nests_too_deep(&value) {
        return Err(too_deep());
    }
    Ok(value)
}

fn too_deep() -> Error {
    Error::str(format_args!("it makes a value that nests deeper than {DEEPEST} levels"))
}

/// Takes so many bytes off what may be kept.
fn take(size: usize) -> Result<(), Error> {
    let left = KEPT_LEFT.get().checked_sub(size);
    KEPT_LEFT.set(left.unwrap_or(0));
    match left {
        Some(_) => Ok(()),
        None => Err(Error::str(format_args!("it keeps values of more than {MOST_KEPT} bytes"))),
    }
}

fn is_container(value: &Val) -> bool {
    matches!(value, Val::Arr(_) | Val::Obj(_))
}

fn is_time_to_look() -> bool {
    let left = TO_LOOK.get().saturating_sub(1);
    TO_LOOK.set(if left == 0 { LOOK_EVERY } else { left });
    left == 0
}

/// What a number, or the brackets and commas of a list, take on average.
const A_FEW_SIGNS: usize = 8;

/// Looks without recursion, and no further than is worth it: parts that are shared are seen once a place.
fn nests_too_deep(value: &Val) -> bool {
    let mut left = vec![(value, 0)];
    for _ in 0..MOST_VISITED {
        let Some((value, depth)) = left.pop() else { return false };
        if depth > DEEPEST {
            return true;
        }
        match value {
            Val::Arr(items) => left.extend(items.iter().filter(|it| is_container(it)).map(|it| (it, depth + 1))),
            Val::Obj(members) => {
                left.extend(members.values().filter(|it| is_container(it)).map(|it| (it, depth + 1)));
            }
            _ => {}
        }
    }
    false
}

/// What a text of it would take is measured where it is shared or deep, since writing it out cannot be stopped.
fn text(value: Val) -> Result<Val, Error> {
    let mut left = LARGEST;
    match measure(&value, &mut left, MOST_WRITTEN_LEVELS) {
        Some(()) => Ok(value),
        None if left == 0 => Err(too_large()),
        None => Err(Error::str("a value nests too deep to be written as a text")),
    }
}

/// Takes the size of a value as JSON off `left`, numbers by a guess; `None` where that, or the depth, is too much.
fn measure(value: &Val, left: &mut usize, depth: usize) -> Option<()> {
    let deeper = depth.checked_sub(1)?;
    let size = match value {
        Val::TStr(bytes) | Val::BStr(bytes) => bytes.len(),
        _ => A_FEW_SIGNS,
    };
    let Some(rest) = left.checked_sub(size) else {
        *left = 0;
        return None;
    };
    *left = rest;
    match value {
        Val::Arr(items) => items.iter().try_for_each(|item| measure(item, left, deeper)),
        Val::Obj(members) => members.iter().try_for_each(|(name, member)| {
            measure(name, left, deeper)?;
            measure(member, left, deeper)
        }),
        _ => Some(()),
    }
}

fn times(left: Val, right: Val) -> Result<Val, Error> {
    let length = |value: &Val| match value {
        Val::TStr(bytes) | Val::BStr(bytes) => Some(bytes.len()),
        _ => None,
    };
    let (texts, numbers) = if length(&left).is_some() { (&left, &right) } else { (&right, &left) };
    if let (Some(length), Val::Num(_)) = (length(texts), numbers) {
        // A number beyond the largest is no number of times either.
        let count = numbers.to_string().parse::<f64>().unwrap_or(f64::INFINITY);
        if count * length as f64 > LARGEST as f64 {
            return Err(too_large());
        }
    }
    left * right
}

/// The functions that `guard` puts into a filter, and the one of the library that stands in for another.
pub(crate) fn functions<D: for<'a> DataT<V<'a> = Val>>() -> Vec<Fun<D>> {
    let stack = Native::new(|cv| bome(deep().map(|()| cv.1)))
        .with_paths(|cv| {
            let is_long = is_time_to_look() && cv.1.1.iter().nth(DEEPEST).is_some();
            match if is_long { Err(too_deep()) } else { deep() } {
                Ok(()) => box_once(Ok(cv.1)),
                Err(error) => box_once(Err(Exn::from(error))),
            }
        })
        .with_update(|cv, update| match deep() {
            Ok(()) => update(cv.1),
            Err(error) => box_once(Err(Exn::from(error))),
        });
    vec![
        (DEEP, v(0), stack),
        (MADE, v(0), Native::new(|cv| bome(made(cv.1)))),
        (KEPT, v(0), Native::new(|cv| bome(kept(cv.1)))),
        (TEXT, v(0), Native::new(|cv| bome(text(cv.1)))),
        (TOJSON, v(0), Native::new(|cv| bome(text(cv.1).map(|value| Val::utf8_str(value.to_string()))))),
        (
            TIMES,
            v(2),
            Native::new(|mut cv| {
                let right = cv.0.pop_var();
                let left = cv.0.pop_var();
                bome(times(left, right))
            }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Filter, Limits, RunError, STACK_BYTES};

    /// What a filter makes of `input`, with the stack that calls give it.
    fn run(filter: &'static str, input: Value) -> Result<Value, RunError> {
        let limits = Limits { outputs: 100, bytes: 100_000, stack_bytes: STACK_BYTES };
        let run = move || Filter::compile(filter).unwrap().apply(&input, limits);
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap()
    }

    #[track_caller]
    fn refused(filter: &'static str, reason: &str) {
        let error = run(filter, Value::Null).unwrap_err().to_string();
        assert!(error.contains(reason), "{filter}: {error}");
    }

    #[test]
    fn recursion_without_end_fails_the_run() {
        for filter in ["def f: 1 + f; f", "def f: [f]; f", "def g(x): x + 1; def f: g(f); f"] {
            refused(filter, "recurs");
        }
    }

    #[test]
    fn closures_without_end_fail_the_run() {
        refused("def f(g): f(g | g) | g; f(.)", "recurs");
    }

    #[test]
    fn paths_without_end_fail_the_run() {
        refused("def f: .a | f; path(f)", "nests deeper than 10000 levels");
    }

    #[test]
    fn updates_without_end_fail_the_run() {
        refused("def f: (. | f), .; f |= 1", "recurs");
    }

    #[test]
    fn recursion_that_depends_on_a_number_fails_for_a_large_one_alone() {
        const DOWN: &str = "def f: if . > 0 then (. - 1 | f) + 1 else 0 end; .n | f";
        assert_eq!(run(DOWN, json!({"n": 1_000})), Ok(json!(1_000)));
        let error = run(DOWN, json!({"n": 1_000_000_000})).unwrap_err().to_string();
        assert!(error.contains("it recurs too deep"), "{error}");
    }

    #[test]
    fn a_call_at_the_end_needs_no_stack() {
        assert_eq!(run("def f: if . < 300000 then . + 1 | f else . end; 0 | f", Value::Null), Ok(json!(300_000)));
        assert_eq!(run("last(range(300000))", Value::Null), Ok(json!(299_999)));
    }

    #[test]
    fn a_path_of_very_many_steps_fails_the_run() {
        refused("(reduce range(1000000) as $i (.; .)) |= 1", "recurs");
    }

    #[test]
    fn a_text_cannot_be_repeated_without_end() {
        for filter in ["\"x\" * 1000000000000", "1e300 * \"x\"", "\"x\" | . *= 99999999999999999999"] {
            refused(filter, "more than 268435456 bytes");
        }
        assert_eq!(
            run("\"ab\" * 3, 3 * \"x\", 2 * 3, {a: 1} * {b: 2}", Value::Null),
            Ok(json!(["ababab", "xxx", 6, {"a": 1, "b": 2}]))
        );
        assert_eq!(run(".a *= 2 | .a += 1", json!({"a": 4})), Ok(json!({"a": 9})));
    }

    #[test]
    fn what_doubles_is_refused_when_it_is_too_large() {
        for filter in [
            "reduce range(60) as $i (\"x\"; . + .) | 1",
            "reduce range(60) as $i (\"x\"; \"\\(.)\\(.)\") | 1",
            "reduce range(60) as $i ([1]; . + .) | 1",
            "reduce range(60) as $i ([1]; . += .) | 1",
            "reduce range(60) as $i (1; [., .]) | tojson | 1",
            "reduce range(60) as $i (1; [., .]) | \"\\(.)\" | 1",
        ] {
            refused(filter, "more than 268435456 bytes");
        }
    }

    #[test]
    fn a_list_cannot_grow_without_end() {
        refused("[repeat(\"x\" * 1000000)] | 1", "more than 2147483648 bytes");
        refused("[range(1000) | {a: (\"x\" * 10000000)}] | 1", "more than 2147483648 bytes");
    }

    #[test]
    fn a_value_can_be_nested_only_so_deep() {
        refused("reduce range(100000000) as $i (0; [.]) | 1", "nests deeper than 10000 levels");
        refused("reduce range(100000000) as $i (0; {a: [., $i]}) | 1", "nests deeper than 10000 levels");
    }

    #[test]
    fn a_message_does_not_write_out_what_it_is_about() {
        refused("reduce range(60) as $i (1; [., .]) | .a", "cannot index");
    }

    #[test]
    fn checks_change_no_result() {
        let input = json!({"items": [{"id": 2, "tags": ["a", "b"]}, {"id": 1, "tags": []}], "text": "x"});
        for (filter, expected) in [
            (".items | map(.id) | sort", json!([1, 2])),
            ("[paths] | length", json!(10)),
            (".items[].tags |= length | [.items[].tags]", json!([2, 0])),
            ("[limit(3; repeat(.text))]", json!(["x", "x", "x"])),
            ("{a: .text, (.text): 2, text}", json!({"a": "x", "x": 2, "text": "x"})),
            (".items as [{id: $first}] | $first", json!(2)),
            ("\"\\(.text)-\\([1])\" | ascii_upcase", json!("X-[1]")),
            ("@json \"v=\\(.text)\"", json!("v=\"x\"")),
            ("[foreach range(3) as $i (0; . + $i; [., $i])]", json!([[0, 0], [1, 1], [3, 2]])),
            (
                "def walk_it(f): if type == \"array\" then map(walk_it(f)) else f end; [1, [2]] | walk_it(. + 1)",
                json!([2, [3]]),
            ),
            ("[1, 2] | tojson", json!("[1,2]")),
        ] {
            assert_eq!(run(filter, input.clone()), Ok(expected), "{filter}");
        }
    }
}
