use super::*;
use throng_c::Options;

fn read(text: &str) -> Result<Vec<String>, Vec<String>> {
    let loaded = throng_c::read(Source::new("test.c", text), text.into(), &Options::default());
    let Ok(loaded) = loaded else { panic!("this is C") };
    let variables = Variables::of(&loaded.query.program).expect("it has variables");
    match offered(&loaded.query.source, &variables) {
        Ok(list) => Ok(list.iter().map(|p| p.text(&variables)).collect()),
        Err(list) => Err(list
            .iter()
            .map(|d| {
                let at = d.span.map(|s| loaded.query.source.position(s.start as usize));
                format!("{at:?} {}", d.message)
            })
            .collect()),
    }
}

const PROGRAM: &str = "unsigned x; int y, a[3]; struct { char c; } s;
int main(void) { int l = y; x = x + 1; a[1] = 2; s.c = 3; while (l < 9) { y = l; l = l + 1; } }
";

#[test]
fn comparisons_of_variables_are_read_as_c_computes_them() {
    let good = |text: &str| read(&format!("{PROGRAM}//@ predicate {text}\n")).expect("it is one");
    assert_eq!(good("x <= 3"), ["x <= 3"]);
    assert_eq!(good("  y >= x - 1 "), ["(x + 4294967295) <= (uint32)y"]);
    assert_eq!(good("l != y"), ["l != y"]);
    assert_eq!(good("a[1] == 2*-y"), ["a[1] == (2 * (0 - y))"]);
    assert_eq!(good("s.c < 0x10u"), ["(uint32)s.c < 16"]);
    assert_eq!(read(PROGRAM), Ok(Vec::new()));
    assert_eq!(read(&format!("{PROGRAM}//@ assert nothing;\n//@ predicates\n")), Ok(Vec::new()));
    assert_eq!(read(&format!("{PROGRAM}int z; //@ predicate y == 7\r\n")), Ok(vec!["y == 7".into()]));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let wrong =
        |text: &str| read(&format!("{PROGRAM}//@ predicate{text}\n")).expect_err("it is wrong").remove(0);
    assert_eq!(wrong(" x <= zz"), "Some((3, 20)) `zz` is not a variable of this program");
    assert!(
        wrong(" x + 1").starts_with("Some((3, 20)) a predicate is a comparison")
            || wrong(" x + 1").contains("comparison")
    );
    assert!(wrong(" x < 1 && y < 1").starts_with("Some((3, 21)) a predicate is one comparison"));
    assert!(wrong(" 1 < 2").contains("this is not a predicate"));
    assert!(wrong(" x / y == 1").contains("this is not a predicate"));
    assert!(wrong("").contains("expected a variable or a number"));
    assert!(wrong(" x <").contains("expected a variable or a number"));
    assert!(wrong(" x < 99999999999999999999").contains("not a number of at most 64 bits"));
    assert!(wrong(" a[i] < 1").contains("`a[i]` is not a variable"));
    assert!(wrong(" \u{e9} < 1").contains("expected a variable or a number"));
    assert!(wrong(&format!(" {}1 < x", "-".repeat(100_000))).contains("too many signs"));
}
