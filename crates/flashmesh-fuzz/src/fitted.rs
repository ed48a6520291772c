//! Fuzz target of fitted profiles: texts of valid profiles with changed characters.

use std::path::Path;
use std::sync::LazyLock;

use flashmesh::units::{Bytes, Time};
use flashmesh::workload::fitted::{FittedProfile, FittedSource, fit_requests};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};

use crate::choices::FuzzInput;

/// Checks that any text is a profile or an error, that writing a profile and reading it back preserves it, and that its
/// requests lie within its address span.
pub fn profile(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    // Fitting is slower than reading a profile, so most runs start from a text fitted once.
    let mut text = match choices.one_in(FITTED_ONE_IN) {
        true => fitted_text(&mut choices),
        false => FITTED[choices.below(FITTED.len())].clone(),
    };
    while !choices.is_used_up() {
        let at = choices.number() as usize % text.len();
        text[at] = choices.pick(b"0123456789,[]=\"# \nab-");
    }
    check(&String::from_utf8(text).expect("a profile is ASCII"));
}

const FITTED_ONE_IN: usize = 16;

static FITTED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let bytes =
        |first: u8| (0..60_u8).map(move |place| first.wrapping_mul(31).wrapping_add(place.wrapping_mul(first | 1)));
    (0..64).map(|first| fitted_text(&mut FuzzInput::new(&bytes(first).collect::<Vec<u8>>()))).collect()
});

fn fitted_text(choices: &mut FuzzInput<'_>) -> Vec<u8> {
    let requests: Vec<IoRequest> = (0..20_u64)
        .map(|index| IoRequest {
            arrival: Time::from_ps(index * 1_000_000),
            kind: choices.pick(&[RequestKind::Read, RequestKind::Write, RequestKind::Deallocate]),
            offset: Bytes::new(u64::from(choices.byte()) * 4096),
            size: Bytes::new(512 * (1 + u64::from(choices.byte()))),
            stream: 0,
        })
        .collect();
    fit_requests(&requests).to_toml().into_bytes()
}

fn check(text: &str) {
    match FittedProfile::from_toml(text, Path::new("fuzzed.toml")) {
        Ok(model) => {
            let again = FittedProfile::from_toml(&model.to_toml(), Path::new("written.toml"));
            assert_eq!(again.expect("a written profile can be read"), model);
            let capacity = Bytes::new(model.address_span);
            let mut source = FittedSource::new(&model, Some(100), capacity, Bytes::new(512), false, 1)
                .expect("a drive as large as the address span suffices");
            let mut last = Time::ZERO;
            while let Ok(Some(request)) = source.next_request(0) {
                assert!(request.arrival >= last, "arrivals run back");
                assert!(request.offset + request.size <= capacity && request.size > Bytes::ZERO, "{request:?}");
                last = request.arrival;
            }
        }
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a word"),
    }
}
