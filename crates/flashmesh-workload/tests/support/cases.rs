//! Numbers of cases that random tests draw.

/// Value of `PROPTEST_CASES` with which each test draws its full number of cases; the default of proptest.
const CASES_DEFAULT: u32 = 256;

/// Returns the number of random cases of a test, at least one: `whole` times `PROPTEST_CASES` / 256.
pub fn cases(whole: u32) -> u32 {
    let Ok(text) = std::env::var("PROPTEST_CASES") else { return whole };
    share(whole, text.parse().unwrap_or_else(|_| panic!("PROPTEST_CASES is not a number: {text}")))
}

fn share(whole: u32, of_default: u32) -> u32 {
    let cases = (u64::from(whole) * u64::from(of_default)).div_ceil(u64::from(CASES_DEFAULT));
    u32::try_from(cases).expect("PROPTEST_CASES is too large").max(1)
}

#[test]
fn every_random_test_draws_the_same_share_of_its_cases() {
    assert_eq!([1, 40, 256, 512].map(|of_default| share(2_000, of_default)), [8, 313, 2_000, 4_000]);
    assert_eq!((share(48, 0), share(1, 40)), (1, 1));
}
