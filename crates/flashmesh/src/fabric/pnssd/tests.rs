use super::*;
use crate::config::{Controllers, FabricKind};
use crate::units::Rate;

/// Returns a pnSSD of three rows of three chips with one die each, at 1 GB/s (1 byte per ns). Links 0 to 2 are the rows, links 3 to 5 the
/// columns; chip 4 is in the middle.
fn pnssd(controllers: Controllers, split_page: bool) -> Pnssd {
    let mut config = Config::default();
    config.geometry.channels = 3;
    config.geometry.chips_per_channel = 3;
    config.fabric.kind = FabricKind::Pnssd;
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
    config.pnssd = config::Pnssd { controllers, split_page };
    config.gc.r#move = config::PageMove::ChipToChip;
    Pnssd::new(&config, &Geometry::new(&config.geometry).expect("the geometry is valid"))
}

/// Requests a path for outgoing data of `die` at `now` (ns). Returns the new grants, each with its cause.
fn ask(fabric: &mut Pnssd, die: u32, now: u64) -> Vec<(Grant, Cause)> {
    let mut outbox = Outbox::default();
    fabric.acquire(DieId(die), TransferPhase::DataOut, Time::from_ns(now), &mut outbox);
    outbox.grants.iter().map(|granted| (granted.grant, granted.cause)).collect()
}

fn release(fabric: &mut Pnssd, grant: Grant, now: u64) -> Vec<(Grant, Cause)> {
    let mut outbox = Outbox::default();
    fabric.release(grant, Time::from_ns(now), &mut outbox);
    outbox.grants.iter().map(|granted| (granted.grant, granted.cause)).collect()
}

fn grant(die: u32, link: u32) -> Grant {
    Grant { die: DieId(die), phase: TransferPhase::DataOut, path: PathId(link) }
}

fn page(bytes: u64) -> Payload {
    Payload { kind: TransferKind::Data, planes: 1, command_time: Time::ZERO, bytes: Bytes::new(bytes) }
}

#[test]
fn the_horizontal_channel_goes_first_then_the_vertical_one_then_whichever_is_free_first() {
    let mut fabric = pnssd(Controllers::Independent, false);
    assert_eq!(ask(&mut fabric, 4, 0), [(grant(4, 1), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 3, 0), [(grant(3, 3), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 5, 0), [(grant(5, 5), Cause::Channel)]);
    // Chip 4 holds row 1 (link 1), so chips 3 and 5 use their columns (links 3 and 5). Chips 2 and 8 are in the column of chip 5, but their rows are
    // free.
    assert_eq!(ask(&mut fabric, 2, 0), [(grant(2, 0), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 8, 0), [(grant(8, 2), Cause::Channel)]);
    // Chip 0 waits for its row or column (links 0 and 3), chip 6 for links 2 and 3.
    assert_eq!(ask(&mut fabric, 0, 1), []);
    assert_eq!(ask(&mut fabric, 6, 2), []);
    assert_eq!(release(&mut fabric, grant(8, 2), 3), [(grant(6, 2), Cause::Channel)]);
    assert_eq!(release(&mut fabric, grant(3, 3), 4), [(grant(0, 3), Cause::Channel)]);
    // A grant removes the request from both queues, so links 0 and 2 stay free.
    assert_eq!(release(&mut fabric, grant(2, 0), 5), []);
    assert_eq!(release(&mut fabric, grant(6, 2), 6), []);
    let held: Vec<_> = fabric.held_links().iter().map(|(link, die)| (link.0, die.0)).collect();
    assert_eq!(held, [(1, 4), (3, 0), (5, 5)]);
}

#[test]
fn a_shared_controller_serves_one_of_its_channels_at_a_time() {
    let mut fabric = pnssd(Controllers::Shared, false);
    // The row of chip 3 (link 1) is held by chip 4. Its column (link 3) is free, but shares controller 0 with link 0, which chip 1 holds.
    assert_eq!(ask(&mut fabric, 1, 0), [(grant(1, 0), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 4, 0), [(grant(4, 1), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 3, 0), []);
    assert_eq!(release(&mut fabric, grant(1, 0), 1), [(grant(3, 3), Cause::Controller)]);
    // Chip 4 is on the diagonal: both its channels belong to controller 1, which is busy with link 1.
    assert_eq!(ask(&mut fabric, 4, 2), []);
    assert_eq!(release(&mut fabric, grant(4, 1), 3), [(grant(4, 1), Cause::Controller)]);
    assert_eq!(release(&mut fabric, grant(3, 3), 4), []);
    assert_eq!(fabric.held_links(), [(LinkId(1), DieId(4))]);
}

#[test]
fn a_channel_that_is_taken_is_in_the_way_whatever_its_controller_does() {
    let mut fabric = pnssd(Controllers::Independent, false);
    assert_eq!(ask(&mut fabric, 0, 0), [(grant(0, 0), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 0, 0), [(grant(0, 3), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 0, 0), []);
    assert_eq!(release(&mut fabric, grant(0, 3), 1), [(grant(0, 3), Cause::Channel)]);
}

#[test]
fn a_page_is_split_over_two_channels_only_when_both_are_free() {
    let mut outbox = Outbox::default();
    let mut fabric = pnssd(Controllers::Independent, true);
    let now = Time::ZERO;
    ask(&mut fabric, 4, 0);
    let sent = fabric.send(grant(4, 1), page(4097), now, &mut outbox);
    assert_eq!(sent, SendOutcome { arrival: Some(Time::from_ns(2049 + 12)), min_duration: Time::from_ns(2049 + 12) });
    assert_eq!(fabric.held_links(), [(LinkId(1), DieId(4)), (LinkId(4), DieId(4))]);
    let carried: Vec<u64> = fabric.usage().iter().map(|link| link.bytes_out.as_u64()).collect();
    assert_eq!((carried, fabric.hops()), (vec![0, 2049, 0, 0, 2048, 0], 2));
    // Chip 4 holds the row of chip 3, so the whole page goes over the column (link 3). Header and CRC add 12 bytes.
    assert_eq!(ask(&mut fabric, 3, 0), [(grant(3, 3), Cause::Channel)]);
    let sent = fabric.send(grant(3, 3), page(4096), now, &mut outbox);
    assert_eq!(sent, SendOutcome { arrival: Some(Time::from_ns(4096 + 12)), min_duration: Time::from_ns(2048 + 12) });
    // The row of chip 7 is held by chip 6, and its column (link 4) by chip 4, for half of a split page. When chip 4 releases the column, chip 7 is
    // granted it.
    assert_eq!(ask(&mut fabric, 6, 0), [(grant(6, 2), Cause::Channel)]);
    assert_eq!(ask(&mut fabric, 7, 0), []);
    assert_eq!(release(&mut fabric, grant(4, 1), 2061), [(grant(7, 4), Cause::Channel)]);
    let held: Vec<u32> = fabric.held_links().iter().map(|(link, _)| link.0).collect();
    assert_eq!(held, [2, 3, 4]);
}

#[test]
fn a_command_without_data_is_never_split() {
    let mut fabric = pnssd(Controllers::Independent, true);
    ask(&mut fabric, 4, 0);
    let command = Payload { kind: TransferKind::Erase, bytes: Bytes::ZERO, ..page(0) };
    let sent = fabric.send(grant(4, 1), command, Time::ZERO, &mut Outbox::default());
    assert_eq!(sent, SendOutcome { arrival: Some(Time::from_ns(8)), min_duration: Time::from_ns(8) });
    assert_eq!(fabric.held_links(), [(LinkId(1), DieId(4))]);
}

#[test]
fn a_page_for_another_chip_takes_the_vertical_channel_and_no_controller() {
    for &controllers in Controllers::ALL {
        let mut fabric = pnssd(controllers, true);
        assert!(fabric.supports_chip_to_chip(DieId(4), DieId(1)) && !fabric.supports_chip_to_chip(DieId(4), DieId(5)));
        assert!(!fabric.supports_chip_to_chip(DieId(4), DieId(4)));
        let mut outbox = Outbox::default();
        let copy = Grant { phase: TransferPhase::Copy, ..grant(4, 4) };
        fabric.acquire_chip_to_chip(DieId(4), DieId(1), Time::ZERO, &mut outbox);
        assert_eq!(outbox.grants.pop().map(|granted| granted.grant), Some(copy));
        let sent =
            fabric.send(copy, Payload { kind: TransferKind::ChipToChipData, ..page(4096) }, Time::ZERO, &mut outbox);
        assert_eq!(sent.arrival, Some(Time::from_ns(4096 + 12)));
        assert_eq!(fabric.usage()[4].bytes_across, Bytes::new(4096));
        assert_eq!(fabric.controller_busy_times(Time::ZERO).iter().copied().max(), Some(Time::ZERO));
        // The copy holds the column (link 4) but no controller. Chip 4 can still use its row (link 1); a second transfer of chip 4 and a copy of chip
        // 7 wait for the column.
        assert_eq!(ask(&mut fabric, 4, 1), [(grant(4, 1), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 4, 1), [], "{controllers}");
        fabric.acquire_chip_to_chip(DieId(7), DieId(1), Time::from_ns(2), &mut outbox);
        assert!(outbox.grants.is_empty());
        // The column is released. Chip 4 has the oldest request, but a shared controller is busy with its row, and the copy of chip 7, which needs no
        // controller, is granted instead.
        let served = release(&mut fabric, copy, 4108);
        match controllers {
            Controllers::Independent => assert_eq!(served, [(grant(4, 4), Cause::Channel)]),
            Controllers::Shared => assert_eq!(served[0].0, Grant { die: DieId(7), ..copy }),
        }
    }
}
